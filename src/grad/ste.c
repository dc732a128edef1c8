/* ste.c: straight-through derivatives of instructions, and of a whole frame.
 *
 * Nearly every operation of the 6507 is one weighted sum: with r for the byte it makes,
 *
 *      r = w_a A + w_x X + w_y Y + w_s S + w_m M + w_c C        M: the byte from the bus, or to it
 *
 * and r goes to some of A X Y S M and to flags: N = r / 255; Z = 1 - r where the byte is 0 or 1, else flat; C a ramp of
 * slope 1/255 over the sum or, when shifting, the share of one bit in the byte that is shifted. A step is such a sum, a
 * row of a table; a logical operation fills in its weights from the values met (a bit that the other operand masks
 * passes nothing: A AND M has w_a = M / 255). Illegal opcodes are two steps.
 *
 * Stops: the program counter, opcodes and operands of addresses, where a store goes, page crossings, V of additions,
 * decimal mode's corrections, the status register of BRK and RTI.
 */
#include "ste.h"

#include <math.h>
#include <string.h>

/* ---- Steps ---------------------------------------------------------------------------------------------------- */

/* What else a step sets. A flag that is not computed from anything is set to a constant. */
enum {
  SETS_NZ = 1,
  SETS_C = 2,   /* a ramp over r */
  SHIFTS_M = 4, /* C is a bit of M */
  SHIFTS_A = 8, /* C is a bit of A */
  CLEARS_V = 16,
  CLEARS_D = 32,
  CLEARS_I = 64,
};

/* How weights are found that are not constant. */
typedef enum {
  PLAIN,
  HALF, /* the weights times the slope of a shift to the right */
  AND,
  ORA,
  EOR,
  LAS,
  LXA,
  ANE,
  SAX,
  SBX,
  SHA,
  SHX,
  SHY,
  BIT, /* N and V are bits of M, Z is of A AND M */
  PHP,
  PLP
} kind_t;

typedef struct {
  float weights[VCS_STE_INPUTS];
  uint8_t from; /* the only lane with a weight, or the number of lanes: there are several */
  uint8_t to;   /* the lane r goes to; an unused one if there is none */
  uint8_t also; /* a set of further lanes */
  uint8_t sets;
  uint8_t kind;
} step_t;

#define TO_NOTHING (VCS_STE_INPUTS - 1), 0
#define TO(lane) VCS_STE_##lane, 0
#define TO_BOTH(lane, other) VCS_STE_##lane, 1 << VCS_STE_##other
#define TO_ALL(lane, other, third) VCS_STE_##lane, 1 << VCS_STE_##other | 1 << VCS_STE_##third

/* clang-format off */
/*     name        A  X  Y  S  M   C     to               sets                       kind */
#define STEPS(STEP)                                                                          \
  STEP(NONE,       0, 0, 0, 0, 0,  0,    TO_NOTHING,      0,                         PLAIN)  \
  STEP(M_TO_A,     0, 0, 0, 0, 1,  0,    TO(A),           SETS_NZ,                   PLAIN)  \
  STEP(M_TO_X,     0, 0, 0, 0, 1,  0,    TO(X),           SETS_NZ,                   PLAIN)  \
  STEP(M_TO_Y,     0, 0, 0, 0, 1,  0,    TO(Y),           SETS_NZ,                   PLAIN)  \
  STEP(M_TO_AX,    0, 0, 0, 0, 1,  0,    TO_BOTH(A, X),   SETS_NZ,                   PLAIN)  \
  STEP(M_TO_M,     0, 0, 0, 0, 1,  0,    TO(M),           SETS_NZ,                   PLAIN)  \
  STEP(X_TO_X,     0, 1, 0, 0, 0,  0,    TO(X),           SETS_NZ,                   PLAIN)  \
  STEP(Y_TO_Y,     0, 0, 1, 0, 0,  0,    TO(Y),           SETS_NZ,                   PLAIN)  \
  STEP(A_TO_X,     1, 0, 0, 0, 0,  0,    TO(X),           SETS_NZ,                   PLAIN)  \
  STEP(A_TO_Y,     1, 0, 0, 0, 0,  0,    TO(Y),           SETS_NZ,                   PLAIN)  \
  STEP(X_TO_A,     0, 1, 0, 0, 0,  0,    TO(A),           SETS_NZ,                   PLAIN)  \
  STEP(Y_TO_A,     0, 0, 1, 0, 0,  0,    TO(A),           SETS_NZ,                   PLAIN)  \
  STEP(S_TO_X,     0, 0, 0, 1, 0,  0,    TO(X),           SETS_NZ,                   PLAIN)  \
  STEP(X_TO_S,     0, 1, 0, 0, 0,  0,    TO(S),           0,                         PLAIN)  \
  STEP(A_TO_M,     1, 0, 0, 0, 0,  0,    TO(M),           0,                         PLAIN)  \
  STEP(X_TO_M,     0, 1, 0, 0, 0,  0,    TO(M),           0,                         PLAIN)  \
  STEP(Y_TO_M,     0, 0, 1, 0, 0,  0,    TO(M),           0,                         PLAIN)  \
  STEP(ADC,        1, 0, 0, 0, 1,  1,    TO(A),           SETS_NZ | SETS_C | CLEARS_V, PLAIN) \
  STEP(SBC,        1, 0, 0, 0, -1, 1,    TO(A),           SETS_NZ | SETS_C | CLEARS_V, PLAIN) \
  STEP(CMP,        1, 0, 0, 0, -1, 0,    TO_NOTHING,      SETS_NZ | SETS_C,          PLAIN)  \
  STEP(CPX,        0, 1, 0, 0, -1, 0,    TO_NOTHING,      SETS_NZ | SETS_C,          PLAIN)  \
  STEP(CPY,        0, 0, 1, 0, -1, 0,    TO_NOTHING,      SETS_NZ | SETS_C,          PLAIN)  \
  STEP(ASL,        0, 0, 0, 0, 2,  0,    TO(M),           SETS_NZ | SHIFTS_M,        PLAIN)  \
  STEP(ROL,        0, 0, 0, 0, 2,  1,    TO(M),           SETS_NZ | SHIFTS_M,        PLAIN)  \
  STEP(LSR,        0, 0, 0, 0, 1,  0,    TO(M),           SETS_NZ | SHIFTS_M,        HALF)   \
  STEP(ROR,        0, 0, 0, 0, 1,  256,  TO(M),           SETS_NZ | SHIFTS_M,        HALF)   \
  STEP(ASLA,       2, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ | SHIFTS_A,        PLAIN)  \
  STEP(ROLA,       2, 0, 0, 0, 0,  1,    TO(A),           SETS_NZ | SHIFTS_A,        PLAIN)  \
  STEP(LSRA,       1, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ | SHIFTS_A,        HALF)   \
  STEP(RORA,       1, 0, 0, 0, 0,  256,  TO(A),           SETS_NZ | SHIFTS_A,        HALF)   \
  STEP(ARR,        1, 0, 0, 0, 0,  256,  TO(A),           SETS_NZ | SHIFTS_A | CLEARS_V, HALF) \
  STEP(AND,        0, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ,                   AND)    \
  STEP(ANC,        0, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ | SETS_C,          AND)    \
  STEP(ORA,        0, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ,                   ORA)    \
  STEP(EOR,        0, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ,                   EOR)    \
  STEP(LAS,        0, 0, 0, 0, 0,  0,    TO_ALL(A, X, S), SETS_NZ,             LAS)    \
  STEP(LXA,        0, 0, 0, 0, 0,  0,    TO_BOTH(A, X),   SETS_NZ,                   LXA)    \
  STEP(ANE,        0, 0, 0, 0, 0,  0,    TO(A),           SETS_NZ,                   ANE)    \
  STEP(SBX,        0, 0, 0, 0, -1, 0,    TO(X),           SETS_NZ | SETS_C,          SBX)    \
  STEP(SAX,        0, 0, 0, 0, 0,  0,    TO(M),           0,                         SAX)    \
  STEP(SHA,        0, 0, 0, 0, 0,  0,    TO(M),           0,                         SHA)    \
  STEP(SHX,        0, 0, 0, 0, 0,  0,    TO(M),           0,                         SHX)    \
  STEP(SHY,        0, 0, 0, 0, 0,  0,    TO(M),           0,                         SHY)    \
  STEP(SHS,        0, 0, 0, 0, 0,  0,    TO(S),           0,                         SAX)    \
  STEP(BIT,        0, 0, 0, 0, 0,  0,    TO_NOTHING,      SETS_NZ,                   BIT)    \
  STEP(PHP,        0, 0, 0, 0, 0,  0,    TO(M),           0,                         PHP)    \
  STEP(PLP,        0, 0, 0, 0, 0,  0,    TO_NOTHING,      SETS_NZ,                   PLP)    \
  STEP(SET_C,      0, 0, 0, 0, 0,  0,    TO_NOTHING,      SETS_C,                    PLAIN)  \
  STEP(SET_I,      0, 0, 0, 0, 0,  0,    TO_NOTHING,      CLEARS_I,                  PLAIN)  \
  STEP(SET_D,      0, 0, 0, 0, 0,  0,    TO_NOTHING,      CLEARS_D,                  PLAIN)  \
  STEP(SET_V,      0, 0, 0, 0, 0,  0,    TO_NOTHING,      CLEARS_V,                  PLAIN)  \
  STEP(SET_P,      0, 0, 0, 0, 0,  0,    TO_NOTHING,      SETS_NZ | SETS_C | CLEARS_V | CLEARS_D | CLEARS_I, PLAIN)

