/* annotate_text.h: how a role is named, for JSON and pages. */
#ifndef VCS_STUDY_ANNOTATE_TEXT_H
#define VCS_STUDY_ANNOTATE_TEXT_H

#include "diffvcs/annotate.h"

/* "player 0", "player 0 #2", "background", or "" */
void vcs_role_object(const vcs_role_t *role, char *text, size_t size);

/* "left,right", or "" */
void vcs_role_controls(const vcs_role_t *role, char *text, size_t size);

#endif
