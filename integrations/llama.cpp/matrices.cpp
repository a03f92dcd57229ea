#include "matrices.h"

#include <ggml-backend-impl.h>

#include <chrono>
#include <cstring>

#include "products.h"

namespace tare::llama {
namespace {

// What a buffer of ours is made of.
struct Storage {
  Pages own;  // empty: the memory is somebody else's
  std::byte* memory = nullptr;
  Matrices matrices;
};

constexpr std::size_t kAlignment = 64;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Storage& storage_of(ggml_backend_buffer_t buffer) {
  return *static_cast<Storage*>(buffer->context);
}

std::byte* data_of(const ggml_tensor* tensor) {
  return static_cast<std::byte*>(tensor->data);
}

ggml_backend_buffer_i interface() {
  return {
      .free_buffer = [](ggml_backend_buffer_t buffer) { delete &storage_of(buffer); },
      .get_base = [](ggml_backend_buffer_t buffer) -> void* { return storage_of(buffer).memory; },
      .init_tensor = nullptr,
      .memset_tensor =
          [](ggml_backend_buffer_t buffer, ggml_tensor* tensor, std::uint8_t value,
             std::size_t offset, std::size_t size) {
            std::memset(data_of(tensor) + offset, value, size);
            storage_of(buffer).matrices.forget(tensor);
          },
      .set_tensor =
          [](ggml_backend_buffer_t buffer, ggml_tensor* tensor, const void* data,
             std::size_t offset, std::size_t size) {
            std::memcpy(data_of(tensor) + offset, data, size);
            storage_of(buffer).matrices.forget(tensor);
          },
      .get_tensor = [](ggml_backend_buffer_t, const ggml_tensor* tensor, void* data,
                       std::size_t offset,
                       std::size_t size) { std::memcpy(data, data_of(tensor) + offset, size); },
      .set_tensor_2d = nullptr,
      .get_tensor_2d = nullptr,
      .cpy_tensor =
          [](ggml_backend_buffer_t buffer, const ggml_tensor* from, ggml_tensor* into) {
            if (!ggml_backend_buffer_is_host(from->buffer)) return false;
            std::memcpy(into->data, from->data, ggml_nbytes(from));
            storage_of(buffer).matrices.forget(into);
            return true;
          },
      .clear =
          [](ggml_backend_buffer_t buffer, std::uint8_t value) {
            std::memset(storage_of(buffer).memory, value, buffer->size);
            storage_of(buffer).matrices.forget_all();
          },
      .reset = nullptr};
}

// No exception may cross into ggml: a null buffer is "no memory".
ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t bytes) {
  try {
    auto storage = std::make_unique<Storage>();
    storage->own = Pages(bytes + kAlignment);
    storage->memory = storage->own.data();
    return ggml_backend_buffer_init(type, interface(), storage.release(), bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Matrices::Forms& Matrices::forms_of(const ggml_tensor* weights) {
  return forms_[{data_of(weights), weights->ne[0], weights->ne[1], weights->type}];
}

std::shared_ptr<const PackedMatrix> packed_matrix(Kernel::Kind kind, const ggml_tensor* weights,
                                                  const Team& team) {
  return std::make_shared<PackedMatrix>(
      kind, type_of(weights->type), static_cast<std::uint64_t>(weights->ne[0]),
      static_cast<std::uint64_t>(weights->ne[1]), weights->data, team);
}

std::shared_ptr<const PackedMatrix> Matrices::packed(Kernel::Kind kind, const ggml_tensor* weights,
                                                     const Team& team, Ledger& ledger) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const PackedMatrix>& packed = forms_of(weights).packed[kind];
  if (packed == nullptr) {
    const auto start = Clock::now();
    packed = packed_matrix(kind, weights, team);
    ledger.packed(ggml_nbytes(weights), packed->bytes(), seconds_since(start));
  }
  return packed;
}

std::shared_ptr<const OwnLayout> Matrices::own_layout(const ggml_tensor* weights,
                                                      ggml_backend_buffer_type_t where,
                                                      Ledger& ledger) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const OwnLayout>& own = forms_of(weights).own_layout;
  if (own == nullptr) {
    const auto start = Clock::now();
    own = std::make_shared<OwnLayout>(where, weights);
    ledger.laid_out_for_ggml(ggml_nbytes(weights), seconds_since(start));
  }
  return own;
}

void Matrices::forget(const ggml_tensor* tensor) {
  const std::lock_guard lock(mutex_);
  const std::byte* first = data_of(tensor);
  const std::byte* last = first + ggml_nbytes(tensor);
  std::erase_if(forms_,
                [&](const auto& one) { return one.first.data >= first && one.first.data < last; });
}

void Matrices::forget_all() {
  const std::lock_guard lock(mutex_);
  forms_.clear();
}

namespace {

// ggml tells types apart by where they are.
ggml_backend_buffer_type& own_type() {
  static ggml_backend_buffer_type type{
      .iface = {.get_name = [](ggml_backend_buffer_type_t) { return "Tare"; },
                .alloc_buffer = allocate,
                .get_alignment = [](ggml_backend_buffer_type_t) { return kAlignment; },
                .get_max_size = nullptr,
                .get_alloc_size = nullptr,
                .is_host = [](ggml_backend_buffer_type_t) { return true; }},
      .device = nullptr,
      .context = nullptr};
  return type;
}

}  // namespace

ggml_backend_buffer_type_t buffer_type(ggml_backend_dev_t device) {
  own_type().device = device;
  return &own_type();
}

ggml_backend_buffer_t buffer_around(ggml_backend_buffer_type_t type, void* memory,
                                    std::size_t bytes) {
  auto storage = std::make_unique<Storage>();
  storage->memory = static_cast<std::byte*>(memory);
  return ggml_backend_buffer_init(type, interface(), storage.release(), bytes);
}

bool is_ours(const ggml_backend_buffer* buffer) {
  return buffer != nullptr && buffer->buft == &own_type();
}

Matrices& matrices_in(ggml_backend_buffer_t buffer) {
  return storage_of(buffer).matrices;
}

}  // namespace tare::llama
