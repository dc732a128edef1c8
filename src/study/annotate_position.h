/* annotate_position.h: which bytes seem to be positions, by the votes of all states. */
#ifndef VCS_STUDY_ANNOTATE_POSITION_H
#define VCS_STUDY_ANNOTATE_POSITION_H

#include "study/annotate_probe.h"

/* A role with nothing known about it. */
vcs_role_t vcs_new_role(int role);

/* k of n states agree: a cautious estimate of the part that will. */
float vcs_sureness(int k, int n);

/* The kind of object that was counted most often, or -1. */
int vcs_commonest_kind(const int kinds[VCS_OBJECT_COUNT]);

/* Counts the votes for a byte as a position along an axis. The role's confidence stays 0 if there are too few. */
void vcs_judge_position(const vcs_survey_t *w, int byte, int vertical, vcs_role_t *role);

/* Fills the role's map: the place of the object for every value, in the state with the most votes. */
void vcs_sweep_position(const vcs_survey_t *w, int byte, int vertical, vcs_bench_t *b, vcs_role_t *role);

/* Probes byte `item` in more moments if the states of the survey do not decide; a task of vcs_parallel. */
bool vcs_probe_more(void *survey, size_t item, int worker);

/* Numbers the objects of each kind: bytes that move the same one get the same number. */
void vcs_number_objects(const vcs_survey_t *w, vcs_annotation_t *a);

#endif
