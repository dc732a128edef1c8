/* symbols.c: names of addresses, and disassembly with names (study.h).
 *
 * Names are those of the chips' registers, and a program's own from the symbol file that DASM writes (-s). The TIA has
 * different registers for reading and writing at the same addresses, so a name depends on the access.
 */
#include "study/symbols.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/cpu_ops.h"
#include "host/files.h"

enum { SYMBOL_FILE_MAX = 1 << 24 };

/* ---- The chips ---------------------------------------------------------------------------------------------- */

static const char *const tia_writes[] = {"VSYNC",  "VBLANK", "WSYNC",  "RSYNC", "NUSIZ0", "NUSIZ1", "COLUP0", "COLUP1",
                                         "COLUPF", "COLUBK", "CTRLPF", "REFP0", "REFP1",  "PF0",    "PF1",    "PF2",
                                         "RESP0",  "RESP1",  "RESM0",  "RESM1", "RESBL",  "AUDC0",  "AUDC1",  "AUDF0",
                                         "AUDF1",  "AUDV0",  "AUDV1",  "GRP0",  "GRP1",   "ENAM0",  "ENAM1",  "ENABL",
                                         "HMP0",   "HMP1",   "HMM0",   "HMM1",  "HMBL",   "VDELP0", "VDELP1", "VDELBL",
                                         "RESMP0", "RESMP1", "HMOVE",  "HMCLR", "CXCLR"};
static const char *const tia_reads[] = {"CXM0P",  "CXM1P", "CXP0FB", "CXP1FB", "CXM0FB", "CXM1FB", "CXBLPF",
                                        "CXPPMM", "INPT0", "INPT1",  "INPT2",  "INPT3",  "INPT4",  "INPT5"};
static const vcs_symbol_t riot[] = {{"SWCHA", 0x280},  {"SWACNT", 0x281}, {"SWCHB", 0x282}, {"SWBCNT", 0x283},
                                    {"INTIM", 0x284},  {"INSTAT", 0x285}, {"TIM1T", 0x294}, {"TIM8T", 0x295},
                                    {"TIM64T", 0x296}, {"T1024T", 0x297}};
enum {
  TIA_WRITES = sizeof tia_writes / sizeof *tia_writes,
  TIA_READS = sizeof tia_reads / sizeof *tia_reads,
  RIOT = sizeof riot / sizeof *riot
};

/* The register that an address of the RIOT's ports and timer selects (core/riot.h): three lines choose it, and for
 * writes to the timer one more, beside which the third is ignored. */
static uint16_t riot_plain(uint16_t address, int writing) {
  if (!(address & 4)) return 0x280 | (address & 3);
  if (!writing) return 0x284 | (address & 1);
  return address & 0x10 ? 0x294 | (address & 3) : 0x284 | (address & 3);
}

uint16_t vcs_address_plain(uint16_t address, int writing) {
  if (address & 0x1000) return address | 0xF000;
  if (!(address & 0x80)) return address & (writing ? 0x3F : 0x0F);
  return address & 0x200 ? riot_plain(address, writing) : 0x80 | (address & 0x7F);
}

static const char *chip_name(uint16_t address, bool writing) {
  if (address < 0x80 && writing) return address < TIA_WRITES ? tia_writes[address] : NULL;
  if (address < 0x80) return address < TIA_READS ? tia_reads[address] : NULL;
  for (int i = 0; i < RIOT; i++) {
    if (riot[i].address == address) return riot[i].name;
  }
  return NULL;
}

static bool is_name(const char *name, const char *text, size_t length) {
  return strlen(name) == length && strncasecmp(name, text, length) == 0;
}

/* ---- The program -------------------------------------------------------------------------------------------- */

