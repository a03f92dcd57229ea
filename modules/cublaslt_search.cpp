#include "cublaslt_search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <tuple>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::modules {
namespace {

using Algorithm = cublasLtMatmulAlgo_t;
using Clock = std::chrono::steady_clock;

constexpr int kMostIds = 128;
constexpr int kMostHeuristics = 64;
constexpr std::size_t kKept = 32;       // that go on to the second phase
constexpr std::size_t kConfirmed = 12;  // that are timed again, long, on fresh data
constexpr int kLookDispatches = 8, kConfirmDispatches = 48, kConfirmTurns = 9;
constexpr std::size_t kRingBytes = std::size_t{256} << 20U;  // past any L2
constexpr double kFirstSeconds = 1.0, kSecondSeconds = 0.7;  // of search, at most
constexpr std::array<std::uint32_t, 10> kSplits{2, 3, 4, 5, 6, 8, 10, 12, 16, 24};

// Pieces of split sums are added up in f32, the problem's accumulator. The other schemes round them
// to the output's type: at 257 x 67, 31 rows, 788 of 2077 outputs were off by up to 8 bf16 steps.
constexpr std::uint32_t kReductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

template <typename Value>
Value configured(const Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t what) {
  Value value{};
  std::size_t written = 0;
  cublaslt().get_algorithm(&algorithm, what, &value, sizeof value, &written);
  return value;
}

template <typename Value>
void configure(Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t what, Value value) {
  cublaslt().set_algorithm(&algorithm, what, &value, sizeof value);
}

template <typename Value>
Value capability(const Algorithm& algorithm, cublasLtMatmulAlgoCapAttributes_t what) {
  Value value{};
  std::size_t written = 0;
  cublaslt().capability(&algorithm, what, &value, sizeof value, &written);
  return value;
}

std::vector<std::uint32_t> listed(const Algorithm& algorithm,
                                  cublasLtMatmulAlgoCapAttributes_t what) {
  std::size_t bytes = 0;
  cublaslt().capability(&algorithm, what, nullptr, 0, &bytes);
  std::vector<std::uint32_t> values(bytes / sizeof(std::uint32_t));
  if (!values.empty()) cublaslt().capability(&algorithm, what, values.data(), bytes, &bytes);
  return values;
}

std::string words_of(const Algorithm& algorithm) {
  return fmt::format(
      "algo {}, tile {}, stages {}, split-k {}, reduction {}, swizzle {}, custom {}, inner {}, "
      "cluster {}",
      configured<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
      configured<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
      configured<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
      configured<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
      configured<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
      configured<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
      configured<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
      configured<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
      configured<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

std::vector<Algorithm> heuristics(const CublasLtProblem& problem, int most) {
  const CublasLt& lt = cublaslt();
  cublasLtMatmulPreference_t preference = nullptr;
  require(lt.make_preference(&preference), "cublasLtMatmulPreferenceCreate");
  const std::size_t workspace = kCublasLtWorkspace;
  lt.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                    sizeof workspace);
  lt.set_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &kReductions,
                    sizeof kReductions);
  const std::uint32_t output_alignment = 64;  // of outputs between guard zones
  for (const auto what :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    lt.set_preference(preference, what, &output_alignment, sizeof output_alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int found = 0;
  lt.heuristic(problem.handle(), problem.operation(), problem.w(), problem.x(), problem.y(),
               problem.y(), preference, most, results.data(), &found);
  lt.drop_preference(preference);
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < found; ++i)
    if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back(results[static_cast<std::size_t>(i)].algo);
  return algorithms;
}

bool runs(const CublasLtProblem& problem, const Algorithm& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublaslt().check_algorithm(problem.handle(), problem.operation(), problem.w(), problem.x(),
                                 problem.y(), problem.y(), &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kCublasLtWorkspace;
}

std::vector<std::uint32_t> or_default(std::vector<std::uint32_t> values) {
  if (values.empty()) values.push_back(0);
  return values;
}

// Every id with its tiles, stages, custom options and clusters; split-k and the rest come later.
std::vector<Algorithm> first_phase(const CublasLtProblem& problem) {
  std::array<int, kMostIds> ids{};
  int count = 0;
  cublaslt().algorithm_ids(problem.handle(), CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF,
                           CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, kMostIds, ids.data(), &count);
  std::vector<Algorithm> found;
  for (int i = 0; i < count; ++i) {
    Algorithm base{};
    if (cublaslt().init_algorithm(problem.handle(), CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF,
                                  CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF,
                                  ids[static_cast<std::size_t>(i)], &base) != CUBLAS_STATUS_SUCCESS)
      continue;
    const auto options = capability<std::int32_t>(base, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
    for (const std::uint32_t tile : or_default(listed(base, CUBLASLT_ALGO_CAP_TILE_IDS)))
      for (const std::uint32_t stages : or_default(listed(base, CUBLASLT_ALGO_CAP_STAGES_IDS)))
        for (std::int32_t option = 0; option <= options; ++option)
          for (std::uint16_t cluster = CUBLASLT_CLUSTER_SHAPE_AUTO;
               cluster <= CUBLASLT_CLUSTER_SHAPE_1x8x1; ++cluster) {
            if (cluster == 1) continue;  // not a shape
            Algorithm algorithm = base;
            configure(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, tile);
            configure(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, stages);
            configure(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
                      static_cast<std::uint32_t>(option));
            configure(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, cluster);
            const bool taken = runs(problem, algorithm);
            if (taken) found.push_back(algorithm);
            // Algorithms without clusters take any shape, or none but the first.
            if (cluster == CUBLASLT_CLUSTER_SHAPE_AUTO && !taken) break;
          }
  }
  return found;
}

std::vector<Algorithm> variations(const CublasLtProblem& problem, const Algorithm& algorithm) {
  std::vector<Algorithm> found;
  const auto offer = [&](std::int32_t splits, std::uint32_t reduction, std::uint32_t swizzle) {
    Algorithm varied = algorithm;
    configure(varied, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, splits);
    configure(varied, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, reduction);
    configure(varied, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, swizzle);
    if (runs(problem, varied)) found.push_back(varied);
  };
  const bool swizzles =
      capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0;
  if (swizzles) offer(1, CUBLASLT_REDUCTION_SCHEME_NONE, 1);
  if (capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) == 0) return found;
  for (const std::uint32_t splits : kSplits)
    for (const std::uint32_t swizzle : {0U, 1U})
      if (swizzle == 0 || swizzles) offer(static_cast<std::int32_t>(splits), kReductions, swizzle);
  return found;
}

// Times algorithms over a ring of random weights.
class Stopwatch {
 public:
  explicit Stopwatch(const tare_problem& problem)
      : problem_(problem),
        lt_(problem),
        slot_bytes_((formats::layout_of(problem).total_bytes + 255) / 256 * 256),
        slots_(std::max<std::size_t>(2, (kRingBytes + slot_bytes_ - 1) / slot_bytes_)),
        ring_(slots_ * slot_bytes_),
        x_(2 * problem.k * problem.rows),
        y_(2 * problem.n * problem.rows),
        workspace_(kCublasLtWorkspace) {
    fresh_data(1);
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    require(cudaEventCreate(&before_), "making an event");
    require(cudaEventCreate(&after_), "making an event");
  }
  ~Stopwatch() {
    cudaEventDestroy(after_);
    cudaEventDestroy(before_);
    cudaStreamDestroy(stream_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  const CublasLtProblem& problem() const { return lt_; }

  // Values between -1 and 1, all bits in use: what a block of host memory holds, again and again.
  void fresh_data(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint16_t> block(std::size_t{4} << 20U);
    for (std::uint16_t& value : block) {
      const std::uint64_t bits = random();
      value = static_cast<std::uint16_t>((bits & 0x807fU) | ((0x7cU - (bits >> 20U) % 5) << 7U));
    }
    for (const DeviceMemory* memory : {&ring_, &x_})
      for (std::size_t at = 0; at < memory->size(); at += 2 * block.size())
        require(cudaMemcpy(memory->data() + at, block.data(),
                           std::min(2 * block.size(), memory->size() - at), cudaMemcpyHostToDevice),
                "copying to the device");
  }

  // Seconds of one dispatch, in a graph of so many; nothing when it does not run.
  std::optional<double> time(const Algorithm& algorithm, int dispatches) {
    cudaGraph_t graph = nullptr;
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
      return std::nullopt;
    bool good = true;
    for (int i = 0; i < dispatches && good; ++i) {
      cursor_ = (cursor_ + 1) % slots_;
      good = lt_.run(algorithm, ring_.data() + cursor_ * slot_bytes_, x_.data(), y_.data(),
                     workspace_.data(), stream_) == CUBLAS_STATUS_SUCCESS;
    }
    good = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && good;
    cudaGraphExec_t ready = nullptr;
    good = good && cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess;
    cudaGraphDestroy(graph);
    float milliseconds = 0;
    good = good && cudaGraphUpload(ready, stream_) == cudaSuccess &&
           cudaEventRecord(before_, stream_) == cudaSuccess &&
           cudaGraphLaunch(ready, stream_) == cudaSuccess &&
           cudaEventRecord(after_, stream_) == cudaSuccess &&
           cudaStreamSynchronize(stream_) == cudaSuccess &&
           cudaEventElapsedTime(&milliseconds, before_, after_) == cudaSuccess;
    if (ready != nullptr) cudaGraphExecDestroy(ready);
    cudaGetLastError();
    if (!good) return std::nullopt;
    return 1e-3 * static_cast<double>(milliseconds) / dispatches;
  }

 private:
  tare_problem problem_;
  CublasLtProblem lt_;
  std::size_t slot_bytes_, slots_, cursor_ = 0;
  DeviceMemory ring_, x_, y_, workspace_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

struct Timed {
  Algorithm algorithm;
  double seconds;
};

void keep_fastest(std::vector<Timed>& timed, std::size_t most) {
  std::ranges::sort(timed, {}, &Timed::seconds);
  if (timed.size() > most) timed.resize(most);
}

// In random order, so that a search that runs out of time has looked everywhere.
std::size_t look(Stopwatch& stopwatch, std::vector<Algorithm> algorithms, double most_seconds,
                 std::vector<Timed>& timed) {
  std::mt19937_64 random(algorithms.size());
  std::ranges::shuffle(algorithms, random);
  const auto start = Clock::now();
  std::size_t count = 0;
  for (const Algorithm& algorithm : algorithms) {
    if (std::chrono::duration<double>(Clock::now() - start).count() > most_seconds) break;
    if (const auto seconds = stopwatch.time(algorithm, kLookDispatches))
      timed.push_back({algorithm, *seconds});
    ++count;
  }
  return count;
}

// The median of several turns, the candidates taking turns; element 0 is the heuristic's first.
std::vector<double> confirm(Stopwatch& stopwatch, const std::vector<Timed>& candidates) {
  stopwatch.fresh_data(2);
  std::vector<std::vector<double>> seconds(candidates.size());
  for (int turn = 0; turn < kConfirmTurns; ++turn)
    for (std::size_t i = 0; i < candidates.size(); ++i)
      seconds[i].push_back(
          stopwatch.time(candidates[i].algorithm, kConfirmDispatches).value_or(1e9));
  std::vector<double> medians;
  for (std::vector<double>& all : seconds) {
    std::ranges::nth_element(all, all.begin() + kConfirmTurns / 2);
    medians.push_back(all[kConfirmTurns / 2]);
  }
  return medians;
}

CublasLtChoice search(const tare_problem& problem) {
  Stopwatch stopwatch(problem);
  std::vector<Algorithm> offered = heuristics(stopwatch.problem(), kMostHeuristics);
  if (offered.empty()) fail(Blame::kArm, "cuBLASLt's heuristic offers no algorithm");
  const Algorithm first = offered.front();
  std::vector<Timed> timed;
  std::size_t count = look(stopwatch, offered, kFirstSeconds, timed);
  count += look(stopwatch, first_phase(stopwatch.problem()), kFirstSeconds, timed);
  keep_fastest(timed, kKept);
  std::vector<Algorithm> varied;
  for (const Timed& one : timed)
    for (const Algorithm& algorithm : variations(stopwatch.problem(), one.algorithm))
      varied.push_back(algorithm);
  count += look(stopwatch, varied, kSecondSeconds, timed);
  keep_fastest(timed, kConfirmed);
  timed.insert(timed.begin(), {first, 0});
  const std::vector<double> medians = confirm(stopwatch, timed);
  const auto best = std::ranges::min_element(medians) - medians.begin();
  CublasLtChoice choice;
  choice.algorithm = timed[static_cast<std::size_t>(best)].algorithm;
  choice.words = words_of(choice.algorithm);
  choice.seconds = medians[static_cast<std::size_t>(best)];
  choice.timed = count;
  choice.heuristic_seconds = medians.front();
  return choice;
}

}  // namespace

CublasLtChoice heuristic_choice(const CublasLtProblem& problem) {
  const std::vector<Algorithm> offered = heuristics(problem, 1);
  if (offered.empty()) fail(Blame::kArm, "cuBLASLt's heuristic offers no algorithm");
  CublasLtChoice choice;
  choice.algorithm = offered.front();
  choice.words = words_of(choice.algorithm);
  return choice;
}

const CublasLtChoice& fastest_choice(const tare_problem& problem) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>;
  static std::map<Key, CublasLtChoice> known;
  const Key key{problem.k, problem.n, problem.rows, problem.bias};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, search(problem)).first->second;
}

}  // namespace tare::modules
