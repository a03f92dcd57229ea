/* tare/arm.h: the C ABI between Tare and an implementation of a projection.
 *
 * An implementation is a shared library ("module") that exports one function, tare_arm_v1. Tare's
 * own built-in implementations are modules behind this very header; yours is loaded with `tare
 * headroom --arm ./libmine.so`. See examples/plugin/ for a commented one in C.
 *
 * The problem:  y[rows, n] = x[rows, k] . W[n, k]^T (+ b[n], where it says so), all of them
 * row-major and dense, W as a model file stores a linear layer's weight.
 *
 * A module lives in a process of its own (the arm host), which loads no other module. Tare calls it
 * from one thread, in this order:
 *
 *   tare_arm_v1(0), tare_arm_v1(1), ... until NULL       what is in here?
 *   open                                               once per arm and process, before all below
 *   supports(problem)                                  any number of times
 *   prepare(problem, slots) -> executor                plan, allocate: all that is done once
 *   bind(executor, slot, W)   for every slot           hand over, and pack, the ring's weights
 *   set_rows(executor, rows)                           optional: same weights, another row count
 *   enqueue(executor, slot, x, y) ... fence(executor)  the timed part
 *   dispatched(executor)                               what really ran?
 *   destroy(executor)
 *
 * An arm whose work runs on a device has three functions more (tare_device_arm), and its timed part
 * is stage(region) [not timed], launch, fence [timed], collect [not timed].
 *
 * Errors: a function that returns int returns 0 for success. On failure it returns non-zero and
 * writes a sentence for a person into `why` (at most why_size bytes, NUL included). No exception
 * may cross.
 */
