// One projection as cuBLASLt sees it, and the library itself, looked up when the module is opened.
//
// cuBLASLt is column-major: W[n, k] row-major is a k x n matrix, taken transposed; x[rows, k] is k
// x rows; y[rows, n] is n x rows. bf16 in and out, f32 sums, alpha 1, beta 0; a bias, of bf16, is
// the epilogue's.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "device_region.h"
#include "tare/arm.h"

namespace tare::modules {

// The functions that are used. Loaded once a process and never unloaded.
struct CublasLt {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) make_operation;
  decltype(&cublasLtMatmulDescDestroy) drop_operation;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation;
  decltype(&cublasLtMatrixLayoutCreate) make_layout;
  decltype(&cublasLtMatrixLayoutDestroy) drop_layout;
  decltype(&cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) drop_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulAlgoGetIds) algorithm_ids;
  decltype(&cublasLtMatmulAlgoInit) init_algorithm;
  decltype(&cublasLtMatmulAlgoCheck) check_algorithm;
  decltype(&cublasLtMatmulAlgoCapGetAttribute) capability;
  decltype(&cublasLtMatmulAlgoConfigSetAttribute) set_algorithm;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get_algorithm;
};

// Throws tare::Error (kMachine) when the library is not there. TARE_CUBLASLT names another file.
const CublasLt& cublaslt();
std::string cublaslt_version();

void require(cublasStatus_t status, const char* what);

inline constexpr std::size_t kCublasLtWorkspace = std::size_t{64} << 20U;

class CublasLtProblem {
 public:
  explicit CublasLtProblem(const tare_problem& problem);
  ~CublasLtProblem();
  CublasLtProblem(const CublasLtProblem&) = delete;
  CublasLtProblem& operator=(const CublasLtProblem&) = delete;

  cublasLtHandle_t handle() const { return handle_; }
  cublasLtMatmulDesc_t operation() const { return operation_; }
  cublasLtMatrixLayout_t w() const { return w_; }
  cublasLtMatrixLayout_t x() const { return x_; }
  cublasLtMatrixLayout_t y() const { return y_; }

  // Launches one product: y = x . W^T (+ b, which lies behind W as tare/arm.h says). `workspace`:
  // kCublasLtWorkspace bytes.
  cublasStatus_t run(const cublasLtMatmulAlgo_t& algorithm, const void* weights, const void* x,
                     void* y, void* workspace, cudaStream_t stream) const;

 private:
  const CublasLt& lt_ = cublaslt();
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, y_ = nullptr;
  std::size_t bias_ = 0;  // where it lies behind W; 0: none
};

}  // namespace tare::modules
