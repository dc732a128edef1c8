/* native.c: the program of a cartridge as code of the host.
 *
 * The hot loop (core/run.h) takes about eight host instructions for one of the 6507, three of them to get to the next
 * row, and more to read an operand that never changes. This file compiles the instructions to x86-64 code after the
 * cartridge has run for some frames. A, X, Y and the time are in host registers; everything that follows from the bytes
 * of the program is computed once, when it is compiled:
 *
 *     loop: LDA table,Y       mov   rdx, ROM + table        the byte is a plain load
 *                             movzx r13d, byte [rdx + r15]
 *           STA GRP0          lea   r12, [r12 + time]       the time of both instructions in one addition
 *                             cmp   r12, [wake]
 *                             jae   call GRP0               out of line
 *                             ...                           no change: the store is noted (core/tia_asleep.h)
 *           DEY               dec   r15b
 *           BPL loop          js    on                      the flags of the host are those of DEY
 *                             lea   r12, [r12 + time]
 *                             cmp   r12, [limit]
 *                             jae   leave
 *                             jmp   loop
 *
 * Units. An instruction that has no code yet is compiled as a unit with all instructions that branches, jumps and calls
 * can reach from it in its bank. A first pass finds where code can be entered (`entered`); a second pass writes the
 * code. All code of a cartridge is in one mapping; a unit gets whole pages, which are written first and executable from
 * then on, never both. Returns, jumps through pointers and the loop in asleep.c look up code in a table that has an
 * entry for each byte of a bank. A bank that is mapped at another address has another table, because calls push
 * addresses.
 *
 * State. At an entry the time is exact, and the flags are in memory (vcs_cpu_t). Between entries the compiler keeps
 * track of state that is not stored (known_t):
 *   pending cycles of executed instructions that are not added to the time yet nz N and Z are those of A, X or Y, or in
 *   memory, or only in the flags of the host, for a branch that follows c C is known to be 0 or 1 and not stored, in
 *   memory, or only in the flags of the host binary D is known to be clear
 * So a flag that is set again before it is needed is never computed. A flag is needed by instructions that read it, and
 * by those at which code can be left (`needed`).
 *
 * Leaving. Code is left before an instruction that is not compiled (VCS_ROW_STEP of core/decode.h, decimal arithmetic,
 * a call with a stack outside RAM), which core/cpu.h executes. Code is also left after an access that ended the frame
 * or may have switched banks, by jumps and returns to another bank, and at a jump backwards when the allowance of
 * instructions may be used up (run.h). When code is left, all registers and flags are stored. Reads and writes of
 * chips, and stores to the TIA that change something, are calls.
 *
 * Code is never changed. Code in RAM or at hot spots is not decoded, so it is not compiled; a cartridge whose bytes are
 * changed is a copy with another image, and is interpreted (vcs_native_ready).
 *
 * tests/test_native.c compares every opcode and programs with core/cpu.h.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define VCS_TIA_ASLEEP
#include "core/tia.h"
#include "host/native.h"

#include <stdlib.h>

#if VCS_NATIVE

#include <sys/mman.h>
#include <unistd.h>

#include "host/native_flow.h"

enum {
  CODE_MOST = 640 << 10,   /* bytes of code of a cartridge */
  TABLES_MOST = 256 << 10, /* bytes of its tables of entries */
  FRAMES_BEFORE = 30       /* frames that are interpreted before code is compiled */
};

/* ---- Units ---------------------------------------------------------------------------------------------------- */

/* Makes an instruction an entry of the unit, or uses the code that the instruction has already. */
static void enter_at(unit_t *u, uint32_t at) {
  if (at >= u->size || u->entered[at]) return;
  u->entered[at] = true;
  if (atomic_load_explicit(&u->place->entry[at], memory_order_relaxed)) {
    u->label[at] = atomic_load_explicit(&u->place->entry[at], memory_order_relaxed);
  } else {
    u->entry[u->entries++] = (uint16_t)at;
  }
}