#ifndef TARE_ARM_H
#define TARE_ARM_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(modernize-use-using): this is C. */
#ifdef __cplusplus
extern "C" {
#endif

/* 2: tare_problem.bias. A module of version 1 is still loaded, and is asked only for problems
 * without one. */
#define TARE_ARM_ABI 2u
#define TARE_ARM_OLDEST_ABI 1u
#define TARE_ARM_ENTRY "tare_arm_v1"

#if defined(_WIN32)
#define TARE_EXPORT __declspec(dllexport)
#else
#define TARE_EXPORT __attribute__((visibility("default")))
#endif

/* Element types. bf16 and f16 are 2 bytes, little endian; f32 is IEEE single. */
enum { TARE_BF16 = 1, TARE_F16 = 2, TARE_F32 = 3 };

/* Quantised weights. Output j's weight i is  scale * code + bias  of its group: so many weights
 * that follow each other along k. The two families differ in how bind() gets them.
 *
 * Planes, as model files of safetensors hold them: first the codes, [n, k] row-major; then, from
 * the next multiple of 64 bytes on, the scales, [n, groups]; then, from the next multiple of 64
 * bytes on, where the type has them, the biases, [n, groups]. Both are bf16, or f16 where the type
 * says so. Of a type with zeros these stand in the place of biases, a byte each: the code that
 * means zero; the bias is -scale * zero. k is a whole number of groups. 4-bit codes lie two a byte,
 * the first in the low bits (so also eight a little-endian word). */
enum {
  TARE_INT8_CHANNEL = 16, /* int8; one scale an output (any k): w = scale * code */
  TARE_INT8_G128 = 17,    /* int8; groups of 128: w = scale * code */
  TARE_INT4_G128 = 18,    /* 4 bits, groups of 128: w = scale * (code - 8); compressed-tensors */
  TARE_MLX_INT8_G64 = 19, /* 8 bits unsigned, groups of 64: w = scale * code + bias */
  TARE_MLX_INT4_G64 = 20, /* 4 bits, groups of 64: w = scale * code + bias; scale may be negative */
  /* As those above, with scales in f16: GPTQ, AWQ, compressed-tensors. */
  TARE_INT4_G128_F16 = 21,
  TARE_INT8_CHANNEL_F16 = 22,
  TARE_INT8_G128_F16 = 23,
  TARE_MLX_INT4_G64_F16 = 24, /* MLX, scales and biases in f16 */
  TARE_MLX_INT8_G64_F16 = 25,
  /* 4 bits, groups of 128, with zeros from 0 to 15: w = scale * (code - zero); AWQ, GPTQ and
   * compressed-tensors where they are not symmetric. */
  TARE_INT4_G128_ZEROS = 26,
  TARE_INT4_G128_ZEROS_F16 = 27
};

/* Blocks of GGUF files: [n, k / weights of a block], row-major, scales inside; bytes as in the
 * file. Q8_0  32 weights, 34 bytes: f16 d; 32 int8. w = d * q Q4_0  32 weights, 18 bytes: f16 d; 16
 * bytes, whose low halves are 0-15 and high halves 16-31. w = d * (q - 8) Q5_0  32 weights, 22
 * bytes: f16 d; 32 fifth bits, bit i is weight i's; 16 bytes as in Q4_0. w = d * (q - 16) Q4_K  256
 * weights, 144 bytes: f16 d, dmin; 12 bytes of eight 6-bit pairs (sc, m), one for each 32 weights:
 * the low 6 bits of bytes 0-3 are sc 0-3, of bytes 4-7 m 0-3; the low halves of bytes 8-11 are sc
 * 4-7 and the high halves m 4-7, with the top 2 bits of bytes 0-3 and 4-7 above them; 128 bytes,
 * each 32 of which hold 32 weights in their low and the next 32 in their high halves. w = d * sc *
 * q - dmin * m Q6_K  256 weights, 210 bytes: 128 bytes of low 4 bits, 64 bytes of high 2 bits, 16
 * int8 scales, f16 d. Of each 128 weights (64 low bytes, 32 high bytes, 8 scales) weight 32 j + l
 * has the low half (j < 2) or the high half of low byte 32 (j % 2) + l, bits 2j and 2j + 1 of high
 *         byte l above it, and scale 2 j + l / 16. w = d * scale * (q - 32) */
enum {
  TARE_GGUF_Q8_0 = 32,
  TARE_GGUF_Q4_0 = 33,
  TARE_GGUF_Q5_0 = 34,
  TARE_GGUF_Q4_K = 35,
  TARE_GGUF_Q6_K = 36
};

/* Activations only: x is handed over as bf16, and the arm rounds it to 8 bits inside the dispatch,
 * in blocks along k with a scale each (the largest magnitude becomes 127 or -128), and multiplies
 * integers: what ggml does with quantised weights. Less exact, so another problem than bf16. */
enum { TARE_BF16_AS_INT8 = 48 };

/* One projection to compute. k, n, rows are at least 1. A module must refuse, in supports(),
 * whatever it does not compute at exactly these types: precision is part of the problem. */
typedef struct tare_problem {
  uint64_t k;           /* length of a dot product: columns of x and of W */
  uint64_t n;           /* outputs: rows of W, columns of y */
  uint32_t rows;        /* rows of x and of y: tokens per dispatch */
  uint32_t weights;     /* type of W as handed to bind() */
  uint32_t activations; /* type of x */
  uint32_t output;      /* type of y, rounded once from the accumulator, to nearest even */
  uint32_t accumulator; /* type the sums are carried in */
  /* Since version 2. 0: none. Else TARE_BF16, TARE_F16 or TARE_F32: b[n] of that type is added to
   * the accumulator of every row before it is rounded. bind() gets b behind all else of W, from the
   * next multiple of 64 bytes on. */
  uint32_t bias;
} tare_problem;

/* What the arm host offers. Valid for the life of the process. */
typedef struct tare_services {
  uint32_t abi; /* the version of this header that the host speaks with the arm: the arm's own */
  uint32_t threads; /* threads the arm may use, the calling one included; the process's affinity
                       mask has that many processors */
  /* Memory for packed weights: 64-byte aligned, zeroed, on the same (huge) pages every arm gets;
   * counted in the arm's report. allocate returns NULL when there is none. Not for use inside
   * enqueue or fence. */
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory);
} tare_services;

/* What really ran, as far as the library can tell. Empty strings mean "not known". */
typedef struct tare_dispatch_record {
  char kernel[128];        /* e.g. "brg:avx512_core_bf16" */
  char isa[48];            /* e.g. "AVX-512 BF16" */
  char configuration[256]; /* anything that tells two runs apart: layout, tile, algorithm id */
  char library[96];        /* name, version and build of the library, e.g. "oneDNN 2.6.3" */
  uint32_t threads;        /* threads that took part; 0: the work ran on a device */
} tare_dispatch_record;

typedef struct tare_executor tare_executor; /* defined by the module */

enum {
  /* The pointer given to bind() stays valid and constant until destroy(), and the module reads the
   * weights there. Without this flag the pointer is good only during bind(), and the module packs.
   */
  TARE_READS_WEIGHTS_IN_PLACE = 1u,
  /* This arm is no implementation but a floor: it streams the weights (or does the arithmetic) and
   * computes no result. Used by Tare's own limit kernels; its output is not checked. */
  TARE_IS_LIMIT = 2u,
  /* The table is the first member of a tare_device_arm. */
  TARE_ON_DEVICE = 4u
};

