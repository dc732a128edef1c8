/* symbols.h: names of addresses: those of the chips, and a program's own from the symbol file that DASM writes (-s).
 *
 * The TIA has different registers for reading and writing at the same addresses, so a name is asked for with what is
 * done there. Addresses have mirrors; vcs_address_plain gives the one everybody writes: TIA 00 to 3F, RAM 80 to FF,
 * RIOT 280 to 297, cartridge F000 to FFFF.
 */
#ifndef VCS_STUDY_SYMBOLS_H
#define VCS_STUDY_SYMBOLS_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

typedef struct {
  char name[40];
  uint16_t address;
} vcs_symbol_t;

typedef struct { /* of a program; starts as {0} */
  vcs_symbol_t *symbols;
  size_t count;
} vcs_symbols_t;

/* Adds those of a DASM symbol file: lines of a name and a hexadecimal value. */
vcs_status_t vcs_symbols_read(vcs_symbols_t *symbols, const char *path, vcs_error_t *error);
void vcs_symbols_free(vcs_symbols_t *symbols);

uint16_t vcs_address_plain(uint16_t address, bool writing);

/* The name of an address, the chips' before the program's, or NULL; and the address of a name in any case, the other
 * way round, or -1. */
const char *vcs_symbol_name(const vcs_symbols_t *symbols, uint16_t address, bool writing);
int32_t vcs_symbol_address(const vcs_symbols_t *symbols, const char *name, size_t length);

/* The disassembly of vcs_disassemble with names instead of addresses; returns the instruction's length. */
int vcs_disassemble_named(const vcs_symbols_t *symbols, const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text,
                          size_t size);

#endif
