/* symbols.c: symbol files of DASM, plain and gzipped, and the names that they give to addresses. */
#include "core/state.h"
#include "diffvcs/study.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vcs_symbols_t symbols = {0};
  vcs_error_t error = {""};
  vcs_disassembly_t rows[8];
  for (int i = 0; i < 2; i++) { /* the second time they are added to those of the first */
    const size_t before = symbols.count;
    if (!accepted(vcs_symbols_read(&symbols, scratch_file(data, size), &error), &error)) break;
    check(symbols.count > before);
  }
  for (size_t i = 0; i < symbols.count; i++) {
    const vcs_symbol_t *symbol = &symbols.symbols[i];
    check(memchr(symbol->name, 0, sizeof symbol->name));
    check(vcs_symbol_address(&symbols, symbol->name, strlen(symbol->name)) >= 0);
    vcs_symbol_name(&symbols, symbol->address, 0);
    vcs_symbol_name(&symbols, symbol->address, 1);
  }
  char *word = malloc(size + 1); /* names that are perhaps those of the chips */
  check(word);
  if (size) memcpy(word, data, size);
  word[size] = 0;
  vcs_symbol_address(NULL, word, strcspn(word, " \n"));
  free(word);
  const uint16_t address = size > 1 ? (uint16_t)(data[0] << 8 | data[1]) : 0xF000;
  vcs_disassemble_list(demo_cart(), vcs_env_machine(demo_env()), &symbols, address, rows, 8);
  vcs_symbols_free(&symbols);
  return 0;
}
