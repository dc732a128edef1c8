/* score_table.c: the table that `diffvcs score` fills (score_table.h). */
#include "cli/score_table.h"

#include <stdlib.h>
#include <string.h>

static const char *const views[VCS_VIEWS] = {"screen", "ram"};

enum { TABLE_LIMIT = 64 << 20 };

vcs_status_t vcs_score_read(const char *path, const char *made, vcs_text_t *table, vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  vcs_status_t status = vcs_file_read(path, TABLE_LIMIT, &data, &size, error);
  if (status) return status;
  const char *text = (const char *)data, *line = strchr(text, '\n');
  const size_t start = strlen(vcs_score_title);
  if (strncmp(text, vcs_score_title, start) != 0 || !line ||
      strncmp(line + 1, vcs_score_columns, strlen(vcs_score_columns)) != 0) {
    status = vcs_error_fill(error, VCS_BAD_FILE, "%.150s is no table of diffvcs score", path);
  } else if (made && (strncmp(text + start, made, strlen(made)) != 0 || text[start + strlen(made)] != '\n')) {
    status = vcs_error_fill(error, VCS_BAD_FILE, "%.60s was made with other settings (%.*s); --fresh begins a new one",
                            path, (int)(line - text - (long)start), text + start);
  } else {
    vcs_text_append(table, data, size);
    if (text[size - 1] != '\n') vcs_text_append(table, "\n", 1); /* an editor may have taken it away */
  }
  free(data);
  return status;
}

bool vcs_score_has(const vcs_text_t *table, const char *game, const char *method) {
  char start[VCS_ROM_NAME_SIZE + 32];
  snprintf(start, sizeof start, "\n%.*s\t%.20s\t", VCS_ROM_NAME_SIZE - 1, game, method);
  return table->text && strstr(table->text, start);
}

/* Appends the lines of `rows` whose game and method the table did not have when it was read. */
static void add_rows(vcs_text_t *table, const vcs_text_t *rows) {
  vcs_text_t old = {0};
  vcs_text_append(&old, table->text, table->length);
  for (const char *line = rows->text; line && *line;) {
    const size_t length = strcspn(line, "\n") + 1, game = strcspn(line, "\t"), method = strcspn(line + game + 1, "\t");
    char names[2][VCS_ROM_NAME_SIZE];
    snprintf(names[0], sizeof names[0], "%.*s", (int)game, line);
    snprintf(names[1], sizeof names[1], "%.*s", (int)method, line + game + 1);
    if (!vcs_score_has(&old, names[0], names[1])) vcs_text_append(table, line, length);
    line += length;
  }
  table->failed |= old.failed;
  vcs_text_free(&old);
}

static vcs_status_t merge_locked(const char *path, const char *made, const vcs_text_t *rows, vcs_text_t *table,
                                 vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  vcs_status_t status = vcs_file_read(path, TABLE_LIMIT, &data, &size, error);
  if (status) return status;
  free(data);
  if (size) status = vcs_score_read(path, made, table, error);
  if (status) return status;
  if (!size) vcs_score_begin(table, made);
  add_rows(table, rows);
  return size && !rows->length ? VCS_OK : vcs_file_write_text(path, table, error);
}

vcs_status_t vcs_score_merge(const char *path, const char *made, const vcs_text_t *rows, vcs_text_t *table,
                             vcs_error_t *error) {
  int lock;
  vcs_status_t status = vcs_file_lock(path, &lock, error);
  if (status) return status;
  table->length = 0;
  status = merge_locked(path, made, rows, table, error);
  vcs_file_unlock(lock);
  return status;
}

/* ---- The summary -------------------------------------------------------------------------------------------- */

enum { FIRST_VALUE = 7, VALUES = 5, FIELDS = 18, CELLS_MAX = 1024 };

/* A source, a horizon and a method: sums of the values and how many there are, by view, and of the costs. */
typedef struct {
  char source[24], method[24];
  double frames;
  int horizon, costs; /* how many costs `frames` is the sum of */
  double sum[VCS_VIEWS][VALUES];
  int count[VCS_VIEWS][VALUES], games;
} cell_t;

