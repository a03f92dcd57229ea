// oneDNN's bf16 matmul with weights in the layout it likes best: the bits and the time to compare
// with.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "tare/arm.h"

namespace tare::kernels {

class OneDnnProjection {
 public:
  // `bias`: the type of what run() is given to be added, TARE_BF16 or TARE_F32; 0: nothing is.
  OneDnnProjection(std::uint64_t k, std::uint64_t n, std::uint32_t rows, std::uint32_t bias = 0)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        plain_(describe(n, k), dnnl::memory::data_type::bf16, dnnl::memory::format_tag::ba),
        matmul_(plan(k, n, rows, bias)) {
    x_ = dnnl::memory(matmul_.src_desc(), engine_, nullptr);
    y_ = dnnl::memory(matmul_.dst_desc(), engine_, nullptr);
    if (bias != 0) bias_ = dnnl::memory(matmul_.bias_desc(), engine_, nullptr);
    primitive_ = dnnl::matmul(matmul_);
  }

  // Bytes of one slot in oneDNN's own layout.
  std::uint64_t bytes() const { return matmul_.weights_desc().get_size(); }

  // Packs W[n, k] into `into`, which holds bytes() and stays where it is.
  void bind(const std::uint16_t* weights, void* into) {
    dnnl::memory from(plain_, engine_, const_cast<std::uint16_t*>(weights));
    slots_.emplace_back(matmul_.weights_desc(), engine_, into);
    dnnl::reorder(from, slots_.back()).execute(stream_, from, slots_.back());
    stream_.wait();
  }

  // `bias` [n] of the type it was made for.
  void run(std::size_t slot, const std::uint16_t* x, std::uint16_t* y, const void* bias = nullptr) {
    x_.set_data_handle(const_cast<std::uint16_t*>(x));
    y_.set_data_handle(y);
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, slots_[slot]}, {DNNL_ARG_DST, y_}};
    if (bias_) {
      bias_.set_data_handle(const_cast<void*>(bias));
      arguments.emplace(DNNL_ARG_BIAS, bias_);
    }
    primitive_.execute(stream_, arguments);
    stream_.wait();
  }

  std::string implementation() const { return matmul_.impl_info_str(); }

 private:
  static dnnl::memory::dims describe(std::uint64_t n, std::uint64_t k) {
    return {static_cast<std::int64_t>(k), static_cast<std::int64_t>(n)};
  }
  dnnl::matmul::primitive_desc plan(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                                    std::uint32_t bias) const {
    using dnnl::memory;
    const auto wide = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    const memory::desc x({rows, wide(k)}, memory::data_type::bf16, memory::format_tag::ab);
    const memory::desc w({wide(k), wide(n)}, memory::data_type::bf16, memory::format_tag::any);
    const memory::desc y({rows, wide(n)}, memory::data_type::bf16, memory::format_tag::ab);
    if (bias == 0) return {dnnl::matmul::desc(x, w, y), engine_};
    const auto type = bias == TARE_F32 ? memory::data_type::f32 : memory::data_type::bf16;
    const memory::desc b({1, wide(n)}, type, memory::format_tag::ab);
    return {dnnl::matmul::desc(x, w, b, y), engine_};
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory::desc plain_;  // W[n, k] row-major, seen as [k, n]
  dnnl::matmul::primitive_desc matmul_;
  dnnl::matmul primitive_;
  dnnl::memory x_, y_, bias_;
  std::vector<dnnl::memory> slots_;
};

}  // namespace tare::kernels