/* Finds the entries of the instructions from `at` on. */
static void find_entries(unit_t *u, uint32_t at) {
  while (at < u->size && !u->seen[at] && !u->label[at]) {
    const instruction_t i = instruction_at(u, at);
    u->seen[at] = true;
    switch (i.fact.access) {
      case VCS_ACCESS_BRANCH:
        if (!is_step(&i)) enter_at(u, branch_target(&i, at));
        break;
      case VCS_ACCESS_JUMP:
        if (i.fact.mode == VCS_MODE_ABS && !is_step(&i)) enter_at(u, jump_target(u, &i));
        return;
      case VCS_ACCESS_STACK:
        if (i.fact.operation == DO_JSR) {
          if (!is_step(&i)) enter_at(u, jump_target(u, &i));
          enter_at(u, at + 3);
        }
        if (i.fact.operation == DO_JSR || i.fact.operation == DO_RTS || i.fact.operation == DO_RTI ||
            i.fact.operation == DO_BRK) {
          return;
        }
        break;
      default:
        if (i.fact.operation == DO_JAM) return;
        break;
    }
    at += i.length;
    if (is_step(&i)) enter_at(u, at);
  }
}

/* Writes the instructions from an entry on. */
static void write_from(unit_t *u, uint32_t at) {
  x86_t *x = &u->x;
  bool first = true, goes_on = true;
  forget(u);
  while (goes_on) {
    if (at >= u->size) { /* cannot happen: no decoded instruction ends here */
      leave_by(u, x86_jump(x), &u->known, pc_of(u, at), VCS_NATIVE_STEP);
      return;
    }
    if (!first && u->entered[at]) {
      if (u->label[at]) {
        go_to(u, at, false);
        return;
      }
      settle_time(u);
      settle_flags(u, needed(u, at, VCS_OF_NZC));
      forget(u);
    }
    if (u->entered[at]) u->label[at] = (uint32_t)x->used;
    first = false;
    const instruction_t i = instruction_at(u, at);
    if (is_step(&i)) {
      leave_by(u, x86_jump(x), &u->known, pc_of(u, at), VCS_NATIVE_STEP);
      return;
    }
    switch (i.fact.access) {
      case VCS_ACCESS_IMPLIED:
        u->known.pending += (uint32_t)VCS_COST(i.fact.cycles);
        do_implied(u, i.fact.operation, at + i.length);
        break;
      case VCS_ACCESS_READ:
        do_read_instruction(u, &i, at);
        break;
      case VCS_ACCESS_WRITE:
        do_write_instruction(u, &i, at);
        break;
      case VCS_ACCESS_MODIFY:
        do_modify_instruction(u, &i, at);
        break;
      case VCS_ACCESS_STACK:
        goes_on = do_stack(u, &i, at);
        break;
      case VCS_ACCESS_JUMP:
        goes_on = do_jump(u, &i, at);
        break;
      default:
        goes_on = do_branch(u, &i, at);
        break;
    }
    at += i.length;
  }
}

/* Writes the code that leaves the unit: it stores the time, flags and program counter. */
static void write_exit(unit_t *u, const exit_t *e) {
  x86_t *x = &u->x;
  x86_land(x, e->jump, x->used);
  u->known = e->known;
  if (e->how == RETURN) u->known.pending += (uint32_t)VCS_COST(facts[VCS_RTS].cycles);
  settle_time(u);
  settle_flags(u, VCS_OF_NZC);
  if (e->how == RETURN) {
    x86_load(x, 64, RSI, x86_register(TIME));
    CALL(u, return_elsewhere);
  } else {
    x86_store_constant(x, 16, IN_RUN(cpu.pc), e->pc);
  }
  x86_load_constant(x, RAX, e->how);
  x86_land(x, x86_jump(x), u->native->leave);
}

