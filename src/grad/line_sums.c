/* line_sums.c: the adjoints of all registers of a piece at once.
 *
 * In reverse mode over a whole picture, line.c would draw every piece again for each of a hundred register bits. That
 * is not necessary, because a pixel depends on an object only through whether the object covers it. So each object has,
 * at each pixel, a
 *
 *   level    the pixel's adjoint * (its scalar if the object is there - its scalar if it is not)
 *
 * and the adjoint of a register bit is a sum of levels: of the pixels that the object would have with the register's
 * bit set, less those that it would have without.
 *
 *   P0        ..##.#..          ..##.#..            GRP0: for each bit, the levels of the pixels that show it
 *                                                   position: those of the copies one pixel further, less these
 *   levels    .................................     NUSIZ: those of the copies that there would be, less these
 *
 * A level can be nonzero only where the object would be visible: where the colour behind it has a lower rank. Where no
 * other object is near, that is every pixel, and levels are adjoints times one number; otherwise they are computed for
 * the pixels that the object can reach, four at a time. The eight pixels of a copy are then a few vector operations. A
 * missile or the ball is a run of pixels, the playfield forty columns of four: most columns contain only playfield and
 * background, and are summed as a whole. The adjoint of a colour is the sum over the pixels that show it.
 *
 * Where NUSIZ would change a player and its missile at the same pixel, their levels do not add up: then the piece is
 * shown again. So are pieces with playfield priority and score together (where the reference looks at all objects to
 * colour one). test_line.c compares all of this with the picture drawn again.
 */
#include <string.h>

#include "line.h"

/* Columns of the playfield, and the first pixels of those in a word. */
enum { COLUMNS = VCS_WIDTH / 4, HALF = COLUMNS / 2 };
#define FIRST_OF_FOUR 0x1111111111111111ULL

typedef struct {
  vcs_sweep_t *s;
  vcs_piece_t *piece;
  const vcs_t *t;
  float shade[4];              /* the scalar of each colour */
  float *w;                    /* adjoints of the piece's pixels, 0 elsewhere */
  bool round;                  /* those of the line's beginning are behind its end, too */
  float field[COLUMNS];        /* the playfield's levels, summed by columns */
  float colour[4];             /* sums of the adjoints of what shows each colour */
  float rule[3];               /* the deltas of score (bit 1 of CTRLPF) and of priority (bit 2) */
  float level[VCS_LINE_ROUND]; /* levels of another object, where it needs any of its own */
} sums_t;

VCS_STATIC void add(const sums_t *q, size_t offset, int slot, float by) {
  if (by == 0) return;
  vcs_slots(q->s, offset)[slot] += by;
  q->s->live[offset] = 1;
}

/* ---- Levels -------------------------------------------------------------------------------------------------------
 */

/* Colours from the frontmost one to the background, without and with playfield priority. */
VCS_DATA uint8_t ranks[2][4] = {{VCS_COLUP0, VCS_COLUP1, VCS_COLUPF, VCS_COLUBK},
                                {VCS_COLUPF, VCS_COLUP0, VCS_COLUP1, VCS_COLUBK}};

/* The colours of the objects; that of the playfield is field_colour's. */
VCS_DATA uint8_t object_colour[VCS_PF] = {VCS_COLUP0, VCS_COLUP1, VCS_COLUP0, VCS_COLUP1, VCS_COLUPF};

/* Pixels of a word at which an object puts its colour in the place of another. */
typedef struct {
  uint64_t pixels;
  float by; /* its scalar less that of the other */
} change_t;
enum { CHANGES_MAX = 3 };

/* The changes among the pixels of `mask`: an object shows wherever what shows without it has a lower rank. */
VCS_STATIC int changes_by(const sums_t *q, int object, int colour, int word, uint64_t mask,
                          change_t changes[CHANGES_MAX]) {
  vcs_pixels_t *line = q->piece->base.line;
  uint64_t alone[4], *there = &line[object].word[word], is = *there;
  const uint64_t *without = q->piece->base.colour[word];
  if (is & mask) {
    *there = 0;
    vcs_line_colours(q->t, word, line, alone);
    *there = is;
    without = alone;
  }
  const uint8_t *rank = ranks[q->t->ctrlpf >> 2 & 1];
  int count = 0;
  for (int i = 3; rank[i] != colour; i--) {
    const uint64_t pixels = without[rank[i]] & mask;
    if (!pixels) continue;
    const float by = q->shade[colour] - q->shade[rank[i]];
    if (by == 0) continue;
    changes[count].pixels = pixels;
    changes[count++].by = by;
  }
  return count;
}

/* The bits of a nibble as numbers. */
VCS_DATA float nibbles[16][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0},
                                 {0, 1, 1, 0}, {1, 1, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1},
                                 {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};

