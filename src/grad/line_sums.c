/* line_sums.c: the adjoints of all registers of a piece at once.
 *
 * Walking backwards over a whole picture, line.c would show every piece again for each of a hundred register bits. Most
 * of them need not be shown: a pixel depends on an object only through whether the object is there, so what matters is
 *
 *   toggled[o]    the colours the piece would have if object o were there where it is not, and not there where it is
 *   sum(m, o)     over the pixels in mask m: adjoint * (scalar with o toggled - scalar as it is)
 *
 * and every bit that only shapes one object is sum(mask with the bit flipped ^ mask, o). Graphics bits have masks of
 * their own, a position has the object's mask moved by one, colours are sums over the pixels that show them. Bits that
 * change two objects at one pixel, or the rule of priority itself, and pieces with playfield priority and score
 * together (where the reference looks at all objects to colour one) are left to line.c. test_line.c compares the two.
 */
#include <string.h>

#include "line.h"

/* The piece with one object toggled everywhere, made when first asked for. */
typedef struct {
  const vcs_sweep_t *s;
  const vcs_t *t;
  const vcs_piece_t *piece;
  const float *w;            /* adjoints of the row's pixels */
  float four[VCS_WIDTH / 4]; /* their sums by four */
  float by[4][4];            /* scalar of the second colour minus scalar of the first */
  uint64_t toggled[VCS_OBJECTS][3][4];
  unsigned have;
  float gain[VCS_OBJECTS][VCS_WIDTH]; /* what a pixel gains by an object's toggling, */
  uint64_t known[VCS_OBJECTS][3];     /* where that is known */
} sums_t;

VCS_STATIC void toggle(sums_t *q, int object) {
  if (q->have >> object & 1) return;
  vcs_pixels_t line[VCS_OBJECTS];
  memcpy(line, q->piece->base.line, sizeof line);
  for (int word = 0; word < 3; word++) line[object].word[word] = ~line[object].word[word];
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    vcs_line_colours(q->t, word, line, q->toggled[object][word]);
  }
  for (int word = 0; word < 3; word++) q->known[object][word] = 0;
  q->have |= 1u << object;
}

/* Makes the gains of some pixels of a word known. */
VCS_STATIC void know(sums_t *q, int object, int word, uint64_t mask) {
  const uint64_t *was = q->piece->base.colour[word], *is = q->toggled[object][word];
  const float *w = q->w + 64 * word;
  float *gain = q->gain[object] + 64 * word;
  mask &= ~q->known[object][word];
  q->known[object][word] |= mask;
  for (int from = 0; mask && from < 4; from++) {
    uint64_t there = mask & was[from];
    mask &= ~there;
    for (int to = 0; there && to < 4; to++) {
      const float by = q->by[from][to];
      uint64_t change = there & is[to];
      there &= ~change;
      for (; change; change &= change - 1) gain[VCS_LOWEST_64(change)] = w[VCS_LOWEST_64(change)] * by;
    }
  }
}

/* The gains of some pixels of a word by the object's toggling. */
VCS_STATIC float sum_pixels(sums_t *q, int object, int word, uint64_t mask) {
  float sum = 0;
  know(q, object, word, mask);
  for (; mask; mask &= mask - 1) sum += q->gain[object][64 * word + VCS_LOWEST_64(mask)];
  return sum;
}

/* The adjoints of the pixels of `mask` in a word, four at a time where it can be. */
VCS_STATIC float sum_adjoints(const sums_t *q, int word, uint64_t mask) {
  float sum = 0;
  while (mask) {
    int x = VCS_LOWEST_64(mask);
    if (!(x & 3) && (mask >> x & 15) == 15) {
      sum += q->four[16 * word + x / 4];
      mask &= ~(15ULL << x);
    } else {
      sum += q->w[64 * word + x];
      mask &= mask - 1;
    }
  }
  return sum;
}

/* The gains where pixels of the playfield change: there are many, and few colours. */
VCS_STATIC float sum_fields(const sums_t *q, int word, uint64_t mask) {
  float sum = 0;
  const uint64_t *was = q->piece->base.colour[word], *is = q->toggled[VCS_PF][word];
  for (int from = 0; mask && from < 4; from++) {
    uint64_t there = mask & was[from];
    mask &= ~there;
    for (int to = 0; there && to < 4; to++) {
      uint64_t change = there & is[to];
      there &= ~change;
      if (change && q->by[from][to] != 0) sum += sum_adjoints(q, word, change) * q->by[from][to];
    }
  }
  return sum;
}

