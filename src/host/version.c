/* version.c: the version of this library, for callers that were compiled with the header of another one. */
#include "diffvcs/diffvcs.h"

const char *vcs_version(void) { return VCS_VERSION; }