/* Reads a line of DASM, "COUNTER  0080  (R )". False: another line, such as a heading. */
static bool read_line(const char *line, vcs_symbol_t *symbol) {
  char name[sizeof symbol->name], value[16], *end;
  if (sscanf(line, "%39s %15s", name, value) != 2 || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  const unsigned long address = strtoul(value, &end, 16);
  if (*end || address > 0xFFFF) return false;
  memcpy(symbol->name, name, sizeof name);
  symbol->address = (uint16_t)address;
  return true;
}

vcs_status_t vcs_symbols_read(vcs_symbols_t *symbols, const char *path, vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  const vcs_status_t status = vcs_file_read(path, SYMBOL_FILE_MAX, &data, &size, error);
  if (status) return status;
  size_t lines = 1, before = symbols->count;
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n' || data[i] == '\r'; /* where strtok_r splits */
  vcs_symbol_t *grown = realloc(symbols->symbols, (before + lines) * sizeof *grown);
  if (grown) {
    symbols->symbols = grown;
    char *rest = (char *)data;
    for (char *line = strtok_r(rest, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
      symbols->count += read_line(line, &grown[symbols->count]);
    }
  }
  free(data);
  if (!grown) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the symbols of %s", path);
  if (symbols->count > before) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_FILE, "%s has no line of a name and a hexadecimal value, as dasm -s writes them",
                        path);
}

void vcs_symbols_free(vcs_symbols_t *symbols) {
  free(symbols->symbols);
  *symbols = (vcs_symbols_t){0};
}

const char *vcs_symbol_name(const vcs_symbols_t *symbols, uint16_t address, int writing) {
  const uint16_t plain = vcs_address_plain(address, writing);
  /* The chips' own names first below $80: programs use the same names, and small values are often constants. */
  const char *chip = chip_name(plain, writing);
  if (chip) return chip;
  for (size_t i = 0; symbols && i < symbols->count && plain >= 0x80; i++) {
    if (vcs_address_plain(symbols->symbols[i].address, writing) == plain && symbols->symbols[i].address >= 0x80) {
      return symbols->symbols[i].name;
    }
  }
  return NULL;
}

int32_t vcs_symbol_address(const vcs_symbols_t *symbols, const char *name, size_t length) {
  for (size_t i = 0; symbols && i < symbols->count; i++) {
    if (is_name(symbols->symbols[i].name, name, length)) return symbols->symbols[i].address;
  }
  for (int i = 0; i < TIA_WRITES; i++) {
    if (is_name(tia_writes[i], name, length)) return i;
  }
  for (int i = 0; i < TIA_READS; i++) {
    if (is_name(tia_reads[i], name, length)) return i;
  }
  for (int i = 0; i < RIOT; i++) {
    if (is_name(riot[i].name, name, length)) return riot[i].address;
  }
  return -1;
}

/* ---- Disassembly -------------------------------------------------------------------------------------------- */

int vcs_disassemble_named(const vcs_symbols_t *symbols, const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text,
                          size_t size) {
  char plain[32];
  const int length = vcs_disassemble(cart, m, pc, plain, sizeof plain);
  const vcs_opcode_t op = vcs_opcode(vcs_peek(cart, m, pc));
  const char *dollar = strchr(plain, '$');
  const char *name = NULL;
  char *end = NULL;
  if (dollar && op.mode != VCS_MODE_IMM) {
    const bool writing = op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY;
    name = vcs_symbol_name(symbols, (uint16_t)strtoul(dollar + 1, &end, 16), writing);
  }
  if (name)
    snprintf(text, size, "%.*s%s%s", (int)(dollar - plain), plain, name, end);
  else
    snprintf(text, size, "%s", plain);
  return length;
}

void vcs_disassemble_list(const vcs_cart_t *cart, const vcs_t *m, const vcs_symbols_t *symbols, uint16_t address,
                          vcs_disassembly_t *rows, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    vcs_disassembly_t *row = &rows[i];
    const char *label = address & 0x1000 ? vcs_symbol_name(symbols, address, 0) : NULL;
    *row = (vcs_disassembly_t){.address = address};
    row->length = (uint8_t)vcs_disassemble_named(symbols, cart, m, address, row->text, sizeof row->text);
    for (int j = 0; j < row->length && j < 3; j++) row->bytes[j] = vcs_peek(cart, m, (uint16_t)(address + j));
    if (label) snprintf(row->label, sizeof row->label, "%s", label);
    address = (uint16_t)(address + row->length);
  }
}