VCS_STATIC float sum_change(sums_t *q, int object, const uint64_t changed[3]) {
  float sum = 0;
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    const uint64_t mask = changed[word] & q->piece->mask[word];
    if (mask) sum += object == VCS_PF ? sum_fields(q, word, mask) : sum_pixels(q, object, word, mask);
  }
  return sum;
}

/* Where an object's pixels are otherwise when its registers are as in t. */
VCS_STATIC bool changed_by(const sums_t *q, const vcs_t *t, int object, uint64_t changed[3]) {
  uint64_t any = 0;
  vcs_pixels_t pixels = vcs_object_pixels(t, object);
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    changed[word] = pixels.word[word] ^ q->piece->base.line[object].word[word];
    any |= changed[word] & q->piece->mask[word];
  }
  return any;
}

VCS_STATIC void add(const sums_t *q, size_t offset, int slot, float by) {
  if (by == 0) return;
  vcs_slots(q->s, offset)[slot] += by;
  q->s->live[offset] = 1;
}

/* Whether any of `width` pixels from `left` on, round the line, is in the piece. Most pieces are short, and most
 * objects elsewhere. */
VCS_STATIC bool touches(const sums_t *q, int left, int width) {
  int behind = q->piece->x0 - left, ahead = left - q->piece->x0;
  if (behind < 0) behind += VCS_WIDTH;
  if (behind >= VCS_WIDTH) behind -= VCS_WIDTH;
  if (ahead < 0) ahead += VCS_WIDTH;
  if (ahead >= VCS_WIDTH) ahead -= VCS_WIDTH;
  return behind < width || ahead < q->piece->x1 - q->piece->x0;
}

/* The same for a player or missile with whatever copies and sizes, or moved by one. */
enum { COPIES_REACH = 64 + 8 };
VCS_STATIC bool might_touch(const sums_t *q, const vcs_t *t, int object) {
  return touches(q, t->pos[object] - 1, COPIES_REACH + 2);
}

/* ---- Colours ------------------------------------------------------------------------------------------------------
 */

VCS_STATIC void sum_colours(sums_t *q) {
  const float *scale = q->s->scale;
  float black = 0;
  bool blanked = q->t->vblank & 2;
  for (int c = 0; c < 4; c++) {
    float adjoints = 0;
    for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
      adjoints += sum_adjoints(q, word, q->piece->base.colour[word][c] & q->piece->mask[word]);
    }
    if (adjoints == 0) continue;
    uint8_t index = q->t->colu[c];
    black += adjoints * (scale[0] - scale[index]);
    if (blanked) continue;
    float *slots = vcs_slots(q->s, VCS_OFFSET(colu) + (size_t)c);
    for (int k = 0; k < 8; k++) { /* a bit moves the index one way, the carry the other */
      int step = index >> k & 1 ? -(1 << k) : 1 << k;
      float up = step > 0 ? adjoints : -adjoints;
      slots[k] += up * (scale[index + step] - scale[index]);
      slots[8 + k] -= up * (scale[(uint8_t)(index - step)] - scale[index]);
    }
    q->s->live[VCS_OFFSET(colu) + (size_t)c] = 1;
  }
  add(q, VCS_OFFSET(vblank), 1, black); /* F(1) - F(0), whichever it is now */
}

/* ---- Objects ------------------------------------------------------------------------------------------------------
 */

/* One bit of one register that shapes one object. */
VCS_STATIC void sum_bit(sums_t *q, vcs_t *t, int object, size_t offset, int bit) {
  uint64_t changed[3];
  uint8_t *byte = (uint8_t *)t + offset;
  *byte ^= (uint8_t)(1 << bit);
  bool any = changed_by(q, t, object, changed);
  *byte ^= (uint8_t)(1 << bit);
  if (any) add(q, offset, bit, vcs_sign(*byte, bit) * sum_change(q, object, changed));
}

VCS_STATIC void sum_position(sums_t *q, vcs_t *t, int object) {
  uint64_t changed[3];
  vcs_sides_t sides = vcs_sides(q->s, 0);
  uint8_t pos = t->pos[object];
  float by = 0;
  t->pos[object] = (uint8_t)(pos == 159 ? 0 : pos + 1);
  if (sides.more != 0 && changed_by(q, t, object, changed)) by += sides.more * sum_change(q, object, changed);
  t->pos[object] = (uint8_t)(pos == 0 ? 159 : pos - 1);
  if (sides.less != 0 && changed_by(q, t, object, changed)) by += sides.less * sum_change(q, object, changed);
  t->pos[object] = pos;
  add(q, VCS_OFFSET(pos) + (size_t)object, 0, by);
}