typedef struct tare_arm {
  uint32_t abi;        /* TARE_ARM_ABI, as the module was compiled with */
  uint32_t flags;      /* TARE_READS_WEIGHTS_IN_PLACE ... */
  const char* name;    /* short, unique, lower case: "onednn" */
  const char* title;   /* as printed in a table: "oneDNN" */
  const char* version; /* of the library that was really loaded; may be "" before open() */

  int (*open)(const tare_services* services, char* why, size_t why_size);

  /* 0: yes, at exactly these types. Non-zero: no, and `why` says the reason to a person. */
  int (*supports)(const tare_problem* problem, char* why, size_t why_size);

  int (*prepare)(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size);

  /* `weights`: W[n, k] in the layout of the problem's type, 64-byte aligned, and the bias where the
   * problem has one. Slots hold different weights. */
  int (*bind)(tare_executor* executor, uint32_t slot, const void* weights, char* why,
              size_t why_size);

  /* May be NULL, or fail, when the packed weights do not serve another row count as well as a fresh
   * prepare() would; the host then prepares anew. A failure leaves the executor usable at its old
   * rows. Not timed. */
  int (*set_rows)(tare_executor* executor, uint32_t rows, char* why, size_t why_size);

  /* Starts one dispatch: y = x . W[slot]^T (+ b[slot]). Must not allocate, plan, pack or compile.
   * May return before the work is done. x is read-only and shared between dispatches; different
   * dispatches before one fence may be given the same y (the last one wins) or the same slot. x and
   * y are 64-byte aligned. Returns 0, or non-zero when the dispatch failed (there is no text: this
   * is the timed path). */
  int (*enqueue)(tare_executor* executor, uint32_t slot, const void* x, void* y);

  /* Returns once every enqueued dispatch is done and its y is visible. 0 or non-zero, as above. */
  int (*fence)(tare_executor* executor);

  /* Describes the dispatches since prepare() or set_rows(). Called after a fence. */
  int (*dispatched)(tare_executor* executor, tare_dispatch_record* record);

  void (*destroy)(tare_executor* executor);
} tare_arm;

/* One dispatch of a region: y = x . W[slot]^T. */
typedef struct tare_dispatch {
  uint32_t slot;
  const void* x; /* within `inputs` of the region */
  void* y;       /* within `outputs` */
} tare_dispatch;

enum {
  /* launch() starts every dispatch by itself. Without it, all of them in one go that was made ready
   * in stage(): a graph. */
  TARE_REGION_STREAM = 1u,
  /* A dispatch may be placed on the device before the one in front of it has ended (programmatic
   * dependent launch), and must wait for it before it reads x or writes y. Offered to every arm
   * alike; an arm that cannot leaves it. */
  TARE_REGION_PROGRAMMATIC = 2u
};

/* What is timed next. The dispatches depend on each other in their order, as layers of a model do,
 * whatever their addresses. All pointers are the host's. */
typedef struct tare_region {
  const tare_dispatch* dispatches;
  uint64_t count;
  const void* inputs; /* every x lies in here */
  size_t input_bytes;
  void* outputs; /* every y lies in here, with guard zones between them */
  size_t output_bytes;
  uint32_t flags; /* TARE_REGION_... */
} tare_region;

/* An arm on a device. enqueue() and fence() keep their meaning for a caller whose x and y are on
 * the host: copies are part of them. */
typedef struct tare_device_arm {
  tare_arm arm; /* flags hold TARE_ON_DEVICE */

  /* Makes the region ready, so that launch() does nothing but start it: copies inputs and outputs
   * to the device, as they are, and captures, instantiates and uploads a graph. The caller's
   * `region` and its dispatches are good during the call only. Replaces what was staged before.
   * Returns when the device is idle. */
  int (*stage)(tare_executor* executor, const tare_region* region, char* why, size_t why_size);

  /* Starts all dispatches of the staged region; fence() waits for them. 0 or non-zero: the timed
   * path. */
  int (*launch)(tare_executor* executor);

  /* After a fence. Copies the whole of the outputs back, guard zones included, and says what the
   * device's own clock measured from before the first dispatch to after the last (0: not known).
   * Asked, too, after launch() or fence() failed: for the reason. */
  int (*collect)(tare_executor* executor, double* seconds, char* why, size_t why_size);
} tare_device_arm;

/* The one exported symbol: the arms of this module, by index, NULL past the last. The pointer stays
 * valid for the life of the process. */
TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-use-using) */
#endif /* TARE_ARM_H */
