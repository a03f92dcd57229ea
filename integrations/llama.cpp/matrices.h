// The buffers in which a model's matrices lie that may be served, and what was made of them.
#pragma once

#include <ggml-backend.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "ledger.h"
#include "own_layout.h"
#include "packed_matrix.h"

namespace tare::llama {

// Packed anew, whoever has the tensor.
std::shared_ptr<const PackedMatrix> packed_matrix(Kernel::Kind kind, const ggml_tensor* weights,
                                                  const Team& team);

// The forms in which the tensors of one buffer are multiplied, each made on first use. A tensor is
// known by where its data lies: its buffer takes them with it when it is freed. Thread safe.
class Matrices {
 public:
  // For our kernels.
  std::shared_ptr<const PackedMatrix> packed(Kernel::Kind kind, const ggml_tensor* weights,
                                             const Team& team, Ledger& ledger);
  // For ggml's, in a layout of its own: `where` is of own_layout_for().
  std::shared_ptr<const OwnLayout> own_layout(const ggml_tensor* weights,
                                              ggml_backend_buffer_type_t where, Ledger& ledger);
  // Its data were written: what was made of it is of the past.
  void forget(const ggml_tensor* tensor);
  void forget_all();

 private:
  struct Key {
    const std::byte* data;
    std::int64_t k, n;  // a view of some outputs may begin where the whole does
    ggml_type type;
    auto operator<=>(const Key&) const = default;
  };
  struct Forms {
    std::map<Kernel::Kind, std::shared_ptr<const PackedMatrix>> packed;
    std::shared_ptr<const OwnLayout> own_layout;
  };
  Forms& forms_of(const ggml_tensor* weights);

  std::mutex mutex_;
  std::map<Key, Forms> forms_;
};

// Plain memory in ggml's own layout: what ggml's CPU back end reads in place, too. A buffer of this
// type has Matrices beside it. `device`: the back end's.
ggml_backend_buffer_type_t buffer_type(ggml_backend_dev_t device);
// Around memory that is somebody else's (a mapped file).
ggml_backend_buffer_t buffer_around(ggml_backend_buffer_type_t type, void* memory,
                                    std::size_t bytes);
bool is_ours(const ggml_backend_buffer* buffer);
Matrices& matrices_in(ggml_backend_buffer_t buffer);

}  // namespace tare::llama