/* Whether any of the object's pixels would be in the piece if it were there with all its bits. */
VCS_STATIC bool reaches(const sums_t *q, vcs_t *t, int object) {
  int side = object & 1;
  bool player = object <= VCS_P1;
  uint64_t k[4] = {0, 0, 0, 0}, any = 0;
  if (object == VCS_BL) {
    vcs_place(k, vcs_width_shape(t->ctrlpf >> 4), t->pos[object]);
  } else {
    uint64_t shape = player ? vcs_player_shape(0xFF, t->nusiz[side]) : vcs_missile_shape(t, side);
    vcs_place_copies(k, shape, t->pos[object], t->nusiz[side], player ? t->first_copy_off[side] : 0);
  }
  k[0] |= k[2] >> 32;
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) any |= k[word] & q->piece->mask[word];
  return any;
}

/* The gains of pixels from x on, round the line; 0 outside the piece. */
VCS_STATIC void gains_from(sums_t *q, int object, int x, int count, float *gains) {
  while (count > 0) {
    if (x < 0) x += VCS_WIDTH;
    if (x >= VCS_WIDTH) x -= VCS_WIDTH;
    const int word = x >> 6, bit = x & 63, end = word < 2 ? 64 : VCS_WIDTH - 128;
    const int here = count < end - bit ? count : end - bit; /* in one word */
    uint64_t lit = 0;
    if (word >= q->piece->first_word && word <= q->piece->last_word)
      lit = q->piece->mask[word] & ~0ULL >> (64 - here) << bit;
    if (lit) know(q, object, word, lit);
    lit >>= bit;
    for (int i = 0; i < here; i++) gains[i] = lit >> i & 1 ? q->gain[object][x + i] : 0;
    gains += here;
    count -= here;
    x += here;
  }
}

/* Graphics bits and position of a player, copy by copy: pixel i of a copy shows bit 7 - i, or i if it is mirrored. To
 * the right, the pixels change at which a bit differs from the one before it; to the left, those before them. */
VCS_STATIC void sum_copies(sums_t *q, const vcs_t *t, int p, size_t grp, uint8_t shown) {
  enum { WIDEST = 8 * 4 };
  vcs_copies_t copies = vcs_copies(t->nusiz[p] & 7);
  vcs_sides_t sides = vcs_sides(q->s, 0);
  const int starts[3] = {0, 16 * copies.second, 16 * copies.third};
  const int late = copies.stretch > 1, width = 8 * copies.stretch, shift = copies.stretch >> 1;
  const unsigned pattern = t->reflect[p] ? shown : vcs_reverse(shown); /* in the order of pixels */
  float bits[8] = {0}, gains[WIDEST + 2], more = 0, less = 0;
  for (int copy = 0; copy < 3; copy++) {
    if (copy == 0 ? t->first_copy_off[p] : !starts[copy]) continue;
    const int left = t->pos[p] + starts[copy] + late;
    if (!touches(q, left - 1, width + 2)) continue;
    gains_from(q, VCS_P0 + p, left - 1, width + 2, gains);
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): gains_from fills them */
    for (int i = 0; i < width; i++) bits[i >> shift] += gains[1 + i];
    for (unsigned edges = pattern ^ pattern << 1; edges; edges &= edges - 1) {
      const int i = VCS_LOWEST(edges) << shift;
      more += gains[1 + i];
      less += gains[i];
    }
  }
  float *slots = vcs_slots(q->s, grp);
  for (int i = 0; i < 8; i++) {
    const int bit = t->reflect[p] ? i : 7 - i;
    slots[bit] += shown >> bit & 1 ? -bits[i] : bits[i];
  }
  q->s->live[grp] = 1;
  if (shown) add(q, VCS_OFFSET(pos) + (size_t)p, 0, sides.more * more + sides.less * less);
}

