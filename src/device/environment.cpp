#include "device/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "device/isa_cap.h"
#include "device/text_file.h"

namespace tare::device {
namespace {

// ---- Is a value harmful on this machine?

using Predicate = bool (*)(std::string_view value, const Machine& machine);

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, lower(trimmed(value))) != words.end();
}

bool always(std::string_view, const Machine&) {
  return true;
}
bool never(std::string_view, const Machine&) {
  return false;
}

bool when_on(std::string_view value, const Machine&) {
  return !is_one_of(value, {"", "0", "false", "off", "no", "none"});
}

// "8", or "8,2" for nested regions: the first level counts. Libraries ignore what is no number.
bool when_not_all_threads(std::string_view value, const Machine& machine) {
  const auto threads = parse_number(trimmed(value.substr(0, value.find(','))));
  return threads && *threads != machine.threads;
}

bool when_fewer_threads(std::string_view value, const Machine& machine) {
  const auto threads = parse_number(trimmed(value));
  return threads && *threads < machine.threads;
}

bool when_below_onednn(std::string_view value, const Machine& machine) {
  const auto cap = onednn_rung(trimmed(value));
  return cap && *cap < rung_of(machine.isa);
}

bool when_below_mkl(std::string_view value, const Machine& machine) {
  // MKL has no rung of its own for fp16 without AMX.
  const Rung machine_rung = rung_of(machine.isa);
  const Rung best = machine_rung == Rung::kAvx512Fp16 ? Rung::kAvx512Bf16 : machine_rung;
  const auto cap = mkl_rung(trimmed(value));
  return cap && *cap < best;
}

// Too low leaves instructions unused, too high may crash.
bool when_another_core(std::string_view value, const Machine& machine) {
  const Rung machine_rung = rung_of(machine.isa);
  const Rung right = machine_rung == Rung::kAvx512Fp16 ? Rung::kAvx512Bf16 : machine_rung;
  const auto core = openblas_rung(trimmed(value));
  return !core || *core != right;
}

// GOMP_CPU_AFFINITY "0 3 1-2 4-15:2": how many processors it names; 0 when it cannot be understood.
std::size_t affinity_count(std::string_view value) {
  std::string spaced(value);
  std::ranges::replace(spaced, ',', ' ');
  std::size_t count = 0;
  for (std::string_view part : words_of(spaced)) {
    const std::size_t colon = part.find(':');
    std::uint64_t stride = 1;
    if (colon != std::string_view::npos) stride = parse_number(part.substr(colon + 1)).value_or(0);
    const std::size_t listed = parse_processor_list(part.substr(0, colon)).size();
    if (stride == 0 || listed == 0) return 0;
    count += (listed + stride - 1) / stride;
  }
  return count;
}

bool when_too_few_places(std::string_view value, const Machine& machine) {
  return affinity_count(value) < machine.threads;
}

bool when_all_in_one_place(std::string_view value, const Machine&) {
  return is_one_of(value, {"master", "primary"});
}

// 200 ms is the default of KMP_BLOCKTIME.
bool when_not_default_blocktime(std::string_view value, const Machine&) {
  return !is_one_of(value, {"200", "200ms"});
}

bool when_instructions_hidden(std::string_view value, const Machine&) {
  return value.find("glibc.cpu.") != std::string_view::npos;
}

// ---- What is known. A name that ends in '*' stands for all that begin with it; the first that
// fits counts.

struct Rule {
  std::string_view variable;
  Predicate harmful;
  std::string_view effect;
  std::string_view advice;  // {variable} and {threads} are filled in
  bool withheld = false;    // Hobble::withheld, when harmful
};

constexpr std::string_view kUnset = "unset {variable}";
constexpr std::string_view kMatchThreads =
    "unset {variable}, or set it to {threads}, the processors offered here";
constexpr std::string_view kUnsetUnlessMeant =
    "unset {variable}, unless your engine runs with it, too";

