/* base.h: declarations that every core header uses.
 *
 * The core is one machine in headers that are valid C11 and valid CUDA C++. It allocates nothing and has no globals but
 * constant tables. VCS_FN marks its functions, VCS_TABLE its constant tables.
 */
#ifndef VCS_CORE_BASE_H
#define VCS_CORE_BASE_H

/* Words of several bytes are read and written in memory where the 6507, the saves and the screen have single bytes. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "diffvcs needs a little-endian processor: on a big-endian one pictures would be wrong (docs/platforms.md)"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diffvcs/diffvcs.h"

/* VCS_FN is an ordinary inline function. VCS_HOT_FN belongs to the instruction loop and is always inlined. VCS_SLOW_FN
 * is never inlined: work that one instruction in a hundred does stays out of the loop's code. */
#if defined(__CUDACC__)
#if defined(VCS_DEVICE_ONLY) /* a .cu that does not call the core on the host */
#define VCS_WHERE __device__
#else
#define VCS_WHERE __host__ __device__
#endif
#define VCS_FN static inline VCS_WHERE
#define VCS_HOT_FN static __forceinline__ VCS_WHERE
#define VCS_SLOW_FN static __noinline__ VCS_WHERE
#else
#define VCS_FN static inline __attribute__((unused))
#define VCS_HOT_FN static inline __attribute__((always_inline, unused))
#define VCS_SLOW_FN static __attribute__((noinline, unused))
#endif

/* A .c file whose code also runs on devices is written so that a .cu file can include it (with VCS_DEVICE_ONLY):
 * VCS_STATIC is a static function, VCS_EXTERN one with a prototype in a header, VCS_DATA a constant table. */
#if defined(__CUDACC__)
#if defined(VCS_SMALL_CODE) /* functions outside the instruction loop are not inlined */
#define VCS_STATIC static __noinline__ VCS_WHERE
#else
#define VCS_STATIC static VCS_WHERE
#endif
#define VCS_EXTERN static VCS_WHERE
#define VCS_SLOW_EXTERN static __noinline__ VCS_WHERE
#define VCS_DATA static __device__ const
#else
#define VCS_STATIC static
#define VCS_EXTERN
#define VCS_SLOW_EXTERN __attribute__((noinline))
#define VCS_DATA static const
#endif

/* VCS_TABLE(type, name, size, rows...) is a constant table, read as name(index). The rows are inside a function because
 * only there a constant exists on both host and device. */
#define VCS_TABLE(type, name, size, ...)        \
  VCS_FN type name(unsigned index) {            \
    static const type rows[size] = __VA_ARGS__; \
    return rows[index];                         \
  }

#if defined(__GNUC__) || defined(__CUDACC__)
#define VCS_LIKELY(x) __builtin_expect(!!(x), 1)
#define VCS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define VCS_LIKELY(x) (x)
#define VCS_UNLIKELY(x) (x)
#endif

/* A row of a picture, or NULL. On a GPU frame buffers are aligned, and so are their rows of 160 pixels. With this hint
 * the compiler copies a row in a few wide accesses. */
#if defined(__CUDA_ARCH__)
#define VCS_ALIGNED_ROW(row) ((uint8_t *)__builtin_assume_aligned(row, 16))
#else
#define VCS_ALIGNED_ROW(row) (row)
#endif

/* The number of the lowest bit that is set. */
#if defined(__CUDA_ARCH__)
#define VCS_LOWEST(bits) (__ffs((int)(bits)) - 1)
#define VCS_LOWEST_64(bits) (__ffsll((long long)(bits)) - 1)
#else
#define VCS_LOWEST(bits) __builtin_ctz(bits)
#define VCS_LOWEST_64(bits) __builtin_ctzll(bits)
#endif

/* Lines have 228 colour clocks, the first 68 of them blank; a CPU cycle is three clocks, 76 cycles a line. */
enum { VCS_LINE_CLOCKS = 228, VCS_HBLANK_CLOCKS = 68, VCS_LINE_CYCLES = 76 };

/* Time while instructions run: the cycles, and in the bits below them the number of instructions since the CPU was
 * started. One addition counts both. */
enum { VCS_CYCLES_SHIFT = 15, VCS_COUNT_MASK = 0x7FFF };
#define VCS_CYCLES(cycles) ((uint64_t)(cycles) << VCS_CYCLES_SHIFT)
#define VCS_COST(cycles) (VCS_CYCLES(cycles) + 1) /* of an instruction */

#endif
