// Intel MKL's bf16 matrix product with packed weights (cblas_gemm_bf16bf16f32_compute): W is packed
// once in bind(), as the library prefers it, and a dispatch only multiplies. Its sums leave as f32;
// this arm rounds them to bf16.
//
// MKL chooses its kernels by the processor's maker, too: on a Zen 5 with AVX-512 BF16 it calls
// itself "optimised for Intel(R) Architecture processors" (2026.2), packs three times the bytes,
// and took 7 to 13 times as long as the fastest library. The record says what it uses.
#include <mkl.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "arm_table.h"
#include "bf16_and_f32.h"
#include "formats/decode.h"
#include "module_support.h"

namespace {

using tare::modules::fenced;
using tare::modules::HostMemory;

// The ABI gives supports() and prepare() no context, so what open() learned is kept for the
// process.
const tare_services*& host() {
  static const tare_services* services = nullptr;
  return services;
}

std::string version_text() {
  MKLVersion version{};
  mkl_get_version(&version);
  return fmt::format("{}.{}.{}", version.MajorVersion, version.MinorVersion, version.UpdateVersion);
}

// "Intel(R) Advanced Vector Extensions 512 (Intel(R) AVX-512) enabled processors".
std::string processor_text() {
  MKLVersion version{};
  mkl_get_version(&version);
  return version.Processor == nullptr ? "" : version.Processor;
}

// A text that names no extension means the architecture's first vectors.
std::string isa_text(const std::string& processor) {
  for (const char* const isa : {"AMX", "AVX10", "AVX-512", "AVX2"})
    if (processor.find(isa) != std::string::npos) return isa;
  return "x86-64 baseline";
}

struct Extents {
  MKL_INT rows, k, n;
  explicit Extents(const tare_problem& problem)
      : rows(static_cast<MKL_INT>(problem.rows)),
        k(static_cast<MKL_INT>(problem.k)),
        n(static_cast<MKL_INT>(problem.n)) {}
};

void require(const tare_problem& problem) {
  tare::modules::require_bf16(problem, "MKL", std::numeric_limits<std::int32_t>::max(),
                              tare::modules::kAnyBias);
}

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots_)
      : problem(problem_),
        slots(slots_),
        biases(slots_),
        sums(*host(), tare::modules::bytes_of(problem.n, problem.rows, sizeof(float))) {}

  void bind(std::uint32_t slot, const void* weights) {
    const Extents e(problem);
    biases.at(slot) = tare::formats::bias_of(problem, weights);
    HostMemory& packed = slots.at(slot);
    packed =
        HostMemory(*host(), cblas_gemm_bf16bf16f32_pack_get_size(CblasBMatrix, e.rows, e.n, e.k));
    cblas_gemm_bf16bf16f32_pack(CblasRowMajor, CblasBMatrix, CblasTrans, e.rows, e.n, e.k,
                                static_cast<const MKL_BF16*>(weights), e.k,
                                static_cast<MKL_BF16*>(packed.data()));
  }

  // The packing is told the row count; whether it depends on it is not documented.
  void set_rows(std::uint32_t) {
    tare::fail(tare::Blame::kArm, "MKL packs for one row count: prepare anew");
  }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    if (slot >= slots.size() || slots[slot].data() == nullptr) return false;
    const Extents e(problem);
    auto* f32 = static_cast<float*>(sums.data());
    cblas_gemm_bf16bf16f32_compute(CblasRowMajor, CblasNoTrans, CblasPacked, e.rows, e.n, e.k, 1.0F,
                                   static_cast<const MKL_BF16*>(x), e.k,
                                   static_cast<const MKL_BF16*>(slots[slot].data()), e.k, 0.0F, f32,
                                   e.n);
    tare::modules::round_with_bias(f32, static_cast<std::uint16_t*>(y),
                                   static_cast<std::size_t>(problem.n) * problem.rows,
                                   biases[slot]);
    return true;
  }

  bool fence() noexcept { return true; }  // the call returns when the work is done

  void describe(tare_dispatch_record& record) const {
    const std::string processor = processor_text();
    const std::string configuration = fmt::format(
        "weights packed once; for {}; threads of GNU OpenMP; y f32, {}rounded to bf16 by this arm",
        processor, problem.bias == 0 ? "" : "the bias added and ");
    tare::modules::fill(record,
                        {"cblas_gemm_bf16bf16f32_compute", isa_text(processor), configuration,
                         "MKL " + version_text()},
                        static_cast<std::uint32_t>(mkl_get_max_threads()));
  }

  tare_problem problem;
  std::vector<HostMemory> slots;
  std::vector<std::vector<float>> biases;  // of the slots; empty: none
  HostMemory sums;
};

namespace {

int open_library(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    host() = services;
    // Before any other call. GNU's OpenMP, as the other libraries here: Intel's own keeps its idle
    // workers spinning for 200 ms, into the regions of the next arm.
    mkl_set_threading_layer(MKL_THREADING_GNU);
    mkl_set_dynamic(0);
    mkl_set_num_threads(static_cast<int>(services->threads));
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    require(*problem);
    *executor = new tare_executor(*problem, slots);
  });
}

}  // namespace

const tare_arm* tare_arm_v1(uint32_t index) {
  // The version is known only once open() has chosen the threads' library; see the dispatch record.
  static const tare_arm arm = tare::modules::arm_table<tare_executor>(
      {0u, "mkl", "MKL", ""}, {open_library, supports, prepare});
  return index == 0 ? &arm : nullptr;
}
