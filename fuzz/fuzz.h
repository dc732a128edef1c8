/* fuzz.h: what the fuzzing harnesses share.
 *
 * A harness is one file with LLVMFuzzerTestOneInput, which passes any bytes to a parser and uses the result if the
 * parser accepts them. It must not crash, leak, or loop for ever, and it checks what must hold (`check`). clang links
 * it with libFuzzer (fuzz.sh); every compiler can link it with replay.c instead, which runs the kept inputs and simple
 * changes of them.
 *
 * corpus/NAME has inputs that reach every part of a parser, NAME.dict the words that it knows. A file whose checksum
 * would be wrong after any change is read without it, and the harness computes the checksum. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diffvcs/diffvcs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true. */
#define check(true_statement)                                                             \
  do {                                                                                    \
    if (!(true_statement)) {                                                              \
      fprintf(stderr, "%s:%d: this is false: %s\n", __FILE__, __LINE__, #true_statement); \
      abort();                                                                            \
    }                                                                                     \
  } while (0)

/* A refusal comes with a sentence, and success with none. */
static inline bool accepted(vcs_status_t status, const vcs_error_t *error) {
  check(memchr(error->message, 0, sizeof error->message));
  check(status == VCS_OK || error->message[0]);
  return status == VCS_OK;
}

/* Numbers from the front of the input; zeros after its end. */
typedef struct {
  const uint8_t *data;
  size_t size;
} input_t;

static inline uint64_t take(input_t *input, int bytes) {
  uint64_t number = 0;
  while (bytes-- > 0 && input->size) number = number << 8 | *input->data, input->data++, input->size--;
  return number;
}

/* The rest of the input as a string, in memory of exactly its size; free() it. */
static inline char *take_text(input_t *input) {
  char *text = malloc(input->size + 1);
  check(text);
  if (input->size) memcpy(text, input->data, input->size);
  text[input->size] = 0;
  return text;
}

/* Our own cartridge, and an environment that has booted it. */
static inline const vcs_cart_t *demo_cart(void) {
  static vcs_cart_t *cart;
  if (!cart) {
    size_t size;
    const uint8_t *image = vcs_demo_image(&size);
    check(vcs_cart_load(image, size, NULL, &cart, NULL) == VCS_OK);
  }
  return cart;
}

static inline vcs_env_t *demo_env(void) {
  static vcs_env_t *env;
  if (!env) {
    check(vcs_env_create(demo_cart(), &env, NULL) == VCS_OK);
    vcs_env_reset(env);
  }
  return env;
}

static char scratch_path[64];
static void remove_scratch(void) { remove(scratch_path); }

/* Writes the input to a file of this process, for parsers that read files, and returns its path. */
static inline const char *scratch_file(const void *data, size_t size) {
  if (!scratch_path[0]) {
    snprintf(scratch_path, sizeof scratch_path, "%s/fuzz-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getpid());
    atexit(remove_scratch);
  }
  FILE *file = fopen(scratch_path, "wb");
  check(file);
  if (size) check(fwrite(data, 1, size, file) == size);
  check(fclose(file) == 0);
  return scratch_path;
}

#endif
