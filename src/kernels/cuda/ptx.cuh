// The few instructions that CUDA C++ has no name for, one function each. Where an architecture
// lacks one that only makes things faster, it does nothing.
#pragma once

#include <cstdint>

namespace tare::kernels::cuda {

// Blocks until the kernels before this one in the stream are done and their writes visible
// (programmatic dependent launch). At once where the launch did not ask for it.
__device__ __forceinline__ void wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// From when every thread block has said so, the next kernel's blocks may be placed beside ours.
__device__ __forceinline__ void let_successors_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Has L2 fetch the line of an address.
__device__ __forceinline__ void prefetch_line(const char* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address) : "memory");
}

// So many of a grid's thread blocks surely run at once.
constexpr std::uint32_t kFirstBlocks = 128;

// Has L2 fetch x before anybody waits for it: what the kernel in front writes it writes there, too.
// The first thread blocks ask for a share each, `threads` of every one from its thread 0 on.
__device__ __forceinline__ void ask_for_inputs(const void* x, std::uint64_t bytes,
                                               std::uint32_t threads) {
  constexpr std::uint32_t kLine = 128;
  const std::uint32_t blocks = gridDim.x < kFirstBlocks ? gridDim.x : kFirstBlocks;
  if (blockIdx.x >= blocks || threadIdx.x >= threads) return;
  const auto* first = static_cast<const char*>(x);
  for (std::uint64_t at = std::uint64_t{kLine} * (blockIdx.x + threadIdx.x * blocks); at < bytes;
       at += std::uint64_t{kLine} * blocks * threads)
    prefetch_line(first + at);
}

// Weights are read once: they pass by L1 and leave L2 first. Volatile, so that it stays before a
// wait that follows it.
__device__ __forceinline__ uint4 load_once(const uint4* address) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from device memory (through L2 alone) to shared memory; zeros when `valid` is false.
__device__ __forceinline__ void copy_async(void* into, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(into)),
               "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// sums[16 x 8] += a[16 x 16] . b[16 x 8], bf16 in, f32 sums.
__device__ __forceinline__ void multiply_add(float (&sums)[4], std::uint32_t a0, std::uint32_t a1,
                                             std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                             std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// 16 bytes of shared memory, at an address of shared_address().
__device__ __forceinline__ uint4 load_shared(std::uint32_t address) {
  uint4 value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(address)
               : "memory");
  return value;
}
__device__ __forceinline__ void store_shared(std::uint32_t address, const uint4& value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x),
               "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}

// Device memory that other multiprocessors read or write at the same time: every 4 bytes are either
// as before or as after, and nothing is said of any others.
__device__ __forceinline__ uint4 load_relaxed(const uint4* address) {
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address)
               : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(void* address, std::uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// One of the thread block's numbered barriers, on which `threads` threads meet: some say that they
// have been there, the others wait for all.
__device__ __forceinline__ void arrive_at_named(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void wait_at_named(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// The barrier of a cluster, in its two halves.
__device__ __forceinline__ void arrive_at_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Writes 16 bytes to the same place in the shared memory of thread block `rank` of the cluster.
__device__ __forceinline__ void send(float* into, std::uint32_t rank, float4 value) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(into)), "r"(rank));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "f"(value.x),
               "f"(value.y), "f"(value.z), "f"(value.w)
               : "memory");
#else
  *reinterpret_cast<float4*>(into) = value;
#endif
}

// Likewise 4 bytes.
__device__ __forceinline__ void send(float* into, std::uint32_t rank, float value) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(into)), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote), "f"(value) : "memory");
#else
  *into = value;
#endif
}

// shared_address(), of which the compiler does not know what it is made of: else it makes it anew
// wherever it is used, in instructions that take longer than those that use it.
__device__ __forceinline__ std::uint32_t opaque_shared_address(const void* pointer) {
  std::uint32_t address = shared_address(pointer);
  asm volatile("" : "+r"(address));
  return address;
}

// Barriers in shared memory (8 bytes at an address of shared_address()) on which copies of the bulk
// engine are awaited (9.0 and later).
__device__ __forceinline__ void init_barrier(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes initialised barriers visible to the copy engine; a barrier of the thread block must follow.
__device__ __forceinline__ void publish_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and says how many bytes copies will bring.
__device__ __forceinline__ void arrive_expecting(std::uint32_t barrier, std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#endif
}
__device__ __forceinline__ void wait_for_barrier(std::uint32_t barrier, std::uint32_t parity) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t done = 0;
  while (done == 0)
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
#endif
}
// Whether waiting would be over.
__device__ __forceinline__ bool test_barrier(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n .reg .pred p;\n"
      " mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      " selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#endif
  return done != 0;
}
// Contiguous bytes (a multiple of 16, both ends 16-byte aligned) to shared memory; the barrier
// counts them in.
__device__ __forceinline__ void copy_bulk(std::uint32_t into, const void* from, std::uint32_t bytes,
                                          std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(into),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}

