/* sound.h: what an environment lets hear. */
#ifndef VCS_HOST_SOUND_H
#define VCS_HOST_SOUND_H

#include "diffvcs/diffvcs.h"

/* The end of an act, whether or not a frame was run in it: makes its samples if anybody listens. */
void vcs_env_listen(vcs_env_t *env);

#endif
