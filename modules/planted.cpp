// Arms whose truth is known: the panel kernel, whose bits are right, and a spin on the clock beside
// it (plants.h). Only `tare calibrate` and tests load this module.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "arm_table.h"
#include "base/splitmix.h"
#include "panel_module.h"
#include "plants.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::PanelPath;
using tare::kernels::PanelProjection;
using tare::kernels::ThreadPool;
using tare::modules::fenced;
using tare::planted::kPlants;
using tare::planted::Plant;
using tare::planted::Spell;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The last values of a series; its median is not moved by the spin that was interrupted.
class Series {
 public:
  void add(double value) { values_[count_++ % values_.size()] = value; }
  double median() const {
    std::vector<double> seen(values_.begin(),
                             values_.begin() + static_cast<std::ptrdiff_t>(
                                                   std::min<std::size_t>(count_, values_.size())));
    if (seen.empty()) return 0;
    const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
    std::nth_element(seen.begin(), middle, seen.end());
    return *middle;
  }

 private:
  std::vector<double> values_ = std::vector<double>(4096);
  std::size_t count_ = 0;
};

// A fair draw for a call, the same in every run.
bool drawn(std::uint64_t number) {
  return tare::split_mix_unit(number * tare::kSplitMixStep) < tare::planted::kSpellProbability;
}

}  // namespace

struct tare_executor {
  PanelProjection projection;
  const Plant& plant;
  ThreadPool& pool;
  bool in_region = false;
  std::uint64_t regions = 0, dispatches = 0;
  Series per_region{}, per_dispatch{}, share{};

  void bind(std::uint32_t slot, const void* weights) {
    projection.bind(slot, static_cast<const Bf16*>(weights));
  }

  void set_rows(std::uint32_t rows) { projection.set_rows(rows); }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    if (!std::exchange(in_region, true)) ++regions;
    const Clock::time_point start = Clock::now();
    projection.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    const double own = seconds_since(start);
    per_dispatch.add(spin(plant.dispatch_seconds));
    if (in_spell())
      share.add(spin(plant.share * own) / own);
    else
      spin(0);
    ++dispatches;
    return true;
  }

  // Here and not before the first dispatch: there other threads are still being woken, which every
  // arm pays for, and 20 us planted would be 25 spent and 19 more than without.
  bool fence() noexcept {
    in_region = false;
    per_region.add(spin(plant.region_seconds));
    return true;
  }

  void describe(tare_dispatch_record& record) const {
    const PanelPath& path = projection.path();
    const tare::planted::Spent spent{per_region.median(), per_dispatch.median(), share.median(),
                                     dispatches};
    tare::modules::fill(record,
                        {fmt::format("tare-panel:{} and a spin", path.name), path.isa,
                         tare::planted::to_text(plant, spent), "Tare " TARE_VERSION},
                        projection.threads());
  }

 private:
  bool in_spell() const noexcept {
    if (plant.spell == Spell::kAlways) return true;
    return drawn(plant.spell == Spell::kSomeCalls ? dispatches : regions);
  }

  // Arms that spend nothing come here, too: what the clock and the books cost beside a spin, 60 ns,
  // is 0.3 % of a dispatch of 18 us, and would be planted but not recorded.
  // All threads spin: those left waiting would fall asleep, and waking them would be a cost that
  // nobody planted. Returns what it really took.
  double spin(double seconds) noexcept {
    const Clock::time_point start = Clock::now();
    pool.run([&](std::uint32_t) {
      while (seconds_since(start) < seconds) {
      }
    });
    return seconds_since(start);
  }
};

namespace {

int open_planted(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::open_panel(*services, ""); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::require_bf16(*problem, "planted"); });
}

// The ABI's functions do not say which arm they are called for: one instance for every plant.
template <std::size_t Index>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    *executor = new tare_executor{.projection = tare::modules::panel_projection(
                                      *problem, slots, tare::kernels::onednn_order(problem->k),
                                      tare::modules::panel_path(*problem)),
                                  .plant = kPlants[Index],
                                  .pool = *tare::modules::panel_state().pool};
  });
}

template <std::size_t... Index>
const tare_arm* arm_at(std::uint32_t index, std::index_sequence<Index...>) {
  static const std::array<tare_arm, sizeof...(Index)> arms{tare::modules::arm_table<tare_executor>(
      {0u, kPlants[Index].name, kPlants[Index].name, TARE_VERSION},
      {open_planted, supports, prepare<Index>})...};
  return index < arms.size() ? &arms[index] : nullptr;
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  return arm_at(index, std::make_index_sequence<kPlants.size()>{});
}
