/* sound.h: the sound of an environment. */
#ifndef VCS_HOST_SOUND_H
#define VCS_HOST_SOUND_H

#include "diffvcs/diffvcs.h"

/* Called at the end of an act, with or without frames: computes its samples if sound is on. */
void vcs_env_listen(vcs_env_t *env);

#endif