/* Levels are `by` times what is at `at`. */
typedef struct {
  const float *at;
  float by;
} levels_t;

/* Pixels [from, to) of a word. */
VCS_STATIC uint64_t stretch_mask(int word, int from, int to) {
  from -= 64 * word;
  to -= 64 * word;
  if (from < 0) from = 0;
  if (to > 64) to = 64;
  return ~0ULL >> (64 - (to - from)) << from;
}

/* Adds the levels of pixels [from, to) of the line, `image` pixels further. */
VCS_STATIC void raise_levels(sums_t *q, int object, int from, int to, int image) {
  for (int word = from >> 6; 64 * word < to; word++) {
    const int first = from > 64 * word ? from & ~3 : 64 * word, end = to < 64 * word + 64 ? to : 64 * word + 64;
    change_t changes[CHANGES_MAX];
    const int count = changes_by(q, object, object_colour[object], word, ~0ULL, changes);
    for (int i = 0; i < count; i++) {
      const uint64_t pixels = changes[i].pixels;
      const float by = changes[i].by;
      for (int x = first; x < end; x += 4) {
        const float *picked = nibbles[pixels >> (x & 63) & 15], *w = q->w + x;
        float *level = q->level + image + x, sums[4];
        for (int k = 0; k < 4; k++) sums[k] = level[k] + w[k] * (by * picked[k]);
        memcpy(level, sums, sizeof sums);
      }
    }
  }
}

/* Whether any of `count` pixels from one before an object's position on, round the line, is in the piece. Most pieces
 * are short, and most objects elsewhere. */
VCS_STATIC bool is_near(const sums_t *q, int object, int count) {
  const int x0 = q->piece->x0, x1 = q->piece->x1, left = q->t->pos[object] - 1, right = left + count;
  return (left < x1 && right > x0) || right > x0 + VCS_WIDTH || (left < 0 && x1 == VCS_WIDTH);
}

/* The adjoints at the beginning of the line, once more behind its end. */
VCS_STATIC size_t round_bytes(const sums_t *q) {
  const int end = q->piece->x1 < VCS_LINE_ROUND - VCS_WIDTH ? q->piece->x1 : VCS_LINE_ROUND - VCS_WIDTH;
  return (size_t)(end - q->piece->x0) * sizeof *q->w;
}
VCS_STATIC void copy_round(sums_t *q) {
  const float *from = q->w + q->piece->x0;
  memcpy(q->w + q->piece->x0 + VCS_WIDTH, from, round_bytes(q));
  q->round = true;
}

/* Pixels an object may have: shapes that start some pixels from its position, round the line. */
typedef struct {
  uint64_t word[4];
} places_t;

VCS_STATIC void place(const sums_t *q, int object, int start, uint64_t shape, places_t *places) {
  int x = q->t->pos[object] + start;
  if (x < 0) x += VCS_WIDTH;
  if (x >= VCS_WIDTH) x -= VCS_WIDTH;
  vcs_place(places->word, shape, (unsigned)x);
}

/* The levels of an object from one pixel before its position on, round the line, where it may have pixels; outside the
 * piece they are 0. False: all of them are. Mostly there is nothing else where they are, so that levels are adjoints
 * times a number. */
VCS_STATIC bool levels_of(sums_t *q, int object, const places_t *places, int count, levels_t *levels) {
  const vcs_piece_t *piece = q->piece;
  const uint64_t wrapped = places->word[2] >> 32 | places->word[3] << 32;
  uint64_t any = 0, met = 0;
  for (int word = piece->first_word; word <= piece->last_word; word++) {
    const uint64_t may = (places->word[word] | (word ? 0 : wrapped)) & piece->mask[word];
    uint64_t others = 0;
    for (int i = 0; i < VCS_OBJECTS; i++) others |= i == object ? 0 : piece->base.line[i].word[word];
    any |= may;
    met |= may & others;
  }
  if (!any) return false;
  const int left = q->t->pos[object] ? q->t->pos[object] - 1 : VCS_WIDTH - 1, right = left + count;
  const int x0 = piece->x0, x1 = piece->x1;
  if (right > x0 + VCS_WIDTH && !q->round) copy_round(q);
  if (!met) {
    levels->at = q->w + left;
    levels->by = q->shade[object_colour[object]] - q->shade[VCS_COLUBK];
    return levels->by != 0;
  }
  const int first = left & ~3;
  memset(q->level + first, 0, (size_t)(right - first + 3) * sizeof *q->level);
  if (left < x1 && right > x0) raise_levels(q, object, left > x0 ? left : x0, right < x1 ? right : x1, 0);
  if (right > x0 + VCS_WIDTH) raise_levels(q, object, x0, right - VCS_WIDTH < x1 ? right - VCS_WIDTH : x1, VCS_WIDTH);
  levels->at = q->level + left;
  levels->by = 1;
  return true;
}

