/* asleep.h: frames on a TIA that sleeps (core/tia_asleep.h). */
#ifndef VCS_HOST_ASLEEP_H
#define VCS_HOST_ASLEEP_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vcs_rows vcs_rows_t;
typedef struct vcs_recorder vcs_recorder_t;
typedef struct vcs_row_log vcs_row_log_t;

/* vcs_frame, for whole frames, with a recorder that has been started to list the objects of the picture, or with a log
 * of its rows that has been started (row_log.h), or with neither (NULL).
 * Returns false, and leaves m as it was, if the frame is only a part of one, or stops in a picture that is drawn, or
 * probably would; what it has painted by then is painted again by a TIA that draws. */
bool vcs_asleep_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder, vcs_row_log_t *log);

/* Makes rows (core/rows.h) that have been started record their objects (record_rows.c). */
void vcs_record_rows(vcs_rows_t *rows, vcs_recorder_t *recorder, vcs_row_log_t *log);

#ifdef __cplusplus
}
#endif

#endif