static cell_t *cell_of(cell_t cells[CELLS_MAX], int *count, const char *source, const char *method, int horizon) {
  for (int i = 0; i < *count; i++) {
    if (cells[i].horizon == horizon && strcmp(cells[i].method, method) == 0 && strcmp(cells[i].source, source) == 0) {
      return &cells[i];
    }
  }
  if (*count == CELLS_MAX) return NULL;
  cell_t *cell = &cells[(*count)++];
  *cell = (cell_t){.horizon = horizon};
  snprintf(cell->method, sizeof cell->method, "%s", method);
  snprintf(cell->source, sizeof cell->source, "%s", source);
  return cell;
}

/* Cuts a line into its fields; returns how many. */
static int split(char *line, char *fields[FIELDS]) {
  int count = 0;
  for (char *at = line; at && count < FIELDS; count++) {
    fields[count] = at;
    at = strchr(at, '\t');
    if (at) *at++ = 0;
  }
  return count;
}

static void add_row(cell_t cells[CELLS_MAX], int *count, char *line) {
  char *fields[FIELDS];
  if (*line == '#' || split(line, fields) < FIELDS) return;
  cell_t *cell = cell_of(cells, count, fields[2], fields[1], atoi(fields[3]));
  const int view = strcmp(fields[4], views[VCS_VIEW_RAM]) == 0 ? VCS_VIEW_RAM : VCS_VIEW_SCREEN;
  if (!cell) return;
  if (view == VCS_VIEW_SCREEN) {
    const char *cost = fields[FIELDS - 1];
    cell->games++;
    if (*cost != '-') cell->costs++, cell->frames += strtod(cost, NULL);
  }
  for (int i = 0; i < VALUES; i++) {
    const char *value = fields[FIRST_VALUE + i];
    if (*value == '-' && !value[1]) continue;
    cell->sum[view][i] += strtod(value, NULL);
    cell->count[view][i]++;
  }
}

static int source_rank(const char *source) {
  static const char *const order[] = {"left/right", "up/down", "fire", "ram", "rom", "vjp", "region"};
  int rank = 0;
  while (rank < 7 && strcmp(order[rank], source) != 0) rank++;
  return rank;
}

static int by_source_and_horizon(const cell_t *a, const cell_t *b) {
  const int one = source_rank(a->source), other = source_rank(b->source);
  return one != other ? one - other : a->horizon - b->horizon;
}

void vcs_score_summary(const vcs_text_t *table, vcs_text_t *out) {
  static cell_t cells[CELLS_MAX]; /* too large for a stack */
  int count = 0;
  for (const char *line = table->text; line && *line;) {
    char copy[512];
    const size_t length = strcspn(line, "\n");
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : 0), line);
    add_row(cells, &count, copy);
    line += length + (line[length] == '\n');
  }
  /* Rows of a source and horizon stay in the order in which their methods came. */
  for (int i = 1; i < count; i++) {
    for (int j = i; j > 0 && by_source_and_horizon(&cells[j - 1], &cells[j]) > 0; j--) {
      const cell_t swapped = cells[j];
      cells[j] = cells[j - 1];
      cells[j - 1] = swapped;
    }
  }
  vcs_text_printf(out,
                  "| source | horizon | method | cost | screen: cosine | pooled | sign | precision | recall | RAM: "
                  "cosine | pooled | "
                  "sign | precision | recall | games |\n"
                  "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < count; i++) {
    vcs_text_printf(out, "| %s | %d | `%s` | ", cells[i].source, cells[i].horizon, cells[i].method);
    if (cells[i].costs) {
      vcs_text_printf(out, "%.3g", cells[i].frames / cells[i].costs);
    } else {
      vcs_text_printf(out, "-");
    }
    for (int v = 0; v < VCS_VIEWS * VALUES; v++) {
      const int n = cells[i].count[v / VALUES][v % VALUES];
      if (n) {
        vcs_text_printf(out, " | %.3f", cells[i].sum[v / VALUES][v % VALUES] / n);
      } else {
        vcs_text_printf(out, " | -");
      }
    }
    vcs_text_printf(out, " | %d |\n", cells[i].games);
  }
}
