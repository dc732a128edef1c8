/* planted.c: a library that leaves a file in the current folder when it is loaded (test_current_folder.sh). */
#include <stdio.h>

__attribute__((constructor)) static void leave(void) {
  FILE *file = fopen("LIBRARY_RAN", "wb");
  if (file) fclose(file);
}