/* Writes the function by which code is entered, with its address in RSI, and left. */
static void write_frame(unit_t *u) {
  static const int kept[] = {RBX, RBP, R12, R13, R14, R15};
  x86_t *x = &u->x;
  for (int i = 0; i < 6; i++) x86_push(x, kept[i]);
  x86_do_constant(x, 64, X86_SUB, x86_register(RSP), 8);
  x86_load(x, 64, RUN, x86_register(RDI));
  x86_load(x, 64, M, IN_RUN(m));
  x86_load(x, 64, TIME, IN_RUN(cpu.time));
  x86_load_short(x, 8, A, IN_RUN(cpu.a));
  x86_load_short(x, 8, X, IN_RUN(cpu.x));
  x86_load_short(x, 8, Y, IN_RUN(cpu.y));
  x86_jump_register(x, RSI);
  u->native->leave = x->used;
  x86_store(x, 64, IN_RUN(cpu.time), TIME);
  x86_store(x, 8, IN_RUN(cpu.a), A);
  x86_store(x, 8, IN_RUN(cpu.x), X);
  x86_store(x, 8, IN_RUN(cpu.y), Y);
  x86_do_constant(x, 64, X86_ADD, x86_register(RSP), 8);
  for (int i = 5; i >= 0; i--) x86_pop(x, kept[i]);
  x86_return(x);
}

/* Whether an instruction may have an entry in the table. A return to it reads the byte before it, which must have no
 * effect.
 */
static bool is_entry(const place_t *place, const vcs_code_t *code, uint16_t at) {
  const uint16_t row = code[place->base + at].row;
  return row != VCS_ROW_STEP && row != VCS_ROW_HOT && (at == 0 || code[place->base + at - 1].row != VCS_ROW_HOT);
}

/* Compiles what can be reached from an instruction. Returns false if there is no room. */
static bool compile(vcs_native_t *native, const place_t *place, uint32_t at) {
  unit_t *u = malloc(sizeof *u);
  if (!u) return false;
  memset(u, 0, offsetof(unit_t, entry));
  u->native = native;
  u->cart = native->cart;
  u->place = place;
  u->size = native->bank_size;
  u->x = (x86_t){.begin = native->pages, .used = native->used, .size = CODE_MOST};
  if (native->used == 0) write_frame(u);
  enter_at(u, at);
  for (int i = 0; i < u->entries; i++) find_entries(u, u->entry[i]);
  for (int i = 0; i < u->entries; i++) {
    if (!u->label[u->entry[i]]) write_from(u, u->entry[i]);
  }
  for (int i = 0; i < u->calls; i++) write_call(u, &u->call[i]);
  for (int i = 0; i < u->exits; i++) write_exit(u, &u->exit[i]);
  for (int i = 0; i < u->links; i++) x86_land(&u->x, u->link[i].jump, u->label[u->link[i].to]);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (u->x.used + page - 1) & ~(page - 1);
  const bool done =
      !u->x.full && mprotect(native->pages + native->used, end - native->used, PROT_READ | PROT_EXEC) == 0;
  if (done) {
    native->used = end;
    for (int i = 0; i < u->entries; i++) {
      const uint16_t entry = u->entry[i];
      if (!is_entry(place, native->code, entry)) continue;
      atomic_store_explicit(&place->entry[entry], (uint32_t)u->label[entry], memory_order_release);
    }
  }
  free(u);
  return done;
}

/* ---- Cartridges ----------------------------------------------------------------------------------------------- */

static atomic_int chosen_frames = -2;

void vcs_native_after(int frames) { atomic_store(&chosen_frames, frames < 0 ? -1 : frames); }

static int frames_before(void) {
  const int chosen = atomic_load(&chosen_frames);
  if (chosen > -2) return chosen;
  const char *variable = getenv("DIFFVCS_NATIVE");
  return !variable || !*variable ? FRAMES_BEFORE : atoi(variable);
}

vcs_native_t *vcs_native_create(const vcs_cart_t *cart) {
  const int frames = frames_before();
  if (frames < 0 || cart->snoops || !cart->code) return NULL;
  vcs_native_t *native = calloc(1, sizeof *native);
  if (!native) return NULL;
  if (pthread_mutex_init(&native->lock, NULL) != 0) {
    free(native);
    return NULL;
  }
  native->cart = cart;
  native->rom = cart->rom;
  native->code = cart->code;
  native->bank_size = vcs_scheme_row(cart->scheme)->bank_size;
  native->frames_before = frames;
  return native;
}

void vcs_native_free(vcs_native_t *native) {
  if (!native) return;
  for (int i = 0; i < native->places; i++) free(native->place[i].entry);
  if (native->pages) munmap(native->pages, CODE_MOST);
  pthread_mutex_destroy(&native->lock);
  free(native);
}

