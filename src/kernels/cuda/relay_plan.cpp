#include "kernels/cuda/relay_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tare::kernels::cuda {
namespace {

// Smaller strips are dealt more evenly, and cost more where a warp has few stages of each. So do
// warps of which some have a stage more than others: 4096 k are 32 stages of narrow strips, two for
// each of 16 warps; 1536 k are 24 of wide ones, two for each of 12. A token of Qwen3-8B takes 3113
// µs by the narrow form, 3175 by narrow strips and 12 warps; one of Qwen2.5-1.5B 659 by the wide
// one and 694 by 16 warps (docs/kernels/cuda-relay.md).
constexpr std::uint64_t kDeepEnough = 3072;  // narrow: a stage or two for each of 16 warps
RelayForm form_of(std::span<const RelayShape> layer) {
  const auto least = std::ranges::min_element(layer, {}, &RelayShape::k);
  return least->k >= kDeepEnough ? kNarrowRelay : kWideRelay;
}

bool fits(const RelayShape& shape, std::uint64_t outputs_before, const RelayForm& form) {
  const std::uint64_t depth = form.depth();
  if (shape.k == 0 || shape.k % depth != 0 || shape.k > outputs_before) return false;
  if (shape.n == 0 || shape.n % 16 != 0) return false;
  const std::uint64_t stages = shape.k / depth;
  if ((stages + form.warps - 1) / form.warps * depth * 2 > form.input_bytes) return false;
  return shape.n / form.width <= std::numeric_limits<std::uint16_t>::max();
}

// Deals strips so that thread blocks have equal bytes of a layer: of every projection but the
// largest an equal number, what is left of it one by one to those who have least, and the strips
// of the largest to whom has least.
class Dealer {
 public:
  explicit Dealer(const RelayPlan& plan)
      : plan_(plan),
        loads_(plan.blocks),
        counts_(plan.projections.size(), std::vector<std::uint32_t>(plan.blocks)) {}

  std::vector<std::uint16_t> deal() {
    const auto& all = plan_.projections;
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto largest = *std::ranges::max_element(
        order, {}, [&](std::size_t one) { return all[one].weight_bytes(); });
    std::erase(order, largest);
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t one) { return all[one].stages; });
    for (const std::size_t one : order) deal_evenly(one);
    for (std::uint32_t strip = 0; strip < all[largest].strips; ++strip)
      give(largest, static_cast<std::size_t>(std::ranges::min_element(loads_) - loads_.begin()), 1);
    return firsts();
  }

 private:
  void give(std::size_t projection, std::size_t block, std::uint32_t strips) {
    counts_[projection][block] += strips;
    loads_[block] += std::uint64_t{strips} * plan_.projections[projection].stages;
  }

  void deal_evenly(std::size_t projection) {
    const std::uint32_t strips = plan_.projections[projection].strips;
    std::vector<std::size_t> blocks(plan_.blocks);
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    std::ranges::stable_sort(blocks, {}, [&](std::size_t one) { return loads_[one]; });
    for (std::size_t i = 0; i < blocks.size(); ++i)
      give(projection, blocks[i], strips / plan_.blocks + (i < strips % plan_.blocks ? 1U : 0U));
  }

  std::vector<std::uint16_t> firsts() const {
    std::vector<std::uint16_t> firsts;
    for (const auto& counts : counts_) {
      std::uint32_t first = 0;
      firsts.push_back(0);
      for (const std::uint32_t count : counts)
        firsts.push_back(static_cast<std::uint16_t>(first += count));
    }
    return firsts;
  }

  const RelayPlan& plan_;
  std::vector<std::uint64_t> loads_;                // stages
  std::vector<std::vector<std::uint32_t>> counts_;  // [projection][thread block]
};

}  // namespace

std::uint64_t RelayPlan::layer_bytes() const {
  return projections.back().place + projections.back().weight_bytes();
}

std::uint64_t RelayPlan::pitch() const {
  std::uint64_t widest = 0;
  for (const RelayProjection& one : projections) widest = std::max<std::uint64_t>(widest, one.n);
  return widest;
}

std::uint32_t RelayPlan::share(std::size_t projection, std::uint32_t rank) const {
  const std::size_t at = projection * (blocks + 1) + rank;
  return deal[at + 1] - deal[at];
}

std::optional<RelayPlan> plan_relay(std::span<const RelayShape> layer, std::uint32_t layers,
                                    std::uint32_t multiprocessors) {
  if (layer.empty() || layer.size() > kMostRelayProjections || layers == 0 || multiprocessors == 0)
    return std::nullopt;
  RelayPlan plan;
  plan.layers = layers;
  plan.form = form_of(layer);
  plan.blocks = multiprocessors;
  // A single layer's x is the caller's, of whatever length.
  std::uint64_t before = layers == 1 ? layer.front().k : layer.back().n, place = 0;
  for (const RelayShape& shape : layer) {
    if (!fits(shape, before, plan.form)) return std::nullopt;
    plan.projections.push_back({.k = static_cast<std::uint32_t>(shape.k),
                                .n = static_cast<std::uint32_t>(shape.n),
                                .strips = static_cast<std::uint32_t>(shape.n / plan.form.width),
                                .stages = static_cast<std::uint32_t>(shape.k / plan.form.depth()),
                                .place = place});
    place += plan.projections.back().weight_bytes();
    before = shape.n;
  }
  plan.deal = Dealer(plan).deal();
  return plan;
}

std::uint32_t relay_shared_bytes(const RelayPlan& plan) {
  return RelayLayout(plan.form).deal + static_cast<std::uint32_t>(2 * plan.deal.size());
}

}  // namespace tare::kernels::cuda