#define STEP_NAME(name, ...) STEP_##name,
enum { STEPS(STEP_NAME) };

#define HAS(weight) ((weight) != 0)
#define ONLY(a, x, y, s, m, c)                                                     \
  (HAS(a) + HAS(x) + HAS(y) + HAS(s) + HAS(m) + HAS(c) == 1                        \
       ? HAS(x) * VCS_STE_X + HAS(y) * VCS_STE_Y + HAS(s) * VCS_STE_S + HAS(m) * VCS_STE_M + HAS(c) * VCS_STE_C \
       : VCS_STE_INPUTS)
#define STEP_ROW(name, a, x, y, s, m, c, ...) {{a, x, y, s, m, c, 0, 0}, ONLY(a, x, y, s, m, c), __VA_ARGS__},
VCS_DATA step_t steps[] = {STEPS(STEP_ROW)};

/* The steps of every operation. */
#define STE_LDA STEP_M_TO_A, STEP_NONE
#define STE_LDX STEP_M_TO_X, STEP_NONE
#define STE_LDY STEP_M_TO_Y, STEP_NONE
#define STE_LAX STEP_M_TO_AX, STEP_NONE
#define STE_AND STEP_AND, STEP_NONE
#define STE_ORA STEP_ORA, STEP_NONE
#define STE_EOR STEP_EOR, STEP_NONE
#define STE_ADC STEP_ADC, STEP_NONE
#define STE_SBC STEP_SBC, STEP_NONE
#define STE_CMP STEP_CMP, STEP_NONE
#define STE_CPX STEP_CPX, STEP_NONE
#define STE_CPY STEP_CPY, STEP_NONE
#define STE_BIT STEP_BIT, STEP_NONE
#define STE_ANC STEP_ANC, STEP_NONE
#define STE_ASR STEP_AND, STEP_LSRA
#define STE_ARR STEP_AND, STEP_ARR
#define STE_SBX STEP_SBX, STEP_NONE
#define STE_LAS STEP_LAS, STEP_NONE
#define STE_LXA STEP_LXA, STEP_NONE
#define STE_ANE STEP_ANE, STEP_NONE
#define STE_NOP STEP_NONE, STEP_NONE
#define STE_STA STEP_A_TO_M, STEP_NONE
#define STE_STX STEP_X_TO_M, STEP_NONE
#define STE_STY STEP_Y_TO_M, STEP_NONE
#define STE_SAX STEP_SAX, STEP_NONE
#define STE_SHA STEP_SHA, STEP_NONE
#define STE_SHX STEP_SHX, STEP_NONE
#define STE_SHY STEP_SHY, STEP_NONE
#define STE_SHS STEP_SHA, STEP_SHS
#define STE_ASL STEP_ASL, STEP_NONE
#define STE_LSR STEP_LSR, STEP_NONE
#define STE_ROL STEP_ROL, STEP_NONE
#define STE_ROR STEP_ROR, STEP_NONE
#define STE_INC STEP_M_TO_M, STEP_NONE
#define STE_DEC STEP_M_TO_M, STEP_NONE
#define STE_SLO STEP_ASL, STEP_ORA
#define STE_RLA STEP_ROL, STEP_AND
#define STE_SRE STEP_LSR, STEP_EOR
#define STE_RRA STEP_ROR, STEP_ADC
#define STE_DCP STEP_M_TO_M, STEP_CMP
#define STE_ISB STEP_M_TO_M, STEP_SBC
#define STE_ASLA STEP_ASLA, STEP_NONE
#define STE_LSRA STEP_LSRA, STEP_NONE
#define STE_ROLA STEP_ROLA, STEP_NONE
#define STE_RORA STEP_RORA, STEP_NONE
#define STE_CLC STEP_SET_C, STEP_NONE
#define STE_SEC STEP_SET_C, STEP_NONE
#define STE_CLI STEP_SET_I, STEP_NONE
#define STE_SEI STEP_SET_I, STEP_NONE
#define STE_CLV STEP_SET_V, STEP_NONE
#define STE_CLD STEP_SET_D, STEP_NONE
#define STE_SED STEP_SET_D, STEP_NONE
#define STE_INX STEP_X_TO_X, STEP_NONE
#define STE_INY STEP_Y_TO_Y, STEP_NONE
#define STE_DEX STEP_X_TO_X, STEP_NONE
#define STE_DEY STEP_Y_TO_Y, STEP_NONE
#define STE_TAX STEP_A_TO_X, STEP_NONE
#define STE_TXA STEP_X_TO_A, STEP_NONE
#define STE_TAY STEP_A_TO_Y, STEP_NONE
#define STE_TYA STEP_Y_TO_A, STEP_NONE
#define STE_TSX STEP_S_TO_X, STEP_NONE
#define STE_TXS STEP_X_TO_S, STEP_NONE
#define STE_PHA STEP_A_TO_M, STEP_NONE
#define STE_PHP STEP_PHP, STEP_NONE
#define STE_PLA STEP_M_TO_A, STEP_NONE
#define STE_PLP STEP_PLP, STEP_NONE
#define STE_JSR STEP_NONE, STEP_NONE
#define STE_RTS STEP_NONE, STEP_NONE
#define STE_RTI STEP_SET_P, STEP_NONE
#define STE_BRK STEP_SET_I, STEP_NONE
#define STE_JAM STEP_NONE, STEP_NONE
#define STE_JMP STEP_NONE, STEP_NONE
#define STE_BPL STEP_NONE, STEP_NONE
#define STE_BMI STEP_NONE, STEP_NONE
#define STE_BVC STEP_NONE, STEP_NONE
#define STE_BVS STEP_NONE, STEP_NONE
#define STE_BCC STEP_NONE, STEP_NONE
#define STE_BCS STEP_NONE, STEP_NONE
#define STE_BNE STEP_NONE, STEP_NONE
#define STE_BEQ STEP_NONE, STEP_NONE
/* clang-format on */

