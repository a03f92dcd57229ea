// A stage and hosts of plugins on a small problem, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "prove/compare.h"
#include "weigh/contestant.h"
#include "weigh/region_runner.h"
#include "weigh/stage.h"

namespace tare::weigh {

inline constexpr tare_problem kSmall{64, 48, 2, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
inline constexpr std::uint32_t kSlots = 9;
inline constexpr std::uint64_t kSeed = 3;

class WeighTest : public testing::Test {
 protected:
  WeighTest() : stage_(std::array{kSmall}) { stage_.set_problem(kSmall, kSeed); }

  // `keep_raw`: for per-call regions.
  Contestant contestant(const std::string& plugin, Role role, bool keep_raw = false) {
    arms::HostOptions options;
    options.executable = std::filesystem::read_symlink("/proc/self/exe");
    options.module_path = std::string(TARE_PLUGIN_DIR) + "/" + plugin + ".so";
    options.inputs = &stage_.inputs_memory();
    options.outputs = &stage_.outputs_memory();
    options.patience = std::chrono::milliseconds(5000);
    hosts_.push_back(std::make_unique<arms::Host>(options));
    all_.push_back(hosts_.back().get());
    Contestant made;
    made.role = role;
    made.host = all_.back();
    made.executor = prepare(*made.host, kSmall, kSlots, keep_raw);
    made.slots = kSlots;
    return made;
  }

  // The same with slices of a third and two thirds of the columns.
  Contestant with_slices(const std::string& plugin, Role role) {
    Contestant made = contestant(plugin, role);
    tare_problem thin = kSmall;
    thin.n = kSmall.n / 3;
    Slices slices;
    slices.once = prepare(*made.host, thin, 1, false);
    thin.n *= 2;
    slices.twice = prepare(*made.host, thin, 1, false);
    made.slices = slices;
    return made;
  }

  // What an honest arm leaves for every slot.
  std::vector<std::uint64_t> honest_digests() {
    const Contestant honest = contestant("honest", Role::kIncumbent);
    std::vector<std::uint64_t> digests;
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
      arms::RegionRequest request = stage_.addresses();
      request.slots_used = kSlots;
      request.first_slot = slot;
      honest.host->region(honest.executor, request);
      digests.push_back(prove::digest(stage_.output(0)));
    }
    return digests;
  }

  static std::uint32_t prepare(arms::Host& host, const tare_problem& problem, std::uint32_t slots,
                               bool keep_raw) {
    host.begin_prepare(0, problem, slots, {.seed = kSeed}, keep_raw);
    return host.end_prepare(std::chrono::milliseconds(5000)).executor;
  }

  Stage stage_;
  std::vector<std::unique_ptr<arms::Host>> hosts_;
  std::vector<arms::Host*> all_;
  RegionRunner runner_{stage_, all_};
};

}  // namespace tare::weigh
