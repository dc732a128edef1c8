/* rom_use.h: what a run does with each byte of the image: an instruction's byte, a byte of a table, or nothing. */
#ifndef VCS_STUDY_ROM_USE_H
#define VCS_STUDY_ROM_USE_H

#include <stdbool.h>

#include "diffvcs/grad.h"

typedef enum { VCS_ROM_UNUSED, VCS_ROM_DATA, VCS_ROM_OPERAND, VCS_ROM_OPCODE } vcs_rom_kind_t;

/* The first use of the byte; code counts more than data. */
typedef struct {
  uint8_t kind;     /* vcs_rom_kind_t */
  bool read;        /* as data, whatever else it is */
  uint16_t address; /* of the byte, as the CPU saw it */
  uint16_t pc;      /* of the instruction that it is part of, or that reads it */
  char text[24];    /* its disassembly */
} vcs_rom_use_t;

/* Runs and fills uses[size of the image]. */
vcs_status_t vcs_rom_uses(const vcs_run_t *run, vcs_rom_use_t *uses, vcs_error_t *error);

/* "0:F12A": bank (of 4 KiB) and address of a byte. */
void vcs_rom_address(const vcs_rom_use_t *use, uint32_t offset, char *text, size_t size);

/* "LDA #$05", "read by F3A2 LDA $FE00,X", "not used". */
void vcs_rom_describe(const vcs_rom_use_t *use, char *text, size_t size);

#endif