/* What an instruction does on the bus, beside its steps. */
typedef enum { DOES_NOTHING, DOES_READ, DOES_WRITE, DOES_MODIFY, DOES_BRANCH, DOES_JSR, DOES_BRK } bus_t;

#define BUS_READ(operation) DOES_READ
#define BUS_WRITE(operation) DOES_WRITE
#define BUS_MODIFY(operation) DOES_MODIFY
#define BUS_JUMP(operation) DOES_NOTHING
#define BUS_BRANCH(operation) DOES_BRANCH
#define BUS_IMPLIED(operation) DOES_NOTHING
#define BUS_STACK(operation)                      \
  (VCS_PUSHED_BY_##operation == 1    ? DOES_WRITE \
   : VCS_PUSHED_BY_##operation == -1 ? DOES_READ  \
   : VCS_PUSHED_BY_##operation == 2  ? DOES_JSR   \
   : VCS_PUSHED_BY_##operation == 3  ? DOES_BRK   \
                                     : DOES_NOTHING)

typedef struct {
  uint8_t first, second; /* steps */
  uint8_t bus, mode;
  uint16_t sets; /* lanes, apart from M */
} recipe_t;

/* Lanes that an operation sets; pushes and pulls leave S alone here. */
#define LANE_SET(set, lane) ((set)&VCS_OF_##lane ? 1 << VCS_STE_##lane : 0)
#define LANES_SET(set)                                                                                               \
  (LANE_SET(set, A) | LANE_SET(set, X) | LANE_SET(set, Y) | LANE_SET(set, S) | LANE_SET(set, C) | LANE_SET(set, N) | \
   LANE_SET(set, Z) | LANE_SET(set, V) | LANE_SET(set, D) | LANE_SET(set, I))