// After its last use, and a barrier of the thread block: tools that follow barriers forget it.
__device__ __forceinline__ void invalidate_barrier(std::uint32_t barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// A box of a matrix (CUtensorMap, a __grid_constant__ argument) to shared memory, its first element
// at `column` of `row`; what is outside the matrix arrives as zeros. The barrier counts it in.
__device__ __forceinline__ void copy_box(std::uint32_t into, const void* map, std::uint32_t column,
                                         std::uint32_t row, std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];" ::"r"(into),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
#endif
}
// The map's first use takes as long as a read of memory: ask for it before.
__device__ __forceinline__ void prefetch_map(const void* map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

// Warpgroup products (sm_90a). A batch: begin, multiplications, end; they run in the background
// until wait_for_batches<how many may still run>. Sums must not be touched meanwhile.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define TARE_WARPGROUP_PRODUCTS 1
#endif
__device__ __forceinline__ void begin_batch() {
#ifdef TARE_WARPGROUP_PRODUCTS
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void end_batch() {
#ifdef TARE_WARPGROUP_PRODUCTS
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int kRunning>
__device__ __forceinline__ void wait_for_batches() {
#ifdef TARE_WARPGROUP_PRODUCTS
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kRunning) : "memory");
#endif
}

// Where an operand of a warpgroup product lies: rows of 64 k in 128 bytes, of which the 16-byte
// units are permuted by (row % 8), 8 rows in 1024 bytes: what copy_box() brings. Adding
// bytes / 16 moves on along k.
__device__ __forceinline__ std::uint64_t operand_at(std::uint32_t tile) {
  constexpr std::uint64_t kPermuted = 1, kEightRows = 1024 / 16;
  return kPermuted << 62 | kEightRows << 32 | std::uint64_t{1} << 16 | (tile & 0x3ffff) >> 4;
}

// sums[64 x 8 kRowTiles] += a[64 x 16] . b[8 kRowTiles x 16]^T, of the four warps, or = where they
// are not to be `kept` (sums that other instructions set make the products wait for each other);
// the sums of a tile lie as multiply_add() has them, warp after warp along the 64.
template <int kRowTiles>
__device__ __forceinline__ void multiply_add(float (&sums)[kRowTiles][4], std::uint64_t a,
                                             std::uint64_t b, bool kept) {
  static_assert(kRowTiles >= 1 && kRowTiles <= 4, "8, 16, 24 or 32 rows");
#ifdef TARE_WARPGROUP_PRODUCTS
#define TARE_SUMS(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define TARE_PRODUCT(n, registers, operands, kept)                                        \
  "{\n .reg .pred p;\n setp.ne.b32 p, " kept ", 0;\n wgmma.mma_async.sync.aligned.m64n" n \
  "k16.f32.bf16.bf16 {" registers "}, " operands ", p, 1, 1, 0, 0;\n}"
  const std::uint32_t flag = kept ? 1 : 0;
  if constexpr (kRowTiles == 1)
    asm volatile(TARE_PRODUCT("8", "%0, %1, %2, %3", "%4, %5", "%6")
                 : TARE_SUMS(0)
                 : "l"(a), "l"(b), "r"(flag));
  if constexpr (kRowTiles == 2)
    asm volatile(TARE_PRODUCT("16", "%0, %1, %2, %3, %4, %5, %6, %7", "%8, %9", "%10")
                 : TARE_SUMS(0), TARE_SUMS(1)
                 : "l"(a), "l"(b), "r"(flag));
  if constexpr (kRowTiles == 3)
    asm volatile(
        TARE_PRODUCT("24", "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11", "%12, %13", "%14")
        : TARE_SUMS(0), TARE_SUMS(1), TARE_SUMS(2)
        : "l"(a), "l"(b), "r"(flag));
  if constexpr (kRowTiles == 4)
    asm volatile(TARE_PRODUCT("32",
                              "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "
                              "%15",
                              "%16, %17", "%18")
                 : TARE_SUMS(0), TARE_SUMS(1), TARE_SUMS(2), TARE_SUMS(3)
                 : "l"(a), "l"(b), "r"(flag));
#undef TARE_PRODUCT
#undef TARE_SUMS
#endif
}

}  // namespace tare::kernels::cuda