/* ---- Playfield and colours ----------------------------------------------------------------------------------------
 */

/* The slot of the bit behind each column, the first half's and the second's: 16 * register + bit. */
enum { PF0 = 0, PF1 = VCS_SLOTS, PF2 = 2 * VCS_SLOTS };
#define FORWARDS                                                                                                       \
  PF0 + 4, PF0 + 5, PF0 + 6, PF0 + 7, PF1 + 7, PF1 + 6, PF1 + 5, PF1 + 4, PF1 + 3, PF1 + 2, PF1 + 1, PF1 + 0, PF2 + 0, \
      PF2 + 1, PF2 + 2, PF2 + 3, PF2 + 4, PF2 + 5, PF2 + 6, PF2 + 7
#define BACKWARDS                                                                                                      \
  PF2 + 7, PF2 + 6, PF2 + 5, PF2 + 4, PF2 + 3, PF2 + 2, PF2 + 1, PF2 + 0, PF1 + 0, PF1 + 1, PF1 + 2, PF1 + 3, PF1 + 4, \
      PF1 + 5, PF1 + 6, PF1 + 7, PF0 + 7, PF0 + 6, PF0 + 5, PF0 + 4
VCS_DATA uint8_t column_slots[2][COLUMNS] = {{FORWARDS, FORWARDS}, {FORWARDS, BACKWARDS}};

/* The sum of the adjoints of some columns of a word; what the playfield's being there is worth, `by` times that, goes
 * to the columns' levels. */
VCS_STATIC float sum_columns(sums_t *q, int word, uint64_t columns, float by) {
  float sum = 0;
  for (columns &= FIRST_OF_FOUR; columns; columns &= columns - 1) {
    const int x = 64 * word + VCS_LOWEST_64(columns);
    const float four = (q->w[x] + q->w[x + 1]) + (q->w[x + 2] + q->w[x + 3]);
    q->field[x / 4] = by * four;
    sum += four;
  }
  return sum;
}

VCS_STATIC float sum_adjoints(const sums_t *q, int word, uint64_t mask) {
  float sum = 0;
  for (; mask; mask &= mask - 1) sum += q->w[64 * word + VCS_LOWEST_64(mask)];
  return sum;
}

/* The colour of the playfield in a half of the line where nothing else is, as vcs_line_colours has it. */
VCS_STATIC int field_colour(const vcs_t *t, unsigned ctrlpf, int half) {
  const bool front = ctrlpf & 4, score = ctrlpf & 2;
  if (!score || (front && vcs_objects_on(t) != 1u << VCS_PF)) return VCS_COLUPF;
  return half ? VCS_COLUP1 : VCS_COLUP0;
}

/* The pixels of a word in one half of the line. */
VCS_STATIC uint64_t half_mask(int word, int half) {
  const uint64_t right = vcs_from(VCS_WIDTH / 2, word);
  return half ? right : ~right;
}

/* Columns with nothing but playfield and background in them. */
VCS_STATIC void sum_clear_columns(sums_t *q, int word, uint64_t clear) {
  const uint64_t playfield = q->piece->base.line[VCS_PF].word[word];
  const vcs_t *t = q->t;
  for (int half = word > 1; half <= (word > 0); half++) {
    const uint64_t columns = clear & half_mask(word, half);
    const int colour = field_colour(t, t->ctrlpf, half);
    const float by = q->shade[colour] - q->shade[VCS_COLUBK];
    q->colour[VCS_COLUBK] += sum_columns(q, word, columns & ~playfield, by);
    if (!(columns & playfield)) continue;
    const float lit = sum_columns(q, word, columns & playfield, by);
    q->colour[colour] += lit;
    for (int bit = 1; bit <= 2; bit++) {
      const int other = field_colour(t, t->ctrlpf ^ 1u << bit, half);
      q->rule[bit] += vcs_sign(t->ctrlpf, bit) * lit * (q->shade[other] - q->shade[colour]);
    }
  }
}

/* The bits of CTRLPF that decide about score and priority where objects meet. */
VCS_STATIC void sum_rules(sums_t *q, vcs_t *t, int word, uint64_t mask) {
  const uint64_t *was = q->piece->base.colour[word];
  for (int bit = 1; bit <= 2; bit++) {
    uint64_t is[4];
    t->ctrlpf ^= (uint8_t)(1 << bit);
    vcs_line_colours(t, word, q->piece->base.line, is);
    t->ctrlpf ^= (uint8_t)(1 << bit);
    for (int from = 0; from < 4; from++) {
      uint64_t gone = was[from] & ~is[from] & mask;
      for (int to = 0; gone; to++) {
        const uint64_t change = gone & is[to];
        gone &= ~change;
        if (!change) continue;
        q->rule[bit] += vcs_sign(t->ctrlpf, bit) * sum_adjoints(q, word, change) * (q->shade[to] - q->shade[from]);
      }
    }
  }
}