constexpr std::string_view kThreadEffect =
    "sets a library's threads; Tare gives every arm {threads}, but the engine you serve will obey "
    "the variable";
constexpr std::string_view kIdleEffect =
    "decides how long idle workers spin: too long burns the next arm's processors, too short pays "
    "a wake-up per dispatch";
constexpr std::string_view kPinEffect =
    "pins the threads of one OpenMP runtime, and of no other arm";
constexpr std::string_view kMallocEffect =
    "changes how malloc places memory, for libraries that pack with it";

constexpr auto kRules = std::to_array<Rule>({
    {"OPENBLAS_CORETYPE", when_another_core,
     "makes OpenBLAS use the kernels of the named processor", kUnset, true},
    {"OPENBLAS_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"OPENBLAS_DEFAULT_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"GOTO_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"OPENBLAS_VERBOSE", never, "makes OpenBLAS say which kernels it chose", kUnset},
    {"OPENBLAS_*", never, "changes how OpenBLAS runs", kUnsetUnlessMeant},
    {"ONEDNN_MAX_CPU_ISA", when_below_onednn, "caps the instruction sets that oneDNN may use",
     kUnset, true},
    {"DNNL_MAX_CPU_ISA", when_below_onednn, "caps the instruction sets that oneDNN may use", kUnset,
     true},
    {"ONEDNN_CPU_ISA_HINTS", when_on, "makes oneDNN prefer narrower vectors", kUnset, true},
    {"DNNL_CPU_ISA_HINTS", when_on, "makes oneDNN prefer narrower vectors", kUnset, true},
    {"ONEDNN_DEFAULT_FPMATH_MODE", when_on,
     "lets oneDNN compute f32 in a smaller type: precision is not matched", kUnset, true},
    {"ONEDNN_VERBOSE", when_on, "makes oneDNN print a line for every dispatch, inside regions",
     kUnset, true},
    {"DNNL_VERBOSE", when_on, "makes oneDNN print a line for every dispatch, inside regions",
     kUnset, true},
    {"ONEDNN_PRIMITIVE_CACHE_CAPACITY", never,
     "sizes oneDNN's cache: 0 makes per-call mode compile every time", kUnsetUnlessMeant},
    {"ONEDNN_*", never, "changes how oneDNN runs", kUnsetUnlessMeant},
    {"DNNL_*", never, "changes how oneDNN runs", kUnsetUnlessMeant},
    {"MKL_ENABLE_INSTRUCTIONS", when_below_mkl, "caps the instruction sets that MKL may use",
     kUnset, true},
    {"MKL_DEBUG_CPU_TYPE", always,
     "forces MKL's choice of kernels up to version 2020.0; later ones ignore it", kUnset, true},
    {"MKL_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"MKL_DOMAIN_NUM_THREADS", always, "sets MKL's threads by function, over MKL_NUM_THREADS",
     kUnset},
    {"MKL_CBWR", when_on, "makes MKL keep to kernels that give the same bits everywhere: slower",
     kUnsetUnlessMeant},
    {"MKL_VERBOSE", when_on, "makes MKL print a line for every call, inside regions", kUnset, true},
    {"MKL_*", never, "changes how MKL runs", kUnsetUnlessMeant},
    {"OMP_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"OMP_THREAD_LIMIT", when_fewer_threads, "limits OpenMP's threads", kMatchThreads},
    {"OMP_DYNAMIC", when_on, "lets OpenMP use fewer threads as it likes", kUnset},
    {"OMP_WAIT_POLICY", always, kIdleEffect, kUnsetUnlessMeant},
    {"GOMP_SPINCOUNT", always, kIdleEffect, kUnsetUnlessMeant},
    {"KMP_BLOCKTIME", when_not_default_blocktime, kIdleEffect, kUnsetUnlessMeant},
    {"GOMP_CPU_AFFINITY", when_too_few_places, kPinEffect, kUnset},
    {"KMP_AFFINITY", never, kPinEffect, kUnset},
    {"OMP_PROC_BIND", when_all_in_one_place, kPinEffect, kUnset},
    {"OMP_PLACES", never, kPinEffect, kUnset},
    {"BLIS_NUM_THREADS", when_not_all_threads, kThreadEffect, kMatchThreads},
    {"BLIS_ARCH_TYPE", always, "makes BLIS use the kernels of the named processor", kUnset, true},
    {"AOCL_ENABLE_INSTRUCTIONS", always, "caps the instruction sets that AMD's libraries may use",
     kUnset, true},
    {"NVPL_*", never, "is read by NVIDIA's libraries for Arm processors, which Tare does not weigh",
     ""},
    {"GLIBC_TUNABLES", when_instructions_hidden,
     "tunes the C library: instruction sets it may use, pages that malloc takes", kUnset},
    {"MALLOC_PERTURB_", when_on, "makes malloc fill all memory that it hands out", kUnset},
    {"MALLOC_CHECK_", when_on, "makes malloc check itself at every call", kUnset},
    {"MALLOC_*", never, kMallocEffect, kUnsetUnlessMeant},
    {"LD_PRELOAD", always,
     "puts other code before every library's own: an allocator, a profiler, another BLAS",
     kUnsetUnlessMeant},
    {"LD_AUDIT", always, "puts an observer between libraries", kUnset},
    {"LD_LIBRARY_PATH", never,
     "may load other versions of libraries than those installed: see the implementations below",
     ""},
    {"NPROC", never, "is the number of processors for build scripts; no library reads it", ""},
    {"MLX_DISABLE_COMPILE", when_on, "keeps MLX from fusing", kUnset},
    {"MLX_ENABLE_TF32", never,
     "lets MLX compute f32 with 10 bits on GPUs: precision is not matched", kUnsetUnlessMeant},
    {"MLX_*", never, "changes how MLX runs", kUnsetUnlessMeant},
    {"GGML_*", never, "changes how ggml runs", kUnsetUnlessMeant},
    {"CUDA_LAUNCH_BLOCKING", when_on, "makes every CUDA launch wait for its end", kUnset},
    {"CUDA_VISIBLE_DEVICES", never, "hides GPUs", ""},
    {"NVIDIA_TF32_OVERRIDE", always,
     "overrides the precision of every CUDA library: precision is not matched", kUnset, true},
});

bool fits(const Rule& rule, std::string_view variable) {
  if (!rule.variable.ends_with('*')) return rule.variable == variable;
  return variable.starts_with(rule.variable.substr(0, rule.variable.size() - 1));
}

std::string filled(std::string_view text, const Setting& setting, const Machine& machine) {
  return fmt::format(fmt::runtime(text), fmt::arg("variable", setting.first),
                     fmt::arg("threads", machine.threads));
}

}  // namespace

std::vector<Setting> environment() {
  std::vector<Setting> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

std::optional<Hobble> judge_setting(const Setting& setting, const Machine& machine) {
  const auto rule =
      std::ranges::find_if(kRules, [&](const Rule& r) { return fits(r, setting.first); });
  if (rule == kRules.end()) return std::nullopt;
  return Hobble{.variable = setting.first,
                .value = setting.second,
                .effect = filled(rule->effect, setting, machine),
                .advice = filled(rule->advice, setting, machine),
                .harmful = rule->harmful(setting.second, machine),
                .withheld = rule->withheld && rule->harmful(setting.second, machine)};
}

std::vector<Hobble> judge_environment(const std::vector<Setting>& settings,
                                      const Machine& machine) {
  std::vector<Hobble> hobbles;
  for (const Setting& setting : settings) {
    if (auto hobble = judge_setting(setting, machine)) hobbles.push_back(std::move(*hobble));
  }
  std::ranges::sort(hobbles, {}, [](const Hobble& h) { return std::pair(!h.harmful, h.variable); });
  return hobbles;
}

std::vector<Hobble> hobbling_variables() {
  return judge_environment(environment(), inspect());
}

}  // namespace tare::device