size_t vcs_native_size(const vcs_native_t *native) {
  return native && native->used && !atomic_load(&native->full) ? native->used + native->tables : 0;
}

bool vcs_native_ready(vcs_native_t *native, const vcs_cart_t *cart) {
  if (!native || cart->rom != native->rom || cart->code != native->code) return false;
  if (cart->colour_loss != native->cart->colour_loss || cart->passive_ports != native->cart->passive_ports)
    return false;
  if (atomic_load_explicit(&native->frames, memory_order_relaxed) < native->frames_before) {
    atomic_fetch_add_explicit(&native->frames, 1, memory_order_relaxed);
    return false;
  }
  return !atomic_load_explicit(&native->full, memory_order_relaxed);
}

/* Returns the table of a bank that is mapped at an address, or NULL. Any thread may call it without the lock. */
static const place_t *find_place(vcs_native_t *native, uint32_t base, uint16_t start) {
  atomic_uchar *recent = &native->recent[(base >> 10 ^ start >> 8) & 31];
  const int guess = atomic_load_explicit(recent, memory_order_relaxed);
  const int places = atomic_load_explicit(&native->places, memory_order_acquire);
  for (int k = -1; k < places; k++) {
    const int i = k < 0 ? guess : k;
    if (i >= places || native->place[i].base != base || native->place[i].start != start) continue;
    if (i != guess) atomic_store_explicit(recent, (unsigned char)i, memory_order_relaxed);
    return &native->place[i];
  }
  return NULL;
}

/* Adds the table of a bank that is mapped at an address, under the lock. NULL: there is no memory or no room. */
static const place_t *make_place(vcs_native_t *native, uint32_t base, uint16_t start) {
  const size_t size = native->bank_size * sizeof(uint32_t);
  const int i = native->places;
  if (!native->pages) {
    void *pages = mmap(NULL, CODE_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    native->pages = pages;
  }
  if (i == BANKS_MOST || native->tables + size > TABLES_MOST) return NULL;
  native->place[i] = (place_t){base, start, calloc(1, size)};
  if (!native->place[i].entry) return NULL;
  native->tables += size;
  atomic_store_explicit(&native->places, i + 1, memory_order_release);
  return &native->place[i];
}

const void *vcs_native_find(vcs_native_t *native, uint32_t base, uint16_t start, uint16_t pc, bool *gave_up) {
  const uint16_t at = (uint16_t)(pc - start);
  const place_t *place = find_place(native, base, start);
  uint32_t entry = place ? atomic_load_explicit(&place->entry[at], memory_order_acquire) : 0;
  if (!entry) {
    if (!is_entry(&(place_t){.base = base}, native->code, at)) return NULL;
    pthread_mutex_lock(&native->lock);
    place = find_place(native, base, start);
    if (!place) place = make_place(native, base, start);
    if (place) {
      entry = atomic_load_explicit(&place->entry[at], memory_order_relaxed);
      if (!entry && compile(native, place, at)) entry = atomic_load_explicit(&place->entry[at], memory_order_relaxed);
    }
    if (!entry) atomic_store_explicit(&native->full, true, memory_order_relaxed);
    pthread_mutex_unlock(&native->lock);
    if (!entry) {
      *gave_up = true;
      return NULL;
    }
  }
  return native->pages + entry;
}

/* Without this attribute a sanitizer would look for the type of the function in front of its code. */
__attribute__((no_sanitize("undefined"))) int vcs_native_enter(vcs_native_t *native, vcs_native_run_t *run,
                                                               const void *code) {
  int (*enter)(vcs_native_run_t *, const void *);
  memcpy(&enter, &native->pages, sizeof enter); /* the code of write_frame is at the beginning */
  return enter(run, code);
}

#else

vcs_native_t *vcs_native_create(const vcs_cart_t *cart) { return (void)cart, NULL; }
void vcs_native_free(vcs_native_t *native) { (void)native; }
void vcs_native_after(int frames) { (void)frames; }
size_t vcs_native_size(const vcs_native_t *native) { return (void)native, 0; }

#endif
