/* symbols.h: disassembly with names, one instruction at a time (study.h has the names). */
#ifndef VCS_STUDY_SYMBOLS_H
#define VCS_STUDY_SYMBOLS_H

#include <stdbool.h>

#include "diffvcs/study.h"

/* Disassembles like vcs_disassemble, with names instead of addresses; returns the instruction's length. */
int vcs_disassemble_named(const vcs_symbols_t *symbols, const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text,
                          size_t size);

#endif
