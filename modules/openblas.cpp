// OpenBLAS's bf16 matrix product, cblas_sbgemm, where the library has one. It is looked up at run
// time, so that this module loads without OpenBLAS and says what is missing. cblas_sbgemm packs its
// operands in every call (OpenBLAS has no public way to pack once) and returns f32, which this arm
// rounds to bf16 inside the dispatch.
//
// TARE_OPENBLAS names another library file than the system's, e.g. a build with BUILD_BFLOAT16=1.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "arm_table.h"
#include "module_support.h"
#include "round_to_bf16.h"

namespace {

using tare::Blame;
using tare::fail;
using tare::modules::fenced;
using tare::modules::HostMemory;

// As OpenBLAS's cblas.h declares it, with a 32-bit blasint.
using SbGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const std::uint16_t* a, int lda, const std::uint16_t* b,
                        int ldb, float beta, float* c, int ldc);
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

void require_sbgemm(const tare_problem& problem) {
  const Library& it = library();
  if (!it.missing.empty()) fail(Blame::kMachine, "{}", it.missing);
  if (it.sbgemm == nullptr) {
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
  tare::modules::require_bf16(problem, "OpenBLAS", std::numeric_limits<std::int32_t>::max());
}

HostMemory room_for_sums(const tare_problem& problem) {
  return HostMemory(*library().services,
                    tare::modules::bytes_of(problem.n, problem.rows, sizeof(float)));
}

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots_)
      : problem(problem_), slots(slots_), sums(room_for_sums(problem)) {}

  void bind(std::uint32_t slot, const void* weights) { slots.at(slot) = weights; }

  void set_rows(std::uint32_t rows) {
    tare_problem next = problem;
    next.rows = rows;
    sums = room_for_sums(next);
    problem = next;
  }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    if (slot >= slots.size() || slots[slot] == nullptr) return false;
    const int rows = static_cast<int>(problem.rows);
    const int n = static_cast<int>(problem.n);
    const int k = static_cast<int>(problem.k);
    auto* f32 = static_cast<float*>(sums.data());
    library().sbgemm(kRowMajor, kNoTranspose, kTranspose, rows, n, k, 1.0f,
                     static_cast<const std::uint16_t*>(x), k,
                     static_cast<const std::uint16_t*>(slots[slot]), k, 0.0f, f32, n);
    tare::modules::round_to_bf16(f32, static_cast<std::uint16_t*>(y),
                                 static_cast<std::size_t>(problem.n) * problem.rows);
    return true;
  }

  bool fence() noexcept { return true; }  // cblas_sbgemm returns when the work is done

  void describe(tare_dispatch_record& record) const {
    const Library& it = library();
    const std::string configuration = fmt::format(
        "{}; packs in every call; y f32, rounded to bf16 by this arm", it.config.substr(0, 180));
    // The kernels are chosen by core name; OPENBLAS_CORETYPE can force a lesser one, which then
    // shows here.
    tare::modules::fill(
        record, {"cblas_sbgemm:" + it.core, it.core, configuration, version_text(it.config)},
        it.threads);
  }

  tare_problem problem;
  std::vector<const void*> slots;
  HostMemory sums;
};

namespace {

int open_library(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { library() = load(*services); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_sbgemm(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    require_sbgemm(*problem);
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
