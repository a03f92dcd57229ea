// The arms of the module "planted": one honest kernel, and beside it a cost of known size. Shared
// by the module, which spends it, and by `tare calibrate`, which must find it again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tare::planted {

// When the share is spent.
enum class Spell { kAlways, kSomeCalls, kSomeRegions };

// How often where it is not always: what a median of five or a minimum cannot see (TRAPS T40).
inline constexpr double kSpellProbability = 0.15;

// A spin on the clock and not extra work: it takes the same time on every machine.
struct Plant {
  const char* name;             // of the arm
  double region_seconds = 0;    // a: once in every fence
  double dispatch_seconds = 0;  // c: in every dispatch
  double share = 0;             // s: of the time that the dispatch's kernel took just now
  Spell spell = Spell::kAlways;
};

// Two without any cost, so that they can be weighed against each other.
inline constexpr std::array<Plant, 19> kPlants{{
    {.name = "planted-none"},
    {.name = "planted-same"},
    {.name = "planted-a-20us", .region_seconds = 20e-6},
    {.name = "planted-a-100us", .region_seconds = 100e-6},
    {.name = "planted-a-200us", .region_seconds = 200e-6},
    {.name = "planted-a-1000us", .region_seconds = 1000e-6},
    {.name = "planted-c-2us", .dispatch_seconds = 2e-6},
    {.name = "planted-c-5us", .dispatch_seconds = 5e-6},
    {.name = "planted-c-20us", .dispatch_seconds = 20e-6},
    {.name = "planted-s-0.3pc", .share = 0.003},
    {.name = "planted-s-0.5pc", .share = 0.005},
    {.name = "planted-s-0.9pc", .share = 0.009},
    {.name = "planted-s-1pc", .share = 0.010},
    {.name = "planted-s-1.1pc", .share = 0.011},
    {.name = "planted-s-2pc", .share = 0.020},
    {.name = "planted-s-5pc", .share = 0.050},
    {.name = "planted-s-10pc", .share = 0.100},
    {.name = "planted-calls", .share = 0.070, .spell = Spell::kSomeCalls},
    {.name = "planted-regions", .share = 0.070, .spell = Spell::kSomeRegions},
}};

// The plant of that name; null when there is none.
const Plant* find_plant(std::string_view name);

// What an executor really spent, at the median: a spin ends at the first look at the clock past its
// end. This, and not the plan, is what a weighing must find.
struct Spent {
  double region_seconds = 0;
  double dispatch_seconds = 0;
  double share = 0;  // in the dispatches that spent it
  std::uint64_t dispatches = 0;
};

// As an arm reports it in tare_dispatch_record::configuration, and back.
std::string to_text(const Plant& plant, const Spent& spent);
std::optional<Spent> parse_spent(std::string_view configuration);

}  // namespace tare::planted
