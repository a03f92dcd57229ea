#include "arms/arm_by_parts.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::arms {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::size_t kWhyBytes = 512;

struct Release {
  void operator()(void* memory) const { std::free(memory); }
};
using Copy = std::unique_ptr<std::byte, Release>;

Copy allocate(std::uint64_t bytes) {
  const std::uint64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Copy memory(static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole)));
  if (memory == nullptr) fail(Blame::kMachine, "Not enough memory for {} bytes of weights.", whole);
  return memory;
}

// Outputs [first, first + n) of W, as a matrix of its own. `copy` holds it where it does not lie
// so.
const void* part_of_weights(const tare_problem& whole, const void* weights, std::uint64_t first,
                            std::uint64_t n, Copy& copy) {
  const formats::WeightFormat& format = formats::format_of(whole.weights);
  const formats::Layout from = formats::layout_of(whole);
  const formats::Layout into = formats::layout_of(format, whole.k, n, whole.bias);
  const auto* bytes = static_cast<const std::byte*>(weights);
  const std::uint64_t offset = first * from.code_row;
  const bool has_planes = format.family == formats::Family::kPlanes || whole.bias != 0;
  if (!has_planes && offset % kAlignment == 0) return bytes + offset;
  copy = allocate(into.total_bytes);
  std::memcpy(copy.get(), bytes + offset, n * from.code_row);
  const auto copy_plane = [&](std::uint64_t to, std::uint64_t at, std::uint64_t row) {
    std::memcpy(copy.get() + to, bytes + at + first * row, n * row);
  };
  if (format.family == formats::Family::kPlanes) {
    copy_plane(into.scales, from.scales, from.groups * sizeof(std::uint16_t));
    if (format.has_bias) copy_plane(into.biases, from.biases, from.groups * format.bias_bytes());
  }
  if (whole.bias != 0)
    copy_plane(into.output_bias, from.output_bias, formats::format_of(whole.bias).block_bytes);
  return copy.get();
}

class Executor {
 public:
  Executor(const ProblemByParts& whole, std::uint32_t slots)
      : base_(*whole.base), problem_(whole.problem) {
    std::uint64_t first = 0;
    for (std::uint32_t i = 0; i < whole.parts.count; first += whole.parts.n[i++])
      parts_.push_back({first, whole.parts.n[i], nullptr});
    if (first != problem_.n)
      fail(Blame::kArm, "by parts: {} outputs, and {} in the parts", problem_.n, first);
    require_aligned(problem_.rows);
    try {
      for (Part& part : parts_) prepare(part, slots);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Executor() { release(); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void bind(std::uint32_t slot, const void* weights) {
    const bool in_place = (base_.flags & TARE_READS_WEIGHTS_IN_PLACE) != 0;
    for (const Part& part : parts_) {
      Copy copy;
      const void* own = part_of_weights(problem_, weights, part.first, part.n, copy);
      ask([&](char* why) { return base_.bind(part.executor, slot, own, why, kWhyBytes); });
      if (in_place && copy != nullptr) kept_.push_back(std::move(copy));
    }
  }

  // All or none: where a part cannot, those before it go back.
  void set_rows(std::uint32_t rows) {
    if (base_.set_rows == nullptr) fail(Blame::kArm, "it is prepared for one row count");
    require_aligned(rows);
    for (std::size_t done = 0; done < parts_.size(); ++done) {
      char why[kWhyBytes] = "";
      if (base_.set_rows(parts_[done].executor, rows, why, kWhyBytes) == 0) continue;
      why[kWhyBytes - 1] = '\0';
      while (done-- > 0)
        ask([&](char* text) {
          return base_.set_rows(parts_[done].executor, problem_.rows, text, kWhyBytes);
        });
      fail(Blame::kArm, "{}", why);
    }
    problem_.rows = rows;
  }

  int enqueue(std::uint32_t slot, const void* x, void* y) const {
    for (const Part& part : parts_) {
      auto* own = static_cast<std::byte*>(y) + problem_.rows * part.first * output_bytes();
      if (const int code = base_.enqueue(part.executor, slot, x, own); code != 0) return code;
    }
    return 0;
  }

  int fence() const {
    for (const Part& part : parts_)
      if (const int code = base_.fence(part.executor); code != 0) return code;
    return 0;
  }

  // The first part's, the widest of q, k and v.
  int describe(tare_dispatch_record& record) const {
    const int code = base_.dispatched(parts_.front().executor, &record);
    record.configuration[sizeof record.configuration - 1] = '\0';
    const std::string own = record.configuration;
    std::snprintf(record.configuration, sizeof record.configuration,
                  "%zu dispatches, one after the other; the first: %s", parts_.size(), own.c_str());
    return code;
  }

 private:
  struct Part {
    std::uint64_t first, n;  // outputs
    tare_executor* executor;
  };

  std::uint64_t output_bytes() const { return formats::value_bytes(problem_.output); }

  void release() const {
    for (const Part& part : parts_)
      if (part.executor != nullptr) base_.destroy(part.executor);
  }

  void require_aligned(std::uint32_t rows) const {
    for (const Part& part : parts_)
      if (rows * part.first * output_bytes() % kAlignment != 0)
        fail(Blame::kArm, "by parts: outputs {} on would not lie at 64 bytes", part.first);
  }

  void prepare(Part& part, std::uint32_t slots) {
    tare_problem own = problem_;
    own.n = part.n;
    ask([&](char* why) { return base_.prepare(&own, slots, &part.executor, why, kWhyBytes); });
  }

  template <typename Call>
  static void ask(Call&& call) {
    char why[kWhyBytes] = "";
    if (call(why) == 0) return;
    why[kWhyBytes - 1] = '\0';
    fail(Blame::kArm, "{}", *why != '\0' ? why : "it gave no reason");
  }

  const tare_arm& base_;
  tare_problem problem_;
  std::vector<Part> parts_;
  std::vector<Copy> kept_;
};

Executor& of(tare_executor* executor) {
  return *reinterpret_cast<Executor*>(executor);
}

template <typename Body>
int fenced(char* why, std::size_t why_size, Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(why, why_size, "%s", error.what());
    return 1;
  }
}

int prepare(const tare_problem* problem, std::uint32_t slots, tare_executor** executor, char* why,
            std::size_t why_size) {
  return fenced(why, why_size, [&] {
    const auto& whole = *reinterpret_cast<const ProblemByParts*>(problem);
    *executor = reinterpret_cast<tare_executor*>(new Executor(whole, slots));
  });
}

int bind(tare_executor* executor, std::uint32_t slot, const void* weights, char* why,
         std::size_t why_size) {
  return fenced(why, why_size, [&] { of(executor).bind(slot, weights); });
}

int set_rows(tare_executor* executor, std::uint32_t rows, char* why, std::size_t why_size) {
  return fenced(why, why_size, [&] { of(executor).set_rows(rows); });
}

int enqueue(tare_executor* executor, std::uint32_t slot, const void* x, void* y) {
  return of(executor).enqueue(slot, x, y);
}
int fence(tare_executor* executor) {
  return of(executor).fence();
}
int dispatched(tare_executor* executor, tare_dispatch_record* record) {
  return of(executor).describe(*record);
}
void destroy(tare_executor* executor) {
  delete &of(executor);
}

}  // namespace

tare_arm by_parts(const tare_arm& base) {
  tare_arm table = base;
  table.prepare = prepare;
  table.bind = bind;
  table.set_rows = set_rows;
  table.enqueue = enqueue;
  table.fence = fence;
  table.dispatched = dispatched;
  table.destroy = destroy;
  return table;
}

}  // namespace tare::arms
