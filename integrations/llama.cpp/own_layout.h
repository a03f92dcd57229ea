// Matrices that ggml keeps in a layout of its own (CPU_REPACK), for all row counts: what it would
// have done with one of them that lies in a buffer of ours, since the plan serves some of its rows.
#pragma once

#include <ggml-backend.h>
#include <ggml.h>

#include <cstdint>
#include <memory>

namespace tare::llama {

// The kind of buffer in which ggml's processor back end would keep the matrix of this MUL_MAT in
// such a layout; null where it would leave it as the file has it.
ggml_backend_buffer_type_t own_layout_for(const ggml_tensor* node);

// One matrix in that layout.
class OwnLayout {
 public:
  // Reads `weights` now and not again. Throws tare::Error (kMachine) where ggml has no memory.
  OwnLayout(ggml_backend_buffer_type_t where, const ggml_tensor* weights);
  ggml_tensor* weights() const { return weights_; }

 private:
  struct Free {
    void operator()(ggml_context* context) const { ggml_free(context); }
    void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
  };
  std::unique_ptr<ggml_context, Free> context_;
  std::unique_ptr<ggml_backend_buffer, Free> buffer_;
  ggml_tensor* weights_ = nullptr;
};

// ggml's own processor back end, for products that are left to it. One caller at a time.
class Engine {
 public:
  void set_threads(std::uint32_t threads);
  // `node` of these weights: the same kernel on the same threads as without us.
  ggml_status run(const ggml_tensor* node, ggml_tensor* weights);

 private:
  struct Free {
    void operator()(ggml_context* context) const { ggml_free(context); }
    void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
  };
  void start();

  std::uint32_t threads_ = 1;
  std::unique_ptr<ggml_backend, Free> backend_;  // null: not started
  std::unique_ptr<ggml_context, Free> context_;
  ggml_cgraph* graph_ = nullptr;
};

}  // namespace tare::llama
