// The buffers in which a model's matrices lie that may be served, and what was packed of them.
#pragma once

#include <ggml-backend.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "packed_matrix.h"
#include "session.h"

namespace tare::llama {

// What is packed of the tensors of one buffer. A tensor is known by where its data lies: its buffer
// takes what was packed with it when it is freed. Thread safe.
class PackedMatrices {
 public:
  // The matrix of `weights`, packed on first use.
  std::shared_ptr<const PackedMatrix> of(const ggml_tensor* weights, const Team& team,
                                         Ledger& ledger);
  // Its data were written: what was packed of it is of the past.
  void forget(const ggml_tensor* tensor);
  void forget_all();

 private:
  struct Key {
    const std::byte* data;
    std::int64_t k, n;  // a view of some outputs may begin where the whole does
    ggml_type type;
    auto operator<=>(const Key&) const = default;
  };
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const PackedMatrix>> packed_;
};

// Plain memory in ggml's own layout: what ggml's CPU back end reads in place, too. A buffer of this
// type has PackedMatrices beside it. `device`: the back end's.
ggml_backend_buffer_type_t buffer_type(ggml_backend_dev_t device);
// Around memory that is somebody else's (a mapped file).
ggml_backend_buffer_t buffer_around(ggml_backend_buffer_type_t type, void* memory,
                                    std::size_t bytes);
bool is_ours(const ggml_backend_buffer* buffer);
PackedMatrices& matrices_in(ggml_backend_buffer_t buffer);

}  // namespace tare::llama