#define RECIPE_ROW(code, operation, mode, access, cycles)     \
  {STE_##operation, BUS_##access(operation), VCS_MODE_##mode, \
   LANES_SET(VCS_SETS_##operation & ~(VCS_PUSHED_BY_##operation ? VCS_OF_S : 0))},
VCS_DATA recipe_t recipes[256] = {VCS_OPCODES(RECIPE_ROW)};

/* ---- Weights that depend on values ------------------------------------------------------------------------------ */

/* A logical operation passes those bits of an operand that its other operands do not mask. */
VCS_STATIC void weigh(const vcs_ste_t *ste, const step_t *step, const vcs_row_t *row, float w[VCS_STE_INPUTS]) {
  const float lift = ste->rules.lift;
  const int a = row->a, x = row->x, m = row->value, high = ((row->addr >> 8) + 1) & 0xFF;
  switch ((kind_t)step->kind) {
    case HALF:
      for (int i = 0; i < VCS_STE_INPUTS; i++) w[i] *= ste->rules.half;
      return;
    case AND:
    case BIT:
      w[VCS_STE_A] = lift * (float)m, w[VCS_STE_M] = lift * (float)a;
      return;
    case ORA:
      w[VCS_STE_A] = lift * (float)(255 - m), w[VCS_STE_M] = lift * (float)(255 - a);
      return;
    case EOR:
      w[VCS_STE_A] = lift * (float)(255 - 2 * m), w[VCS_STE_M] = lift * (float)(255 - 2 * a);
      return;
    case LAS:
      w[VCS_STE_S] = lift * (float)m, w[VCS_STE_M] = lift * (float)row->sp;
      return;
    case LXA:
      w[VCS_STE_A] = lift * (float)(0x11 & m), w[VCS_STE_M] = lift * (float)(a | 0xEE);
      return;
    case ANE:
      w[VCS_STE_A] = lift * (float)(0x11 & x & m), w[VCS_STE_X] = lift * (float)((a | 0xEE) & m);
      w[VCS_STE_M] = lift * (float)((a | 0xEE) & x);
      return;
    case SAX:
    case SBX:
      w[VCS_STE_A] = lift * (float)x, w[VCS_STE_X] = lift * (float)a;
      return;
    case SHA:
      w[VCS_STE_A] = lift * (float)(x & high), w[VCS_STE_X] = lift * (float)(a & high);
      return;
    case SHX:
      w[VCS_STE_X] = lift * (float)high;
      return;
    case SHY:
      w[VCS_STE_Y] = lift * (float)high;
      return;
    default:
      return;
  }
}

/* The byte that decides Z: of a comparison the difference, else what the step makes. */
VCS_STATIC uint8_t result_of(const step_t *step, const vcs_row_t *row, const vcs_row_t *next) {
  switch (step->to) {
    case VCS_STE_A:
      return next->a;
    case VCS_STE_X:
      return next->x;
    case VCS_STE_Y:
      return next->y;
    case VCS_STE_M:
      return row->value;
    default:
      break;
  }
  if (step->kind == BIT) return row->a & row->value;
  uint8_t left = step == &steps[STEP_CPX] ? row->x : step == &steps[STEP_CPY] ? row->y : row->a;
  return (uint8_t)(left - row->value);
}

/* ---- Flags all at once --------------------------------------------------------------------------------------------
 */

/* Lanes of the flags that have derivatives, by bit of P. */
VCS_DATA struct {
  uint8_t lane, bit;
} flags[] = {{VCS_STE_C, 0}, {VCS_STE_Z, 1}, {VCS_STE_I, 2}, {VCS_STE_D, 3}, {VCS_STE_V, 6}, {VCS_STE_N, 7}};
enum {
  FLAGS = sizeof flags / sizeof *flags,
  ALL_FLAGS = 1 << VCS_STE_C | 1 << VCS_STE_Z | 1 << VCS_STE_I | 1 << VCS_STE_D | 1 << VCS_STE_V | 1 << VCS_STE_N
};

VCS_DATA uint8_t branch_lanes[4] = {VCS_STE_N, VCS_STE_V, VCS_STE_C, VCS_STE_Z}; /* BPL BVC BCC BNE */

/* forward: M = the flags, each with its weight in the byte */
VCS_STATIC void push_flags(vcs_ste_t *ste) {
  float *m = &ste->lane[VCS_STE_M], adjoint = *m, sum = 0;
  const float weight = 255 * ste->rules.lift;
  ste->has_adjoint |= ALL_FLAGS;
  for (int i = 0; i < FLAGS; i++) {
    float by = weight * (float)(1 << flags[i].bit);
    sum += by * ste->lane[flags[i].lane];
    if (ste->s->reverse) ste->lane[flags[i].lane] += by * adjoint;
  }
  *m = ste->s->reverse ? 0 : sum;
}

/* forward: every flag = its share in M */
VCS_STATIC void pull_flags(vcs_ste_t *ste) {
  float *m = &ste->lane[VCS_STE_M];
  for (int i = 0; i < FLAGS; i++) {
    float *flag = &ste->lane[flags[i].lane];
    if (ste->s->reverse) {
      *m += ste->rules.lift * *flag;
      *flag = 0;
    } else {
      *flag = ste->rules.lift * *m;
    }
  }
}

/* forward: N and V = their share in M; Z as that of A AND M */
VCS_STATIC void test_bits(vcs_ste_t *ste, const step_t *step, const vcs_row_t *row, const vcs_row_t *next) {
  float w[VCS_STE_INPUTS] = {0}, *lane = ste->lane;
  const float lift = ste->rules.lift, zero = result_of(step, row, next) <= 1 ? ste->rules.zero : 0;
  weigh(ste, step, row, w);
  if (ste->s->reverse) {
    float r = zero * lane[VCS_STE_Z];
    ste->has_adjoint |= 1 << VCS_STE_A;
    lane[VCS_STE_A] += w[VCS_STE_A] * r;
    lane[VCS_STE_M] += w[VCS_STE_M] * r + lift * (lane[VCS_STE_N] + lane[VCS_STE_V]);
    lane[VCS_STE_Z] = lane[VCS_STE_N] = lane[VCS_STE_V] = 0;
  } else {
    lane[VCS_STE_Z] = zero * (w[VCS_STE_A] * lane[VCS_STE_A] + w[VCS_STE_M] * lane[VCS_STE_M]);
    lane[VCS_STE_N] = lane[VCS_STE_V] = lift * lane[VCS_STE_M];
  }
}

/* Slopes below one shrink a derivative on its way; what is smaller than this ends here, because numbers that a float
 * can only hold with fewer digits cost a hundred times as much. */
#define FADED 1e-30F

VCS_STATIC bool faded(float value) { return fabsf(value) < FADED; }

/* ---- One step -----------------------------------------------------------------------------------------------------
 */

/* Walking backwards: the adjoint of r, and of the bit that is shifted out. */
VCS_HOT_FN float take_flags(vcs_ste_t *ste, const step_t *step, const vcs_row_t *row, const vcs_row_t *next,
                            float *shifted) {
  float *lane = ste->lane, r = 0;
  const float lift = ste->rules.lift;
  if (step->sets & SETS_NZ) {
    r += lift * lane[VCS_STE_N];
    if (lane[VCS_STE_Z] != 0 && result_of(step, row, next) <= 1) r += ste->rules.zero * lane[VCS_STE_Z];
    lane[VCS_STE_N] = lane[VCS_STE_Z] = 0;
  }
  if (step->sets & (SETS_C | SHIFTS_M | SHIFTS_A)) {
    float c = lift * lane[VCS_STE_C];
    lane[VCS_STE_C] = 0;
    if (step->sets & SETS_C) {
      r += c;
    } else {
      *shifted = c;
    }
  }
  return r;
}

/* Walking forwards: the flags from r and from the bit that is shifted out. */
VCS_HOT_FN void put_flags(vcs_ste_t *ste, const step_t *step, const vcs_row_t *row, const vcs_row_t *next, float r,
                          float shifted) {
  float *lane = ste->lane;
  if (step->sets & SETS_NZ) {
    lane[VCS_STE_N] = ste->rules.lift * r;
    lane[VCS_STE_Z] = r != 0 && result_of(step, row, next) <= 1 ? ste->rules.zero * r : 0;
  }
  if (step->sets & SETS_C) lane[VCS_STE_C] = ste->rules.lift * r;
  if (step->sets & (SHIFTS_M | SHIFTS_A)) lane[VCS_STE_C] = shifted;
}

VCS_STATIC void clear_flags(vcs_ste_t *ste, unsigned sets) {
  if (sets & CLEARS_V) ste->lane[VCS_STE_V] = 0;
  if (sets & CLEARS_D) ste->lane[VCS_STE_D] = 0;
  if (sets & CLEARS_I) ste->lane[VCS_STE_I] = 0;
}

/* Walking backwards: the step's inputs get their shares. */
VCS_HOT_FN void give(vcs_ste_t *ste, const step_t *step, const vcs_row_t *row, float r, float shifted) {
  float *lane = ste->lane, w[VCS_STE_INPUTS];
  if (VCS_LIKELY(step->from < VCS_STE_INPUTS && step->kind == PLAIN)) {
    lane[step->from] += step->weights[step->from] * r + shifted;
    ste->has_adjoint |= 1u << step->from;
    return;
  }
  memcpy(w, step->weights, sizeof w);
  weigh(ste, step, row, w);
  for (int i = 0; i < VCS_STE_INPUTS; i++) lane[i] += w[i] * r;
  ste->has_adjoint |= (1u << VCS_STE_INPUTS) - 1;
  lane[step->sets & SHIFTS_M ? VCS_STE_M : VCS_STE_A] += shifted;
}

/* Walking forwards: r. */
VCS_HOT_FN float gather(const vcs_ste_t *ste, const step_t *step, const vcs_row_t *row) {
  float w[VCS_STE_INPUTS], r = 0;
  memcpy(w, step->weights, sizeof w);
  weigh(ste, step, row, w);
  for (int i = 0; i < VCS_STE_INPUTS; i++) r += w[i] * ste->lane[i];
  return faded(r) ? 0 : r;
}

VCS_HOT_FN void take_step(vcs_ste_t *ste, unsigned index, const vcs_row_t *row, const vcs_row_t *next, bool reverse) {
  const step_t *step = &steps[index];
  float *lane = ste->lane, r, shifted = 0;
  if (VCS_UNLIKELY(step->kind >= BIT)) {
    if (step->kind == BIT) test_bits(ste, step, row, next);
    if (step->kind == PHP) push_flags(ste);
    if (step->kind == PLP) pull_flags(ste);
    return;
  }
  if (step->sets >= CLEARS_V) clear_flags(ste, step->sets);
  if (reverse) {
    r = lane[step->to];
    lane[step->to] = 0;
    for (unsigned also = step->also; VCS_UNLIKELY(also); also &= also - 1) {
      r += lane[VCS_LOWEST(also)];
      lane[VCS_LOWEST(also)] = 0;
    }
    if (step->sets) r += take_flags(ste, step, row, next, &shifted);
    if (!faded(r) || !faded(shifted)) give(ste, step, row, r, shifted);
  } else {
    r = gather(ste, step, row);
    if (step->sets & (SHIFTS_M | SHIFTS_A))
      shifted = ste->rules.lift * lane[step->sets & SHIFTS_M ? VCS_STE_M : VCS_STE_A];
    lane[step->to] = r;
    for (unsigned also = step->also; also; also &= also - 1) lane[VCS_LOWEST(also)] = r;
    if (step->sets) put_flags(ste, step, row, next, r, faded(shifted) ? 0 : shifted);
  }
}

/* ---- The byte on the bus ------------------------------------------------------------------------------------------
 */

/* Where a byte of RAM, of the cartridge's RAM or of ROM is: at `offset` in the state, or at `place` in the image. */
typedef struct {
  int32_t offset, place; /* -1: it is not there */
} cell_t;

VCS_HOT_FN cell_t cell_read(const vcs_ste_t *ste, uint16_t addr) {
  cell_t cell = {-1, -1};
  if (VCS_LIKELY((addr & 0x1280) == 0x80)) {
    cell.offset = (int32_t)VCS_OFFSET(ram) + (addr & 0x7F);
  } else if (addr & 0x1000) {
    int32_t place = vcs_cart_read_place(ste->s->cart, ste->side, addr);
    if (place >= 0) {
      cell.place = place;
    } else if (place != VCS_CART_REGISTER) {
      cell.offset = (int32_t)VCS_OFFSET(cart_ram) + ~place;
    }
  }
  return cell;
}

VCS_HOT_FN int32_t offset_written(const vcs_ste_t *ste, uint16_t addr) {
  return vcs_written_at(ste->s->cart, ste->side, addr);
}

/* forward: *out += weight * the cell */
VCS_HOT_FN void link_cell(const vcs_ste_t *ste, cell_t cell, float *out, float weight) {
  const vcs_sweep_t *s = ste->s;
  if (cell.offset >= 0) {
    vcs_link(s, vcs_slots(s, (size_t)cell.offset), out, weight);
  } else if (cell.place >= 0 && s->rom) {
    float *bits = s->rom + 8 * (size_t)cell.place, sum = 0;
    if (s->reverse) {
      for (int i = 0; i < 8; i++) bits[i] += (float)(1 << i) * weight * *out;
    } else {
      for (int i = 0; i < 8; i++) sum += (float)(1 << i) * bits[i];
      *out += weight * sum;
    }
  }
}

/* The softened read's slope along the address: neighbours weighted by distance, in the same array. */
VCS_STATIC float read_slope(const vcs_ste_t *ste, cell_t cell) {
  enum { REACH = 4 };
  const vcs_cart_t *cart = ste->s->cart;
  const uint8_t *bytes = cell.place >= 0 ? cart->rom : ste->s->m->ram;
  int32_t at = cell.place, size = (int32_t)cart->rom_size;
  if (cell.offset >= (int32_t)VCS_OFFSET(cart_ram)) {
    bytes = ste->s->m->cart_ram;
    at = cell.offset - (int32_t)VCS_OFFSET(cart_ram);
    size = vcs_scheme_row(cart->scheme)->ram_size;
  } else if (cell.offset >= 0) {
    at = cell.offset - (int32_t)VCS_OFFSET(ram);
    size = (int32_t)sizeof ste->s->m->ram;
  }
  const float temperature = ste->rules.temperature;
  float sum = 0, slope = 0;
  for (int k = -REACH; k <= REACH; k++) {
    if (at + k < 0 || at + k >= size) continue;
    float weight = expf(-(float)(k < 0 ? -k : k) / temperature);
    sum += weight;
    if (k) slope += (k < 0 ? -weight : weight) * (float)bytes[at + k];
  }
  return slope / (sum * temperature);
}

/* forward: M += slope * address: index, pointer and stack pointer */
VCS_STATIC void link_address(vcs_ste_t *ste, const vcs_row_t *row, cell_t cell) {
  float *m = &ste->lane[VCS_STE_M];
  unsigned mode = recipes[row->opcode].mode;
  if (mode == VCS_MODE_IMM || (cell.offset < 0 && cell.place < 0)) return;
  float slope = read_slope(ste, cell);
  switch (mode) {
    case VCS_MODE_IMP: /* PLA, PLP */
      vcs_link(ste->s, &ste->lane[VCS_STE_S], m, slope);
      return;
    case VCS_MODE_ZPX:
    case VCS_MODE_ABX:
      vcs_link(ste->s, &ste->lane[VCS_STE_X], m, slope);
      return;
    case VCS_MODE_ZPY:
    case VCS_MODE_ABY:
      vcs_link(ste->s, &ste->lane[VCS_STE_Y], m, slope);
      return;
    case VCS_MODE_IZX:
    case VCS_MODE_IZY: {
      cell_t operand = cell_read(ste, (uint16_t)(row->pc + 1));
      if (operand.place < 0) return;
      uint8_t pointer = ste->s->cart->rom[operand.place];
      if (mode == VCS_MODE_IZX) {
        pointer = (uint8_t)(pointer + row->x);
      } else {
        vcs_link(ste->s, &ste->lane[VCS_STE_Y], m, slope);
      }
      link_cell(ste, cell_read(ste, pointer), m, slope);
      link_cell(ste, cell_read(ste, (uint16_t)(pointer + 1)), m, 256 * slope);
      return;
    }
    default:
      return;
  }
}

/* forward: M = the byte at the row's address */
VCS_HOT_FN void link_read(vcs_ste_t *ste, const vcs_row_t *row, bool reverse) {
  float *m = &ste->lane[VCS_STE_M];
  if (reverse && *m == 0) return;
  if (!reverse) *m = 0;
  bool immediate = recipes[row->opcode].mode == VCS_MODE_IMM;
  uint16_t addr = immediate ? (uint16_t)(row->pc + 1) : row->addr;
  if ((addr & 0x1280) == 0x80 || addr & 0x1000) {
    cell_t cell = cell_read(ste, addr);
    link_cell(ste, cell, m, 1);
    if (ste->rules.temperature > 0) link_address(ste, row, cell);
  } else if (!immediate) {
    vcs_ste_chip_read(ste, row);
  }
  if (reverse) *m = 0;
}

/* forward: the byte at the row's address = M */
VCS_HOT_FN void link_write(vcs_ste_t *ste, const vcs_row_t *row, const vcs_event_t *event, bool reverse) {
  float *m = &ste->lane[VCS_STE_M];
  int32_t offset = offset_written(ste, row->addr);
  if (reverse) *m = 0;
  if (offset >= 0) {
    float *cell = vcs_slots(ste->s, (size_t)offset);
    if (reverse) {
      *m = *cell;
      *cell = 0;
    } else {
      *cell = *m;
    }
  } else if (event) {
    vcs_ste_tia_write(ste, event);
  } else if (vcs_chip_at(row->addr) == VCS_TO_RIOT) {
    vcs_ste_riot_write(ste, row->addr);
  }
  if (!reverse) *m = 0;
}

/* Return addresses on the stack are constants. */
VCS_STATIC void forget_stack(const vcs_ste_t *ste, uint8_t sp, int count) {
  for (int i = 0; i < count; i++) {
    int32_t offset = offset_written(ste, (uint16_t)(0x100 + (uint8_t)(sp - i)));
    if (offset >= 0) *vcs_slots(ste->s, (size_t)offset) = 0;
  }
}

/* forward: time += cycles that the branch costs * its gate, along its flag */
VCS_STATIC void link_branch(vcs_ste_t *ste, const vcs_row_t *row, const vcs_row_t *next) {
  float *flag = &ste->lane[branch_lanes[row->opcode >> 6]];
  if (faded(ste->s->reverse ? *ste->time : *flag)) return;
  uint16_t behind = (uint16_t)(row->pc + 2), target = next->pc;
  if (next->pc == behind) { /* not taken: where it would have gone */
    cell_t operand = cell_read(ste, (uint16_t)(row->pc + 1));
    if (operand.place >= 0) target = (uint16_t)(behind + (int8_t)ste->s->cart->rom[operand.place]);
  }
  float cost = (behind ^ target) & 0xFF00 ? 2 : 1;
  ste->has_adjoint |= 1u << branch_lanes[row->opcode >> 6];
  vcs_link(ste->s, flag, ste->time, vcs_branch_if_set(row->opcode) ? cost * ste->rules.gate : -cost * ste->rules.gate);
}

/* ---- A frame ------------------------------------------------------------------------------------------------------
 */

/* With softened reads, which look at memory, its contents follow the walk: applied forwards, undone backwards. */
VCS_STATIC void keep_contents(const vcs_ste_t *ste, const vcs_row_t *row, bool reverse) {
  const vcs_sweep_t *s = ste->s;
  const vcs_applied_t at = {s->tape, s->cart, ste->side, row, s->snapshot};
  if (reverse) {
    vcs_row_undo(&at, s->m);
  } else {
    vcs_row_apply(&at, s->m);
  }
}

VCS_HOT_FN void take_steps(vcs_ste_t *ste, const recipe_t *recipe, const vcs_row_t *row, const vcs_row_t *next,
                           bool reverse) {
  if (VCS_UNLIKELY(recipe->second) && reverse) take_step(ste, recipe->second, row, next, reverse);
  if (recipe->first) take_step(ste, recipe->first, row, next, reverse);
  if (VCS_UNLIKELY(recipe->second) && !reverse) take_step(ste, recipe->second, row, next, reverse);
}

VCS_HOT_FN void walk_row(vcs_ste_t *ste, const vcs_row_t *row, const vcs_row_t *next, const vcs_event_t *event,
                         bool reverse) {
  const recipe_t *recipe = &recipes[row->opcode];
  const bus_t bus = (bus_t)recipe->bus;
  const unsigned had_adjoint = ste->has_adjoint;
  if (reverse && ste->rules.temperature == 0) ste->has_adjoint &= ~(unsigned)recipe->sets;
  switch (bus) {
    case DOES_NOTHING:
      if (ste->rules.temperature > 0 && row->opcode == VCS_OPAQUE) keep_contents(ste, row, reverse);
      take_steps(ste, recipe, row, next, reverse);
      return;
    case DOES_BRANCH:
      link_branch(ste, row, next);
      return;
    case DOES_READ:
      if (!reverse) link_read(ste, row, false);
      take_steps(ste, recipe, row, next, reverse);
      if (reverse) link_read(ste, row, true);
      return;
    case DOES_JSR:
    case DOES_BRK:
      if (ste->rules.temperature > 0) keep_contents(ste, row, reverse);
      forget_stack(ste, row->sp, bus == DOES_JSR ? 2 : 3);
      take_steps(ste, recipe, row, next, reverse);
      return;
    default:
      if (reverse) {
        if (ste->rules.temperature > 0) keep_contents(ste, row, true);
        link_write(ste, row, event, true);
        if (ste->lane[VCS_STE_M] == 0 && !(had_adjoint & recipe->sets)) return;
      } else if (bus == DOES_MODIFY) {
        link_read(ste, row, false);
      }
      take_steps(ste, recipe, row, next, reverse);
      if (!reverse) {
        link_write(ste, row, event, false);
        if (ste->rules.temperature > 0) keep_contents(ste, row, false);
      } else if (bus == DOES_MODIFY) {
        link_read(ste, row, true);
      }
      return;
  }
}

/* The machine at a row that has a snapshot; banks and ports are the same since the one before. */
VCS_STATIC void look_at_snapshot(vcs_ste_t *ste, int32_t side) {
  ste->s->snapshot = side;
  ste->side = (const vcs_t *)ste->s->tape->snapshots[side].machine;
}

/* A row for what comes behind the last one. */
VCS_STATIC vcs_row_t end_of(const vcs_tape_t *tape) {
  const vcs_t *m = (const vcs_t *)tape->snapshots[tape->snapshot_count - 1].machine;
  vcs_row_t end = {.pc = m->pc, .a = m->a, .x = m->x, .y = m->y};
  return end;
}

VCS_STATIC void walk_forwards(vcs_ste_t *ste) {
  const vcs_tape_t *tape = ste->s->tape;
  const vcs_row_t end = end_of(tape), *row = tape->rows;
  const vcs_event_t *event = tape->events, *last = event + tape->event_count - 1;
  int32_t snapshot_row = tape->snapshots[0].row;
  look_at_snapshot(ste, 0);
  for (int32_t i = 0; i < tape->count; i++, row++) {
    const vcs_row_t *next = i + 1 < tape->count ? row + 1 : &end;
    const vcs_event_t *written = NULL;
    while (snapshot_row < i) {
      look_at_snapshot(ste, ste->s->snapshot + 1);
      snapshot_row = tape->snapshots[ste->s->snapshot].row;
    }
    if (event->row == i && event < last) {
      if (event->reg < VCS_EVENT_READ) written = event;
      vcs_ste_span(ste, event);
      vcs_ste_shift(ste, event);
      event++;
    }
    walk_row(ste, row, next, written, false);
  }
  vcs_ste_span(ste, event);
}

/* Whether a row without an event does nothing to any adjoint; ste->has_adjoint is what it leaves if it does. */
VCS_HOT_FN bool passes(const vcs_ste_t *ste, const vcs_row_t *row, const recipe_t *recipe) {
  const bus_t bus = (bus_t)recipe->bus;
  if (bus == DOES_BRANCH) return faded(*ste->time);
  if (bus > DOES_MODIFY || ste->has_adjoint & recipe->sets) return false;
  return bus <= DOES_READ ||
         ((row->addr & 0x1280) == 0x80 && *vcs_slots(ste->s, VCS_OFFSET(ram) + (row->addr & 0x7F)) == 0);
}

VCS_STATIC void walk_backwards(vcs_ste_t *ste) {
  const vcs_tape_t *tape = ste->s->tape;
  const vcs_row_t end = end_of(tape);
  VCS_ROW_HERE(row);
  VCS_ROW_HERE(next);
  VCS_ROW_LOAD(next, &end);
  const vcs_event_t *event = tape->events + tape->event_count - 1;
  int32_t side = tape->snapshot_count - 1, snapshot_row = side ? tape->snapshots[side - 1].row : -1, event_row;
  const bool hard = ste->rules.temperature == 0; /* else contents have to follow */
  look_at_snapshot(ste, side);
  ste->has_adjoint = (1u << VCS_STE_LANES) - 1;
  vcs_ste_span(ste, event--);
  event_row = event >= tape->events ? event->row : -1;
  for (int32_t i = tape->count - 1; i >= 0; i--) {
    VCS_ROW_LOAD(row, &tape->rows[i]);
    const recipe_t *recipe = &recipes[row->opcode];
    if (event_row != i && hard && passes(ste, row, recipe)) {
      VCS_ROW_MOVE(next, row);
      continue;
    }
    while (snapshot_row >= i) {
      look_at_snapshot(ste, --side);
      snapshot_row = side ? tape->snapshots[side - 1].row : -1;
    }
    if (event_row == i) {
      walk_row(ste, row, next, event->reg < VCS_EVENT_READ ? event : NULL, true);
      if (event[1].to > ste->s->lit_from) { /* else nothing above here is lit */
        vcs_ste_shift(ste, event);
        vcs_ste_span(ste, event);
      }
      event--;
      event_row = event >= tape->events ? event->row : -1;
    } else {
      walk_row(ste, row, next, NULL, true);
    }
    VCS_ROW_MOVE(next, row);
  }
}

/* The lanes and their slots in the state. */
VCS_STATIC float *lane_slot(const vcs_sweep_t *s, int lane) {
  static const uint16_t offsets[] = {VCS_OFFSET(a), VCS_OFFSET(x), VCS_OFFSET(y), VCS_OFFSET(sp)};
  return vcs_slots(s, offsets[lane]);
}

VCS_STATIC void load_lanes(vcs_ste_t *ste) {
  for (int i = VCS_STE_A; i <= VCS_STE_S; i++) ste->lane[i] = *lane_slot(ste->s, i);
  for (int i = 0; i < FLAGS; i++) ste->lane[flags[i].lane] = vcs_slots(ste->s, VCS_OFFSET(p))[flags[i].bit];
}

VCS_STATIC void store_lanes(const vcs_ste_t *ste) {
  for (int i = VCS_STE_A; i <= VCS_STE_S; i++) *lane_slot(ste->s, i) = ste->lane[i];
  for (int i = 0; i < FLAGS; i++) vcs_slots(ste->s, VCS_OFFSET(p))[flags[i].bit] = ste->lane[flags[i].lane];
}

VCS_EXTERN void vcs_ste_frame(vcs_sweep_t *s, const vcs_grad_options_t *options) {
  vcs_ste_t ste;
  memset(&ste, 0, sizeof ste);
  ste.s = s;
  ste.rules = vcs_ste_rules(options->method, options->alpha, options->temperature);
  ste.time = vcs_slots(s, VCS_OFFSET(cycles));
  load_lanes(&ste);
  vcs_ste_line_begin(&ste);
  if (s->reverse) {
    walk_backwards(&ste);
  } else {
    walk_forwards(&ste);
  }
  store_lanes(&ste);
}

/* ---- Bits and numbers ---------------------------------------------------------------------------------------------
 */

/* How the slots of a field's bytes are one number. A change of the number is spread evenly over its bits. */
typedef enum { WHOLE_BYTE, LOW_NIBBLE, BIT_0, BIT_1, BIT_3, EVERY_BIT, NUMBER } form_t;

/* What carries a derivative, in the order of the state. All else is a constant here. */
VCS_DATA struct {
  uint16_t offset, bytes;
  form_t form;
} carriers[] = {
    {VCS_OFFSET(cycles), 1, NUMBER},      {VCS_OFFSET(dump_cycle), 1, NUMBER},
    {VCS_OFFSET(timer_cycle), 1, NUMBER}, {VCS_OFFSET(paddle), 1, NUMBER},
    {VCS_OFFSET(paddle) + 4, 1, NUMBER},  {VCS_OFFSET(paddle) + 8, 1, NUMBER},
    {VCS_OFFSET(paddle) + 12, 1, NUMBER}, {VCS_OFFSET(collisions), 2, EVERY_BIT},
    {VCS_OFFSET(a), 4, WHOLE_BYTE}, /* and X, Y, S */
    {VCS_OFFSET(p), 1, EVERY_BIT},        {VCS_OFFSET(ram), 128, WHOLE_BYTE},
    {VCS_OFFSET(timer), 1, WHOLE_BYTE},   {VCS_OFFSET(ddra), 1, WHOLE_BYTE},
    {VCS_OFFSET(swcha), 2, EVERY_BIT},                                        /* and SWCHB */
    {VCS_OFFSET(fire), 2, BIT_0},         {VCS_OFFSET(vsync), 9, WHOLE_BYTE}, /* VBLANK, NUSIZx, COLUxx, CTRLPF */
    {VCS_OFFSET(reflect), 2, BIT_3},      {VCS_OFFSET(pf), 7, WHOLE_BYTE},    /* GRPx, new and old */
    {VCS_OFFSET(enam), 4, BIT_1},                                             /* ENABL, new and old */
    {VCS_OFFSET(hm), 5, LOW_NIBBLE},      {VCS_OFFSET(vdelp), 3, BIT_0},      /* VDELBL */
    {VCS_OFFSET(resmp), 2, BIT_1},        {VCS_OFFSET(pos), 5, NUMBER},
    {VCS_OFFSET(audio), 6, WHOLE_BYTE},   {VCS_OFFSET(cart_ram), VCS_CART_RAM_MAX, WHOLE_BYTE},
};

/* The weights of the eight bits in the number, and of the number in each of them. */
VCS_DATA struct {
  float weight[8], share;
} forms[] = {
    [WHOLE_BYTE] = {{1, 2, 4, 8, 16, 32, 64, 128}, 1.0F / 255},
    [LOW_NIBBLE] = {{1, 2, 4, 8}, 1.0F / 15},
    [BIT_0] = {{1}, 1},
    [BIT_1] = {{0, 1}, 1},
    [BIT_3] = {{0, 0, 0, 1}, 1},
};

/* Tangents go from bits to numbers by weight and back by share; adjoints the other way round. */
VCS_STATIC float bit_factor(form_t form, int bit, bool by_weight) {
  float weight = forms[form].weight[bit];
  return by_weight ? weight : weight != 0 ? forms[form].share : 0;
}

VCS_STATIC void fold_byte(float *slots, form_t form, bool by_weight) {
  float sum = 0;
  for (int bit = 0; bit < 8; bit++) {
    sum += bit_factor(form, bit, by_weight) * slots[bit];
    slots[bit] = 0;
  }
  *slots = sum;
}

VCS_STATIC void unfold_byte(float *slots, form_t form, bool by_weight) {
  float number = *slots;
  for (int bit = 0; bit < 8; bit++) slots[bit] = bit_factor(form, bit, by_weight) * number;
}

/* No derivative from one byte of the state up to another. */
VCS_STATIC void clear_bytes(const vcs_sweep_t *s, size_t from, size_t to) {
  memset(vcs_slots(s, from), 0, VCS_SLOTS * (to - from) * sizeof(float));
}

VCS_STATIC void convert(vcs_sweep_t *s, size_t size, bool folds, bool by_weight) {
  size_t done = 0;
  for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++) {
    size_t from = carriers[i].offset, to = from + carriers[i].bytes;
    form_t form = carriers[i].form;
    if (to > size) to = size;
    clear_bytes(s, done, from);
    for (size_t offset = from; offset < to; offset++) {
      float *slots = vcs_slots(s, offset);
      if (form == NUMBER) memset(slots + 1, 0, 7 * sizeof *slots);
      if (VCS_SLOTS > 8) memset(slots + 8, 0, (VCS_SLOTS - 8) * sizeof *slots);
      if (form >= EVERY_BIT) continue;
      if (folds) {
        fold_byte(slots, form, by_weight);
      } else {
        unfold_byte(slots, form, by_weight);
      }
    }
    done = to;
  }
  clear_bytes(s, done, size);
}

VCS_EXTERN void vcs_ste_fold(vcs_sweep_t *s, size_t size) { convert(s, size, true, !s->reverse); }
VCS_EXTERN void vcs_ste_unfold(vcs_sweep_t *s, size_t size) { convert(s, size, false, s->reverse); }
