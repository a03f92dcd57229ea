// OpenBLAS's matrix products: of f32 weights cblas_sgemm, at one row cblas_sgemv; of bf16 weights
// cblas_sbgemm, where the library has one. They are looked up at run time, so that this module
// loads without OpenBLAS and says what is missing. The products pack their operands in every call
// (OpenBLAS has no public way to pack once) and return f32, which this arm rounds to bf16 inside
// the dispatch; there it also makes f32 of x for f32 weights.
//
// TARE_OPENBLAS names another library file than the system's, e.g. a build with BUILD_BFLOAT16=1.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "arm_table.h"
#include "bf16_and_f32.h"
#include "formats/decode.h"
#include "module_support.h"

namespace {

using tare::Blame;
using tare::fail;
using tare::modules::fenced;
using tare::modules::HostMemory;

// As OpenBLAS's cblas.h declares it, with a 32-bit blasint.
using SbGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const std::uint16_t* a, int lda, const std::uint16_t* b,
                        int ldb, float beta, float* c, int ldc);
using SGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                       float* c, int ldc);
using SGemv = void (*)(int order, int transpose, int m, int n, float alpha, const float* a, int lda,
                       const float* x, int incx, float beta, float* y, int incy);
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

// The ABI gives supports() and prepare() no context, so what open() learned is kept for the
// process.
struct Library {
  const tare_services* services = nullptr;
  std::string missing =
      "open() has not been called";  // the library as a whole, in words; "" when it is there
  std::string config;                // openblas_get_config: "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  std::string core;                  // openblas_get_corename: "SkylakeX"
  std::uint32_t threads = 0;
  SbGemm sbgemm = nullptr;
  SGemm sgemm = nullptr;
  SGemv sgemv = nullptr;
};
Library& library() {
  static Library it;
  return it;
}

template <typename Function>
Function symbol(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

std::string text_of(void* handle, const char* name) {
  const auto get = symbol<const char* (*)()>(handle, name);
  const char* text = get == nullptr ? nullptr : get();
  std::string trimmed = text == nullptr ? "" : text;
  while (!trimmed.empty() && trimmed.back() == ' ') trimmed.pop_back();
  return trimmed;
}

void* open_first_of(const std::vector<std::string>& names, std::string& missing) {
  for (const std::string& name : names) {
    // Never closed: OpenBLAS starts threads that live on its code.
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* reason = dlerror();
    missing = fmt::format("OpenBLAS is not on this machine ({}); install libopenblas0",
                          reason == nullptr ? name : reason);
  }
  return nullptr;
}

std::vector<std::string> library_names() {
  const char* chosen = std::getenv("TARE_OPENBLAS");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  return {"libopenblas.so.0", "libopenblas.so"};
}

Library load(const tare_services& services) {
  Library found;
  found.services = &services;
  void* handle = open_first_of(library_names(), found.missing);
  if (handle == nullptr) return found;
  found.missing.clear();
  found.config = text_of(handle, "openblas_get_config");
  found.core = text_of(handle, "openblas_get_corename");
  found.sbgemm = symbol<SbGemm>(handle, "cblas_sbgemm");
  found.sgemm = symbol<SGemm>(handle, "cblas_sgemm");
  found.sgemv = symbol<SGemv>(handle, "cblas_sgemv");
  if (const auto set = symbol<void (*)(int)>(handle, "openblas_set_num_threads")) {
    set(static_cast<int>(services.threads));
  }
  const auto get = symbol<int (*)()>(handle, "openblas_get_num_threads");
  found.threads = get == nullptr ? 0 : static_cast<std::uint32_t>(get());
  return found;
}

// "OpenBLAS 0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string version_text(const std::string& config) {
  const std::size_t end = config.find(' ', config.find(' ') + 1);
  return config.empty() ? "OpenBLAS" : config.substr(0, end);
}

void require_product(const tare_problem& problem) {
  const Library& it = library();
  if (!it.missing.empty()) fail(Blame::kMachine, "{}", it.missing);
  if (problem.weights == TARE_F32 && (it.sgemm == nullptr || it.sgemv == nullptr))
    fail(Blame::kMachine, "{} here exports no cblas_sgemm and cblas_sgemv",
         version_text(it.config));
  if (problem.weights == TARE_BF16 && it.sbgemm == nullptr) {
    fail(Blame::kMachine,
         "{} as built here has no bf16 matrix product (cblas_sbgemm is not exported); name a "
         "library built with "
         "BUILD_BFLOAT16=1 in TARE_OPENBLAS",
         version_text(it.config));
  }
  if (it.config.find("USE64BITINT") != std::string::npos) {
    fail(Blame::kMachine, "{} here counts with 64-bit integers (USE64BITINT); this module needs 32",
         version_text(it.config));
  }
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  if (tare::modules::is_all_f32(problem))
    return tare::modules::require_sizes(problem, "OpenBLAS", kMost);
  tare::modules::require_plain(problem, "OpenBLAS", {TARE_BF16, TARE_F32}, kMost,
                               tare::modules::kAnyBias);
}

