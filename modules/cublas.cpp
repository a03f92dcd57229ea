// cuBLAS's cublasGemmEx as an arm, as PyTorch's linear calls it for bf16: the default algorithm,
// f32 sums, no choice of one's own. (cublaslt.cpp has what a search finds.)
//
// cuBLAS is column-major: W[n, k] row-major is a k x n matrix, taken transposed; x[rows, k] is k x
// rows; y[rows, n] is n x rows.
#include <cublas_v2.h>

#include <string>

#include "device_arm_table.h"
#include "device_executor.h"
#include "loaded_library.h"

namespace {

using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::require;

// cublasGemmEx by its C signature: the header overloads the name.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);

struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasGetVersion_v2) version;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  GemmEx* gemm;
};

Cublas load() {
  const tare::modules::LoadedLibrary library("cuBLAS", "TARE_CUBLAS", "libcublas.so.13");
  Cublas cublas{};
  library.find("cublasCreate_v2", cublas.create);
  library.find("cublasDestroy_v2", cublas.destroy);
  library.find("cublasGetVersion_v2", cublas.version);
  library.find("cublasSetStream_v2", cublas.set_stream);
  library.find("cublasSetWorkspace_v2", cublas.set_workspace);
  library.find("cublasGemmEx", cublas.gemm);
  return cublas;
}

const Cublas& cublas() {
  static const Cublas loaded = load();
  return loaded;
}

void require_status(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  tare::fail(tare::Blame::kMachine, "{} failed with cuBLAS status {}", what,
             static_cast<int>(status));
}

// What PyTorch gives it on compute capability 9.0, and cuBLAS's own default there.
constexpr std::size_t kWorkspace = std::size_t{32} << 20U;
constexpr std::size_t kAlignment = 256;  // bytes, of every slot: what cudaMalloc gives

class Handle {
 public:
  Handle() { require_status(cublas().create(&handle_), "cublasCreate"); }
  ~Handle() { cublas().destroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasHandle_t get() const { return handle_; }
  std::string version() const {
    int number = 0;  // 130100: 13.1.0
    require_status(cublas().version(handle_, &number), "cublasGetVersion");
    return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

struct tare_executor final : tare::modules::DeviceExecutor {
  tare_executor(const tare_problem& problem, std::uint32_t slots)
      : DeviceExecutor(problem),
        slot_bytes((kElement * problem.k * problem.n + kAlignment - 1) / kAlignment * kAlignment),
        ring(slots * slot_bytes),
        workspace(kWorkspace) {
    // Setting the stream takes a workspace away, so it comes first. Its own memory: cuBLAS would
    // allocate while a graph is captured.
    require_status(cublas().set_stream(handle.get(), stream()), "cublasSetStream");
    require_status(cublas().set_workspace(handle.get(), workspace.data(), kWorkspace),
                   "cublasSetWorkspace");
  }

  void bind(std::uint32_t slot, const void* weights) const {
    require(cudaMemcpy(ring.data() + slot * slot_bytes, weights, kElement * problem_.k * problem_.n,
                       cudaMemcpyHostToDevice),
            "copying weights to the device");
  }

  void set_rows(std::uint32_t rows) { problem_.rows = rows; }

  void record(std::span<const DeviceDispatch> dispatches, bool, cudaStream_t) override {
    const float one = 1, zero = 0;
    const auto k = static_cast<int>(problem_.k), n = static_cast<int>(problem_.n);
    const auto rows = static_cast<int>(problem_.rows);
    for (const DeviceDispatch& dispatch : dispatches)
      require_status(cublas().gemm(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, rows, k, &one,
                                   ring.data() + dispatch.slot * slot_bytes, CUDA_R_16BF, k,
                                   dispatch.x, CUDA_R_16BF, k, &zero, dispatch.y, CUDA_R_16BF, n,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx");
  }

  void describe(tare_dispatch_record& record) const {
    tare::modules::fill(record,
                        {"cublasGemmEx, default algorithm", isa_of(tare::modules::opened_device()),
                         "workspace 32 MiB", "cuBLAS " + handle.version()},
                        0U);
  }

  std::size_t slot_bytes;
  DeviceMemory ring, workspace;
  Handle handle;
};

namespace {

using tare::modules::fenced;

int open_library(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    cublas();
    tare::modules::open_device([] { return cudaSuccess; });
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_bf16(*problem, "cuBLAS", std::numeric_limits<int>::max());
  });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots); });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm arm = tare::modules::device_arm_table<tare_executor>(
      {0U, "cublas-gemmex", "cuBLAS gemmEx", ""}, {open_library, supports, prepare});
  return index == 0 ? &arm.arm : nullptr;
}
