#include "tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tare::llama {
namespace {

using Clock = std::chrono::steady_clock;

// FNV-1a in words of 8 bytes: tells outputs apart, no more.
std::uint64_t digest_of(const std::vector<char>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

bool is_projection(const ggml_tensor* node) {
  const ggml_tensor* weights = node->op == GGML_OP_MUL_MAT ? node->src[0] : nullptr;
  return weights != nullptr && weights->buffer != nullptr &&
         ggml_backend_buffer_get_usage(weights->buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

// ggml's "q4_K" is Tare's "q4_k".
std::string type_name(ggml_type type) {
  std::string name = ggml_type_name(type);
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  return name;
}

}  // namespace

void Tap::begin(Watch watch, std::int64_t wanted) {
  *this = {};
  watch_ = watch;
  wanted_ = wanted;
}

// llama.cpp asks before a node whether it is to be shown, computes up to it, and shows it. Where
// every node is, nothing but that node lies between the two calls.
bool Tap::on_node(ggml_tensor* node, bool ask, void* context) {
  Tap& tap = *static_cast<Tap*>(context);
  const bool shown = is_projection(node);
  if (ask) {
    tap.asked_ = Clock::now();
    return tap.watch_ == Watch::kTimes || (tap.watch_ == Watch::kOutputs && shown);
  }
  if (shown && tap.watch_ == Watch::kTimes)
    tap.note(node, fmt::format("{:.9f}",
                               std::chrono::duration<double>(Clock::now() - tap.asked_).count()));
  if (shown && tap.watch_ == Watch::kOutputs) tap.look(node);
  return true;
}

void Tap::look(const ggml_tensor* node) {
  bytes_.resize(ggml_nbytes(node));
  ggml_backend_tensor_get(node, bytes_.data(), 0, bytes_.size());
  note(node, fmt::format("{:016x}", digest_of(bytes_)));
  if (seen_++ == wanted_) output_ = bytes_;
}

void Tap::note(const ggml_tensor* node, const std::string& last_word) {
  const ggml_tensor* weights = node->src[0];
  lines_ +=
      fmt::format("{} {} {} {} {} {}\n", weights->name, weights->ne[0], weights->ne[1],
                  node->ne[1] * node->ne[2] * node->ne[3], type_name(weights->type), last_word);
}

}  // namespace tare::llama