/* Adds up the remaining columns, `busy`, pixel by pixel. */
VCS_STATIC void sum_busy_columns(sums_t *q, vcs_t *t, int word, uint64_t busy) {
  const vcs_pixels_t *line = q->piece->base.line;
  const uint64_t *colours = q->piece->base.colour[word];
  for (int c = 0; c < 4; c++) q->colour[c] += sum_adjoints(q, word, colours[c] & busy);
  for (uint64_t columns = busy & FIRST_OF_FOUR; columns; columns &= columns - 1) {
    q->field[16 * word + VCS_LOWEST_64(columns) / 4] = 0;
  }
  for (int half = word > 1; half <= (word > 0); half++) {
    change_t changes[CHANGES_MAX];
    const int colour = field_colour(t, t->ctrlpf, half);
    const int count = changes_by(q, VCS_PF, colour, word, busy & half_mask(word, half), changes);
    for (int i = 0; i < count; i++) {
      for (uint64_t pixels = changes[i].pixels; pixels; pixels &= pixels - 1) {
        const int x = 64 * word + VCS_LOWEST_64(pixels);
        q->field[x / 4] += changes[i].by * q->w[x];
      }
    }
  }
  if ((line[VCS_PF].word[word] | line[VCS_BL].word[word]) & busy) sum_rules(q, t, word, busy);
}

/* All columns that have pixels in the piece. */
VCS_STATIC void sum_all_columns(sums_t *q, vcs_t *t) {
  const vcs_pixels_t *line = q->piece->base.line;
  const int first = q->piece->x0 & ~3, end = (q->piece->x1 + 3) & ~3;
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    const uint64_t columns = stretch_mask(word, first, end);
    uint64_t busy = 0;
    for (int i = 0; i < VCS_PF; i++) busy |= line[i].word[word];
    busy |= busy >> 1;
    busy = ((busy | busy >> 2) & FIRST_OF_FOUR) * 15 & columns;
    sum_clear_columns(q, word, columns & ~busy);
    if (busy) sum_busy_columns(q, t, word, busy);
  }
}

VCS_STATIC void sum_playfield(sums_t *q, const vcs_t *t) {
  float *slots = vcs_slots(q->s, VCS_OFFSET(pf));
  const uint8_t *slot_of = column_slots[t->pf_mirrored != 0];
  const int first = q->piece->x0 / 4, end = (q->piece->x1 + 3) / 4;
  for (int i = first; i < end; i++) slots[slot_of[i]] += q->field[i];
  for (size_t i = 0; i < 3; i++) q->s->live[VCS_OFFSET(pf) + i] = 1;
  if (end <= HALF) return;
  /* The second half's bits as they are and mirrored, leftmost in bit 0. */
  const unsigned plain = t->pf[0] >> 4 | (unsigned)vcs_reverse(t->pf[1]) << 4 | (unsigned)t->pf[2] << 12;
  const unsigned mirrored = vcs_reverse(t->pf[2]) | (unsigned)t->pf[1] << 8 | (vcs_reverse(t->pf[0]) & 15u) << 16;
  float by = 0;
  for (unsigned differ = plain ^ mirrored; differ; differ &= differ - 1) {
    const int i = VCS_LOWEST(differ), column = HALF + i;
    if (column >= first && column < end) by += mirrored >> i & 1 ? q->field[column] : -q->field[column];
  }
  add(q, VCS_OFFSET(pf_mirrored), 0, by);
}

/* The change of a colour's scalar when its register moves as each slot says: a bit one way, the carry the other. */
VCS_STATIC void make_steps(vcs_line_kept_t *kept, const float *scale, int c, uint8_t index) {
  for (int k = 0; k < 8; k++) {
    const float up = scale[(uint8_t)(index + (1 << k))] - scale[index],
                down = scale[index] - scale[(uint8_t)(index - (1 << k))];
    const bool set = index >> k & 1;
    kept->steps[c][k] = set ? down : up;
    kept->steps[c][8 + k] = set ? up : down;
  }
  kept->index[c] = index;
  kept->known |= (uint8_t)(1 << c);
}