VCS_STATIC void sum_player(sums_t *q, vcs_t *t, int p) {
  size_t side = (size_t)p, grp = (t->vdelp[p] ? VCS_OFFSET(grp_old) : VCS_OFFSET(grp)) + side;
  uint8_t shown = *((uint8_t *)t + grp);
  if (!might_touch(q, t, VCS_P0 + p)) return;
  if (shown || reaches(q, t, VCS_P0 + p)) { /* moved by one it may reach what it does not reach now */
    toggle(q, VCS_P0 + p);
    sum_copies(q, t, p, grp, shown);
    if (t->grp[p] != t->grp_old[p]) sum_bit(q, t, VCS_P0 + p, VCS_OFFSET(vdelp) + side, 0);
    if (shown != vcs_reverse(shown)) sum_bit(q, t, VCS_P0 + p, VCS_OFFSET(reflect) + side, 3);
  }
  if (shown) toggle(q, VCS_P0 + p), sum_bit(q, t, VCS_P0 + p, VCS_OFFSET(first_copy_off) + side, 0);
}

VCS_STATIC void sum_missile(sums_t *q, vcs_t *t, int p) {
  size_t side = (size_t)p;
  int object = VCS_M0 + p;
  if (!might_touch(q, t, object)) return;
  if (t->enam[p] || reaches(q, t, object)) {
    toggle(q, object);
    if (!t->resmp[p]) sum_bit(q, t, object, VCS_OFFSET(enam) + side, 1);
    if (t->enam[p]) sum_bit(q, t, object, VCS_OFFSET(resmp) + side, 1);
    if (vcs_missile_on(t, p)) sum_position(q, t, object);
  }
}

VCS_STATIC void sum_ball(sums_t *q, vcs_t *t) {
  size_t enabl = t->vdelbl ? VCS_OFFSET(enabl_old) : VCS_OFFSET(enabl);
  if (!touches(q, t->pos[VCS_BL] - 1, 8 + 2)) return;
  toggle(q, VCS_BL);
  sum_bit(q, t, VCS_BL, enabl, 1);
  sum_bit(q, t, VCS_BL, VCS_OFFSET(vdelbl), 0);
  if (!vcs_ball_on(t)) return;
  sum_position(q, t, VCS_BL);
  sum_bit(q, t, VCS_BL, VCS_OFFSET(ctrlpf), 4);
  sum_bit(q, t, VCS_BL, VCS_OFFSET(ctrlpf), 5);
}

/* The bit of the playfield behind each of its columns, leftmost first: 8 * register + bit. */
VCS_DATA uint8_t column_bits[VCS_WIDTH / 8] = {4, 5, 6,  7,  15, 14, 13, 12, 11, 10,
                                               9, 8, 16, 17, 18, 19, 20, 21, 22, 23};

/* The gains of the 40 columns of the playfield, and of the register bits behind them. */
VCS_STATIC void sum_playfield(sums_t *q, vcs_t *t) {
  float columns[48] = {0}, bits[24] = {0};
  toggle(q, VCS_PF);
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    for (int from = 0; from < 4; from++) {
      uint64_t there = q->piece->base.colour[word][from] & q->piece->mask[word];
      for (int to = 0; there && to < 4; to++) {
        uint64_t change = there & q->toggled[VCS_PF][word][to];
        const float by = q->by[from][to];
        there &= ~change;
        if (by == 0) continue;
        uint64_t whole = change & change >> 1 & change >> 2 & change >> 3 & 0x1111111111111111;
        change &= ~(whole * 15);
        for (; whole; whole &= whole - 1) {
          const int column = 16 * word + VCS_LOWEST_64(whole) / 4;
          columns[column] += by * q->four[column];
        }
        for (; change; change &= change - 1) {
          const int x = 64 * word + VCS_LOWEST_64(change);
          columns[x / 4] += by * q->w[x];
        }
      }
    }
  }
  for (int i = 0; i < 20; i++) bits[column_bits[i]] = columns[i] + columns[t->pf_mirrored ? 39 - i : 20 + i];
  for (size_t i = 0; i < 3; i++) {
    if (!vcs_any(bits + 8 * i, 8)) continue;
    float *slots = vcs_slots(q->s, VCS_OFFSET(pf) + i);
    for (int bit = 0; bit < 8; bit++)
      slots[bit] += t->pf[i] >> bit & 1 ? -bits[8 * i + (size_t)bit] : bits[8 * i + (size_t)bit];
    q->s->live[VCS_OFFSET(pf) + i] = 1;
  }
  if (q->piece->x1 > VCS_WIDTH / 2) sum_bit(q, t, VCS_PF, VCS_OFFSET(pf_mirrored), 0);
}