HostMemory room_for(const tare_problem& problem, std::uint64_t columns) {
  return HostMemory(*library().services,
                    tare::modules::bytes_of(columns, problem.rows, sizeof(float)));
}

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots_)
      : problem(problem_), slots(slots_), biases(slots_) {
    set_rows(problem.rows);
  }

  void bind(std::uint32_t slot, const void* weights) {
    slots.at(slot) = weights;
    biases.at(slot) = tare::formats::bias_of(problem, weights);
  }

  void set_rows(std::uint32_t rows) {
    tare_problem next = problem;
    next.rows = rows;
    problem = next;
    if (tare::modules::is_all_f32(next)) return;
    sums = room_for(next, next.n);
    if (next.weights == TARE_F32) wide_x = room_for(next, next.k);
  }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    if (slot >= slots.size() || slots[slot] == nullptr) return false;
    if (tare::modules::is_all_f32(problem)) {
      multiply_f32(slots[slot], static_cast<const float*>(x), static_cast<float*>(y));
      return true;
    }
    const auto* narrow_x = static_cast<const std::uint16_t*>(x);
    auto* const f32 = static_cast<float*>(sums.data());
    if (problem.weights == TARE_F32) {
      auto* const wide = static_cast<float*>(wide_x.data());
      tare::modules::widen_bf16(narrow_x, wide, static_cast<std::size_t>(problem.k) * problem.rows);
      multiply_f32(slots[slot], wide, f32);
    } else {
      multiply_bf16(static_cast<const std::uint16_t*>(slots[slot]), narrow_x);
    }
    tare::modules::round_with_bias(f32, static_cast<std::uint16_t*>(y),
                                   static_cast<std::size_t>(problem.n) * problem.rows,
                                   biases[slot]);
    return true;
  }

  void multiply_bf16(const std::uint16_t* weights, const std::uint16_t* x) noexcept {
    const int n = static_cast<int>(problem.n);
    const int k = static_cast<int>(problem.k);
    library().sbgemm(kRowMajor, kNoTranspose, kTranspose, static_cast<int>(problem.rows), n, k,
                     1.0f, x, k, weights, k, 0.0f, static_cast<float*>(sums.data()), n);
  }

  void multiply_f32(const void* weights, const float* x, float* y) noexcept {
    const int n = static_cast<int>(problem.n);
    const int k = static_cast<int>(problem.k);
    const auto* w = static_cast<const float*>(weights);
    if (problem.rows == 1)
      library().sgemv(kRowMajor, kNoTranspose, n, k, 1.0f, w, k, x, 1, 0.0f, y, 1);
    else
      library().sgemm(kRowMajor, kNoTranspose, kTranspose, static_cast<int>(problem.rows), n, k,
                      1.0f, x, k, w, k, 0.0f, y, n);
  }

  bool fence() noexcept { return true; }  // cblas_sbgemm returns when the work is done

  void describe(tare_dispatch_record& record) const {
    const Library& it = library();
    const bool f32 = problem.weights == TARE_F32;
    const std::string configuration =
        fmt::format("{}; packs in every call{}{}", it.config.substr(0, 150),
                    tare::modules::is_all_f32(problem) ? ""
                    : f32 ? "; x made f32 and y f32, rounded to bf16 by this arm"
                          : "; y f32, rounded to bf16 by this arm",
                    problem.bias == 0 ? "" : ", which adds the bias before that");
    const char* product = !f32                ? "cblas_sbgemm:"
                          : problem.rows == 1 ? "cblas_sgemv:"
                                              : "cblas_sgemm:";
    // The kernels are chosen by core name; OPENBLAS_CORETYPE can force a lesser one, which then
    // shows here.
    tare::modules::fill(
        record, {product + it.core, it.core, configuration, version_text(it.config)}, it.threads);
  }

  tare_problem problem;
  std::vector<const void*> slots;
  std::vector<std::vector<float>> biases;  // of the slots; empty: none
  HostMemory sums;
  HostMemory wide_x;  // of f32 weights and bf16 activations
};

namespace {

int open_library(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { library() = load(*services); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_product(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    require_product(*problem);
    *executor = new tare_executor(*problem, slots);
  });
}

}  // namespace

const tare_arm* tare_arm_v1(uint32_t index) {
  // The version is known only once open() has found the library; see the dispatch record.
  static const tare_arm arm = tare::modules::arm_table<tare_executor>(
      {TARE_READS_WEIGHTS_IN_PLACE, "openblas", "OpenBLAS", ""}, {open_library, supports, prepare});
  return index == 0 ? &arm : nullptr;
}