VCS_STATIC void sum_colours(sums_t *q) {
  vcs_line_kept_t *kept = &q->s->line;
  float black = 0;
  for (int c = 0; c < 4; c++) {
    const float adjoints = q->colour[c];
    if (adjoints == 0) continue;
    black += adjoints * (q->s->scale[0] - q->shade[c]);
    if (q->t->vblank & 2) continue;
    const uint8_t index = q->t->colu[c];
    if (!(kept->known >> c & 1) || kept->index[c] != index) make_steps(kept, q->s->scale, c, index);
    float *slots = vcs_slots(q->s, VCS_OFFSET(colu) + (size_t)c), sums[16];
    for (int k = 0; k < 16; k++) sums[k] = slots[k] + adjoints * kept->steps[c][k];
    for (int k = 0; k < 16; k++) slots[k] = sums[k];
    q->s->live[VCS_OFFSET(colu) + (size_t)c] = 1;
  }
  add(q, VCS_OFFSET(vblank), 1, black); /* F(1) - F(0), whichever it is now */
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

/* Copies are 0, 16, 32 or 64 pixels from an object's position. Where they may be, one pixel further each way, as pixels
 * from one before the position on: each of them, and the first three. */
enum { COPIES_REACH = 1 + 4 * 16 + 8 + 1 };
#define ANY_COPY 0x3FFULL
#define ANY_NEAR_COPY (ANY_COPY | ANY_COPY << 16 | ANY_COPY << 32)

VCS_STATIC places_t any_copies(const sums_t *q, int object, uint64_t near_shape) {
  places_t places = {{0, 0, 0, 0}};
  place(q, object, -1, near_shape, &places);
  place(q, object, 4 * 16 - 1, ANY_COPY, &places);
  return places;
}

/* How far an object gets from one pixel before its position on, if its copies are to stay as they are. */
VCS_STATIC int reach_of(uint8_t nusiz) { return vcs_has_copies(nusiz) ? COPIES_REACH : 1 + 1 + 8 * 4 + 1; }

/* The set of the copies that there are, by their distance in sixteens, if none is stretched. */
VCS_STATIC unsigned copies_of(unsigned nusiz, bool first_off) {
  const vcs_copies_t copies = vcs_copies(nusiz & 7);
  return (1u << copies.second | 1u << copies.third | 1u) & ~(first_off ? 1u : 0u);
}

VCS_STATIC float sum_set(const float *numbers, unsigned set) {
  float sum = 0;
  for (; set; set &= set - 1) sum += numbers[VCS_LOWEST(set)];
  return sum;
}

/* The way from a position to the next one, and to the one before it. */
VCS_STATIC float sum_move(const sums_t *q, float before, float here, float behind) {
  const vcs_sides_t sides = vcs_sides(q->s, 0);
  return sides.more * (behind - here) + sides.less * (before - here);
}

/* ---- Players ------------------------------------------------------------------------------------------------------
 */

/* Of eight numbers, those of the bits that are set. */
VCS_STATIC float sum_pattern(const float *numbers, unsigned pattern) {
  const float *low = nibbles[pattern & 15], *high = nibbles[pattern >> 4];
  float sums[4];
  for (int i = 0; i < 4; i++) sums[i] = numbers[i] * low[i] + numbers[4 + i] * high[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* A copy of a player that is stretched; it starts one pixel late. */
VCS_STATIC float sum_stretched(const float *at, unsigned pattern, int stretch) {
  float sum = 0;
  for (; pattern; pattern &= pattern - 1) {
    const float *levels = at + 1 + stretch * VCS_LOWEST(pattern);
    sum += levels[0] + levels[1];
    if (stretch == 4) sum += levels[2] + levels[3];
  }
  return sum;
}

/* A player near the piece: the levels of the pixels that show its bits, leftmost first, added up over its copies. */
typedef struct {
  int p;
  size_t side;     /* the same */
  uint8_t pattern; /* its bits in the order of pixels */
  const float *at; /* levels from its position on, ... */
  float by;        /* ... still to be multiplied by this, as are all levels below */
  float bits[8];
  float here, before, behind; /* those of the pattern; one pixel to the left; to the right */
} player_t;

VCS_STATIC uint8_t in_order(const vcs_t *t, int p, uint8_t grp) { return t->reflect[p] ? grp : vcs_reverse(grp); }

/* Its levels: wherever it might be with another NUSIZ, or one pixel further; or, without a pattern, where it is. */
VCS_STATIC bool player_levels(sums_t *q, const player_t *player, levels_t *levels) {
  const int object = VCS_P0 + player->p;
  const uint8_t nusiz = q->t->nusiz[player->p];
  places_t places = {{0, 0, 0, 0}};
  if (player->pattern) {
    const uint64_t stretched = (1ULL << (1 + 1 + 8 * 4 + 1)) - 1;
    const bool may_stretch = (nusiz & 7) != 0 && (nusiz & 7) != 2; /* all other values are one bit from 5 or 7 */
    places = any_copies(q, object, may_stretch ? ANY_NEAR_COPY | stretched : ANY_NEAR_COPY);
  } else {
    vcs_place_copies(places.word, vcs_player_shape(0xFF, nusiz), q->t->pos[object], nusiz,
                     q->t->first_copy_off[player->p]);
  }
  return levels_of(q, object, &places, COPIES_REACH, levels);
}

VCS_STATIC void sum_copies(unsigned copies, player_t *player) {
  enum { WINDOW = 1 + 8 + 1 };
  float window[WINDOW] = {0};
  for (; copies; copies &= copies - 1) {
    const float *levels = player->at + 16 * VCS_LOWEST(copies) - 1;
    for (int i = 0; i < WINDOW; i++) window[i] += levels[i];
  }
  memcpy(player->bits, window + 1, sizeof player->bits);
  player->before = sum_pattern(window, player->pattern);
  player->behind = sum_pattern(window + 2, player->pattern);
}

/* What shows of its graphics, and which way round. */
VCS_STATIC void sum_graphics(const sums_t *q, const vcs_t *t, const player_t *player) {
  const int p = player->p;
  const size_t grp = (t->vdelp[p] ? VCS_OFFSET(grp_old) : VCS_OFFSET(grp)) + player->side;
  const float *bits = player->bits, by = player->by;
  float *slots = vcs_slots(q->s, grp);
  for (int i = 0; i < 8; i++) slots[i] += by * bits[t->reflect[p] ? i : 7 - i];
  q->s->live[grp] = 1;
  if (t->grp[p] != t->grp_old[p]) {
    const float there = sum_pattern(bits, in_order(t, p, t->vdelp[p] ? t->grp[p] : t->grp_old[p])) - player->here;
    add(q, VCS_OFFSET(vdelp) + player->side, 0, t->vdelp[p] ? -by * there : by * there);
  }
  if (player->pattern != vcs_reverse(player->pattern)) {
    const float there = sum_pattern(bits, vcs_reverse(player->pattern)) - player->here;
    add(q, VCS_OFFSET(reflect) + player->side, 3, t->reflect[p] ? -by * there : by * there);
  }
}

/* Where it is, and its copies. */
VCS_STATIC void sum_placement(const sums_t *q, const vcs_t *t, const player_t *player, bool nusiz_too) {
  const uint8_t nusiz = t->nusiz[player->p], pattern = player->pattern;
  const bool first_off = t->first_copy_off[player->p];
  const int stretch = vcs_copies(nusiz & 7).stretch;
  const float *at = player->at, by = player->by;
  float copy[5]; /* what one at each distance would sum to */
  for (int i = 0; i < 5; i++) copy[i] = sum_pattern(at + 16 * i, pattern);
  const float first = stretch == 1 ? copy[0] : sum_stretched(at, pattern, stretch);
  add(q, VCS_OFFSET(first_copy_off) + player->side, 0, -by * first);
  add(q, VCS_OFFSET(pos) + player->side, 0, by * sum_move(q, player->before, player->here, player->behind));
  for (int bit = 0; nusiz_too && bit < 3; bit++) {
    const unsigned other = nusiz ^ 1u << bit;
    const int other_stretch = vcs_copies(other & 7).stretch;
    float there = 0;
    if (other_stretch == 1) {
      there = sum_set(copy, copies_of(other, first_off));
    } else if (!first_off) {
      there = sum_stretched(at, pattern, other_stretch);
    }
    add(q, VCS_OFFSET(nusiz) + player->side, bit, by * vcs_sign(nusiz, bit) * (there - player->here));
  }
}

VCS_STATIC void sum_player(sums_t *q, const vcs_t *t, int p, bool nusiz_too) {
  const uint8_t pattern = vcs_player_bits(t, p);
  if (!is_near(q, VCS_P0 + p, pattern ? COPIES_REACH : reach_of(t->nusiz[p]))) return;
  const bool first_off = t->first_copy_off[p];
  const int stretch = vcs_copies(t->nusiz[p] & 7).stretch;
  player_t player;
  levels_t levels;
  player.p = p;
  player.side = (size_t)p;
  player.pattern = pattern;
  if (!player_levels(q, &player, &levels)) return;
  player.at = levels.at + 1;
  player.by = levels.by;
  if (stretch == 1 || first_off) {
    sum_copies(copies_of(t->nusiz[p], first_off), &player);
  } else {
    for (int i = 0; i < 8; i++) player.bits[i] = sum_stretched(player.at, 1u << i, stretch);
    player.before = sum_stretched(player.at - 1, player.pattern, stretch);
    player.behind = sum_stretched(player.at + 1, player.pattern, stretch);
  }
  player.here = sum_pattern(player.bits, player.pattern);
  sum_graphics(q, t, &player);
  if (player.pattern) sum_placement(q, t, &player, nusiz_too);
}

/* ---- Missiles and the ball ----------------------------------------------------------------------------------------
 */

VCS_STATIC float sum_run(const float *at, int width) {
  float sum = 0;
  for (int i = 0; i < width; i++) sum += at[i];
  return sum;
}

/* A missile's width in pixels; those of a star field are wider, or off. */
VCS_STATIC int missile_width(vcs_t *t, int p, uint8_t nusiz) {
  const uint8_t is = t->nusiz[p];
  t->nusiz[p] = nusiz;
  const uint64_t shape = vcs_missile_shape(t, p);
  t->nusiz[p] = is;
  return VCS_LOWEST_64(shape + 1);
}

/* The levels of the pixels that an object would light if it were on. */
VCS_STATIC float sum_shape(sums_t *q, int object, const uint64_t shape[3]) {
  float sum = 0;
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    change_t changes[CHANGES_MAX];
    const uint64_t mask = shape[word] & q->piece->mask[word];
    const int count = mask ? changes_by(q, object, object_colour[object], word, mask, changes) : 0;
    for (int i = 0; i < count; i++) sum += changes[i].by * sum_adjoints(q, word, changes[i].pixels);
  }
  return sum;
}

VCS_STATIC void sum_missile_off(sums_t *q, const vcs_t *t, int p) {
  if (!is_near(q, VCS_M0 + p, reach_of(t->nusiz[p]))) return;
  const size_t side = (size_t)p;
  uint64_t k[4] = {0, 0, 0, 0};
  vcs_place_copies(k, vcs_missile_shape(t, p), t->pos[VCS_M0 + p], t->nusiz[p], 0);
  k[0] |= k[2] >> 32;
  const float there = sum_shape(q, VCS_M0 + p, k);
  if (!t->resmp[p]) add(q, VCS_OFFSET(enam) + side, 1, there);
  if (t->enam[p]) add(q, VCS_OFFSET(resmp) + side, 1, -there);
}

VCS_STATIC void sum_missile_on(sums_t *q, vcs_t *t, int p, bool nusiz_too) {
  if (!is_near(q, VCS_M0 + p, COPIES_REACH)) return;
  const size_t side = (size_t)p;
  const uint8_t nusiz = t->nusiz[p];
  const int width = missile_width(t, p, nusiz),
            other_width[2] = {missile_width(t, p, nusiz ^ 1 << 4), missile_width(t, p, nusiz ^ 1 << 5)};
  const unsigned copies = copies_of(nusiz, false);
  const places_t places = any_copies(q, VCS_M0 + p, ANY_NEAR_COPY);
  levels_t levels;
  if (!levels_of(q, VCS_M0 + p, &places, COPIES_REACH, &levels)) return;
  const float by = levels.by;
  float copy[5], right = 0, left = 0, wide[2] = {0, 0};
  for (int i = 0; i < 5; i++) copy[i] = sum_run(levels.at + 1 + 16 * i, width);
  for (unsigned set = copies; set; set &= set - 1) {
    const float *at = levels.at + 1 + 16 * VCS_LOWEST(set);
    right += at[width] - at[0];
    left += at[-1] - at[width - 1];
    for (int i = 0; i < 2; i++) wide[i] += sum_run(at, other_width[i]);
  }
  const float here = sum_set(copy, copies);
  add(q, VCS_OFFSET(enam) + side, 1, by * here);
  add(q, VCS_OFFSET(resmp) + side, 1, -by * here);
  add(q, VCS_OFFSET(pos) + VCS_M0 + side, 0, by * sum_move(q, left, 0, right));
  for (int i = 0; i < 2; i++) add(q, VCS_OFFSET(nusiz) + side, 4 + i, by * vcs_sign(nusiz, 4 + i) * (wide[i] - here));
  for (int bit = 0; nusiz_too && bit < 3; bit++) {
    const float there = sum_set(copy, copies_of(nusiz ^ 1u << bit, false));
    add(q, VCS_OFFSET(nusiz) + side, bit, by * vcs_sign(nusiz, bit) * (there - here));
  }
}

VCS_STATIC void sum_ball(sums_t *q, const vcs_t *t) {
  if (!is_near(q, VCS_BL, 1 + 8 + 1)) return;
  const unsigned code = t->ctrlpf >> 4 & 3;
  const int width = 1 << code;
  levels_t levels;
  places_t places = {{0, 0, 0, 0}};
  place(q, VCS_BL, -1, ANY_COPY, &places);
  if (!levels_of(q, VCS_BL, &places, 1 + 8 + 1, &levels)) return;
  const float *at = levels.at + 1, by = levels.by, here = sum_run(at, width);
  add(q, t->vdelbl ? VCS_OFFSET(enabl_old) : VCS_OFFSET(enabl), 1, by * here);
  add(q, VCS_OFFSET(vdelbl), 0, by * (float)((t->enabl_old != 0) - (t->enabl != 0)) * here);
  if (!vcs_ball_on(t)) return;
  add(q, VCS_OFFSET(pos) + VCS_BL, 0, by * sum_move(q, sum_run(at - 1, width), here, sum_run(at + 1, width)));
  for (int bit = 0; bit < 2; bit++) {
    const float there = sum_run(at, 1 << (code ^ 1u << bit));
    add(q, VCS_OFFSET(ctrlpf), 4 + bit, by * vcs_sign(code, bit) * (there - here));
  }
}

/* ---- All of them --------------------------------------------------------------------------------------------------
 */

/* Whether a bit of NUSIZ would change a player and its missile at one pixel of the piece. */
VCS_STATIC bool meet_by_nusiz(const sums_t *q, vcs_t *t, int p) {
  uint64_t met = 0;
  for (int bit = 0; bit < 3; bit++) {
    t->nusiz[p] ^= (uint8_t)(1 << bit);
    const vcs_pixels_t player = vcs_object_pixels(t, VCS_P0 + p), missile = vcs_object_pixels(t, VCS_M0 + p);
    t->nusiz[p] ^= (uint8_t)(1 << bit);
    for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
      const vcs_pixels_t *line = q->piece->base.line;
      met |= (player.word[word] ^ line[VCS_P0 + p].word[word]) & (missile.word[word] ^ line[VCS_M0 + p].word[word]) &
             q->piece->mask[word];
    }
  }
  return met;
}

/* A player and its missile. Copies are those of both. */
VCS_STATIC void sum_side(sums_t *q, vcs_t *t, int p) {
  const bool missile = vcs_missile_on(t, p);
  const bool meet = missile && vcs_player_bits(t, p) && is_near(q, VCS_P0 + p, COPIES_REACH) &&
                    is_near(q, VCS_M0 + p, COPIES_REACH) && meet_by_nusiz(q, t, p);
  sum_player(q, t, p, !meet);
  if (missile) {
    sum_missile_on(q, t, p, !meet);
  } else {
    sum_missile_off(q, t, p);
  }
  if (!meet) return;
  const size_t nusiz = VCS_OFFSET(nusiz) + (size_t)p;
  float *row = q->s->pixels + VCS_WIDTH * q->piece->y, kept[VCS_WIDTH];
  memcpy(kept, row, sizeof kept); /* line.c finds the row by itself */
  memcpy(row, q->w, sizeof kept);
  for (int bit = 0; bit < 3; bit++) vcs_piece_link(q->s, t, q->piece, nusiz, bit, 5u << (VCS_P0 + p));
  memcpy(row, kept, sizeof kept);
  q->s->live[nusiz] = 1;
}

/* The row's adjoints, where the piece is and is not under a comb. */
VCS_STATIC void take_adjoints(sums_t *q, const float *adjoints) {
  const vcs_piece_t *piece = q->piece;
  memcpy(q->w + piece->x0, adjoints + piece->x0, (size_t)(piece->x1 - piece->x0) * sizeof *adjoints);
  for (int word = piece->first_word; word <= piece->last_word; word++) {
    uint64_t hidden = piece->beam[word] & ~piece->mask[word];
    for (; hidden; hidden &= hidden - 1) q->w[64 * word + VCS_LOWEST_64(hidden)] = 0;
  }
}

VCS_STATIC void drop_adjoints(sums_t *q) {
  const vcs_piece_t *piece = q->piece;
  memset(q->w + piece->x0, 0, (size_t)(piece->x1 - piece->x0) * sizeof *q->w);
  if (q->round) memset(q->w + piece->x0 + VCS_WIDTH, 0, round_bytes(q));
}

/* All objects of a piece that is not black. */
VCS_STATIC void sum_objects(sums_t *q, vcs_t *t) {
  sum_playfield(q, t);
  for (int bit = 1; bit <= 2; bit++) add(q, VCS_OFFSET(ctrlpf), bit, q->rule[bit]);
  sum_side(q, t, 0);
  sum_side(q, t, 1);
  sum_ball(q, t);
}

VCS_EXTERN bool vcs_line_sums(vcs_sweep_t *s, vcs_t *t, vcs_piece_t *piece, const float *adjoints) {
  if ((t->ctrlpf & 6) == 6 || s->directional) return false; /* along a direction objects move by more than one */
  sums_t q;
  q.s = s;
  q.t = t;
  q.piece = piece;
  q.w = s->line.row;
  q.round = false;
  take_adjoints(&q, adjoints);
  for (int c = 0; c < 4; c++) {
    q.shade[c] = s->scale[t->colu[c]];
    q.colour[c] = 0;
  }
  q.rule[1] = q.rule[2] = 0;
  sum_all_columns(&q, t);
  sum_colours(&q);
  if (!(t->vblank & 2)) sum_objects(&q, t);
  drop_adjoints(&q);
  return true;
}