/* Copies and sizes shape player and missile; where both change at one pixel the piece is shown again. */
VCS_STATIC void sum_nusiz(sums_t *q, vcs_t *t, int p) {
  bool missile = vcs_missile_on(t, p), player = t->vdelp[p] ? t->grp_old[p] : t->grp[p];
  missile = missile && might_touch(q, t, VCS_M0 + p);
  player = player && might_touch(q, t, VCS_P0 + p);
  if (!missile && !player) return;
  if (player) toggle(q, VCS_P0 + p);
  if (missile) toggle(q, VCS_M0 + p);
  for (unsigned bits = missile ? 0x37 : 0x07; bits; bits &= bits - 1) {
    int bit = VCS_LOWEST(bits);
    uint64_t moved_player[3], moved_missile[3];
    t->nusiz[p] ^= (uint8_t)(1 << bit);
    bool players = player && changed_by(q, t, VCS_P0 + p, moved_player);
    bool missiles = missile && changed_by(q, t, VCS_M0 + p, moved_missile);
    t->nusiz[p] ^= (uint8_t)(1 << bit);
    bool meet = false;
    for (int word = q->piece->first_word; players && missiles && word <= q->piece->last_word; word++) {
      meet |= (moved_player[word] & moved_missile[word] & q->piece->mask[word]) != 0;
    }
    if (meet) {
      float *row = q->s->pixels + VCS_WIDTH * q->piece->y, kept[VCS_WIDTH];
      memcpy(kept, row, sizeof kept);
      memcpy(row, q->w, sizeof kept);
      vcs_piece_link(q->s, t, q->piece, VCS_OFFSET(nusiz) + (size_t)p, bit, 5u << (VCS_P0 + p));
      memcpy(row, kept, sizeof kept);
      q->s->live[VCS_OFFSET(nusiz) + (size_t)p] = 1;
      continue;
    }
    float by = (players ? sum_change(q, VCS_P0 + p, moved_player) : 0) +
               (missiles ? sum_change(q, VCS_M0 + p, moved_missile) : 0);
    add(q, VCS_OFFSET(nusiz) + (size_t)p, bit, vcs_sign(t->nusiz[p], bit) * by);
  }
}

/* Score and priority: the same objects, coloured otherwise. */
VCS_STATIC void sum_rules(sums_t *q, vcs_t *t) {
  uint64_t field = 0; /* without playfield and ball there is nothing to decide */
  for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
    const vcs_pixels_t *line = q->piece->base.line;
    field |= (line[VCS_PF].word[word] | line[VCS_BL].word[word]) & q->piece->mask[word];
  }
  if (!field) return;
  for (int bit = 1; bit <= 2; bit++) {
    float by = 0;
    t->ctrlpf ^= (uint8_t)(1 << bit);
    for (int word = q->piece->first_word; word <= q->piece->last_word; word++) {
      uint64_t colour[4];
      vcs_line_colours(t, word, q->piece->base.line, colour);
      for (int from = 0; from < 4; from++) {
        uint64_t there = q->piece->base.colour[word][from] & ~colour[from] & q->piece->mask[word];
        for (int to = 0; there && to < 4; to++) {
          uint64_t change = there & colour[to];
          for (; change; change &= change - 1) by += q->w[64 * word + VCS_LOWEST_64(change)] * q->by[from][to];
        }
      }
    }
    t->ctrlpf ^= (uint8_t)(1 << bit);
    add(q, VCS_OFFSET(ctrlpf), bit, vcs_sign(t->ctrlpf, bit) * by);
  }
}

VCS_EXTERN bool vcs_line_sums(vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece, const float *adjoints) {
  if ((t->ctrlpf & 6) == 6 || s->along) return false; /* along a direction objects move by more than one */
  sums_t q;
  q.s = s;
  q.t = t;
  q.piece = piece;
  q.w = adjoints;
  q.have = 0;
  bool blanked = t->vblank & 2;
  for (int i = piece->x0 / 4; 4 * i < piece->x1; i++) {
    q.four[i] = (adjoints[4 * i] + adjoints[4 * i + 1]) + (adjoints[4 * i + 2] + adjoints[4 * i + 3]);
  }
  if (!blanked) {
    for (int from = 0; from < 4; from++) {
      for (int to = 0; to < 4; to++) q.by[from][to] = s->scale[t->colu[to]] - s->scale[t->colu[from]];
    }
    for (int p = 0; p < 2; p++) {
      sum_nusiz(&q, t, p);
      sum_player(&q, t, p);
      sum_missile(&q, t, p);
    }
    sum_ball(&q, t);
    sum_playfield(&q, t);
    sum_rules(&q, t);
  }
  sum_colours(&q);
  return true;
}
