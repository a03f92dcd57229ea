#include "cublaslt_problem.h"

#include "base/error.h"
#include "formats/weight_format.h"
#include "loaded_library.h"

namespace tare::modules {
namespace {

CublasLt load() {
  const LoadedLibrary library("cuBLASLt", "TARE_CUBLASLT", "libcublasLt.so.13");
  CublasLt lt{};
  library.find("cublasLtCreate", lt.create);
  library.find("cublasLtGetVersion", lt.version);
  library.find("cublasLtMatmul", lt.matmul);
  library.find("cublasLtMatmulDescCreate", lt.make_operation);
  library.find("cublasLtMatmulDescDestroy", lt.drop_operation);
  library.find("cublasLtMatmulDescSetAttribute", lt.set_operation);
  library.find("cublasLtMatrixLayoutCreate", lt.make_layout);
  library.find("cublasLtMatrixLayoutDestroy", lt.drop_layout);
  library.find("cublasLtMatmulPreferenceCreate", lt.make_preference);
  library.find("cublasLtMatmulPreferenceDestroy", lt.drop_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", lt.set_preference);
  library.find("cublasLtMatmulAlgoGetHeuristic", lt.heuristic);
  library.find("cublasLtMatmulAlgoGetIds", lt.algorithm_ids);
  library.find("cublasLtMatmulAlgoInit", lt.init_algorithm);
  library.find("cublasLtMatmulAlgoCheck", lt.check_algorithm);
  library.find("cublasLtMatmulAlgoCapGetAttribute", lt.capability);
  library.find("cublasLtMatmulAlgoConfigSetAttribute", lt.set_algorithm);
  library.find("cublasLtMatmulAlgoConfigGetAttribute", lt.get_algorithm);
  return lt;
}

// One handle a process: making one takes milliseconds and device memory.
cublasLtHandle_t shared_handle() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    require(cublaslt().create(&made), "cublasLtCreate");
    return made;
  }();
  return handle;
}

}  // namespace

void require(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(Blame::kMachine, "{} failed with cuBLAS status {}", what, static_cast<int>(status));
}

const CublasLt& cublaslt() {
  static const CublasLt lt = load();
  return lt;
}

std::string cublaslt_version() {
  const std::size_t version = cublaslt().version();  // 130100: 13.1.0
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

CublasLtProblem::CublasLtProblem(const tare_problem& problem) : handle_(shared_handle()) {
  require(lt_.make_operation(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  require(
      lt_.set_operation(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
      "cublasLtMatmulDescSetAttribute");
  if (problem.bias != 0) {
    const cublasLtEpilogue_t adds = CUBLASLT_EPILOGUE_BIAS;
    const cudaDataType_t type = CUDA_R_16BF;
    require(lt_.set_operation(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, &adds, sizeof adds),
            "cublasLtMatmulDescSetAttribute");
    require(lt_.set_operation(operation_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type),
            "cublasLtMatmulDescSetAttribute");
    bias_ = formats::layout_of(problem).output_bias;
  }
  const auto k = static_cast<std::int64_t>(problem.k);
  const auto n = static_cast<std::int64_t>(problem.n);
  require(lt_.make_layout(&w_, CUDA_R_16BF, problem.k, problem.n, k), "cublasLtMatrixLayoutCreate");
  require(lt_.make_layout(&x_, CUDA_R_16BF, problem.k, problem.rows, k),
          "cublasLtMatrixLayoutCreate");
  require(lt_.make_layout(&y_, CUDA_R_16BF, problem.n, problem.rows, n),
          "cublasLtMatrixLayoutCreate");
}

CublasLtProblem::~CublasLtProblem() {
  lt_.drop_layout(y_);
  lt_.drop_layout(x_);
  lt_.drop_layout(w_);
  lt_.drop_operation(operation_);
}

cublasStatus_t CublasLtProblem::run(const cublasLtMatmulAlgo_t& algorithm, const void* weights,
                                    const void* x, void* y, void* workspace,
                                    cudaStream_t stream) const {
  const float one = 1, zero = 0;
  if (bias_ != 0) {
    const void* bias = static_cast<const std::byte*>(weights) + bias_;
    const cublasStatus_t set =
        lt_.set_operation(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (set != CUBLAS_STATUS_SUCCESS) return set;
  }
  return lt_.matmul(handle_, operation_, &one, weights, w_, x, x_, &zero, y, y_, y, y_, &algorithm,
                    workspace, kCublasLtWorkspace, stream);
}

}  // namespace tare::modules
