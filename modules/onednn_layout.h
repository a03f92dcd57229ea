// oneDNN's layouts in words, of every version that is here (3.x hid their fields).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tare::modules {

// How a layout blocks its dimensions; nothing where it is no blocked one.
struct Blocking {
  std::vector<dnnl::memory::dim> strides, block_dims, block_sizes;  // inner blocks, outermost first
};

#if DNNL_VERSION_MAJOR >= 3
inline std::optional<Blocking> blocking_of(const dnnl::memory::desc& layout) {
  if (layout.get_format_kind() != dnnl::memory::format_kind::blocked) return std::nullopt;
  return Blocking{layout.get_strides(), layout.get_inner_idxs(), layout.get_inner_blks()};
}
#else
inline std::optional<Blocking> blocking_of(const dnnl::memory::desc& layout) {
  const dnnl_memory_desc_t& raw = layout.data;
  if (raw.format_kind != dnnl_blocked) return std::nullopt;
  const dnnl_blocking_desc_t& blocking = raw.format_desc.blocking;
  return Blocking{{blocking.strides, blocking.strides + raw.ndims},
                  {blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks},
                  {blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks}};
}
#endif

// The layout in oneDNN's own notation: dimensions from the outermost in, blocked ones in capitals,
// then the inner blocks, e.g. "BA16a64b2a".
inline std::string layout_text(const dnnl::memory::desc& layout) {
  const auto blocking = blocking_of(layout);
  if (!blocking) return "opaque";
  std::vector<std::size_t> order(blocking->strides.size());
  for (std::size_t dim = 0; dim < order.size(); ++dim) order[dim] = dim;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return blocking->strides[a] > blocking->strides[b];
  });
  const auto blocked = [&](std::size_t dim) {
    return std::ranges::find(blocking->block_dims, static_cast<dnnl::memory::dim>(dim)) !=
           blocking->block_dims.end();
  };
  std::string text;
  for (const std::size_t dim : order)
    text += static_cast<char>((blocked(dim) ? 'A' : 'a') + static_cast<int>(dim));
  for (std::size_t block = 0; block < blocking->block_dims.size(); ++block) {
    text += fmt::format("{}{}", blocking->block_sizes[block],
                        static_cast<char>('a' + blocking->block_dims[block]));
  }
  return text;
}

}  // namespace tare::modules
