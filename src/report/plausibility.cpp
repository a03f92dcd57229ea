#include "report/plausibility.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace tare::report {
namespace {

using weigh::Region;

// Thirty years.
constexpr double kLongest = 1e9;

bool is_time(double seconds) {
  return seconds > 0 && seconds < kLongest;
}

bool is_spent(double seconds) {
  return seconds >= 0 && seconds < kLongest;
}

// `what` of the first region that is `wrong`, and how many there are.
template <typename Wrong>
void add_sentence(const weigh::Weighing& weighing, const char* field, double Region::*member,
                  Wrong wrong, const char* consequence, std::vector<std::string>& sentences) {
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < weighing.regions.size(); ++i) {
    if (!wrong(weighing.regions[i].*member)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return;
  const std::string more = count > 1 ? fmt::format(" (and {} more)", count - 1) : "";
  sentences.push_back(
      fmt::format("field 'weighing.regions.{}[{}]' is {}{}: no region takes that; {}", field, first,
                  weighing.regions[first].*member, more, consequence));
}

void check_times(const weigh::Weighing& weighing, std::vector<std::string>& sentences) {
  const auto no_time = [](double seconds) { return !is_time(seconds); };
  const auto not_spent = [](double seconds) { return !is_spent(seconds); };
  const char* dropped = "its block is left out for all arms";
  const char* kept = "the gates that look at it cannot be believed";
  add_sentence(weighing, "seconds", &Region::seconds, no_time, dropped, sentences);
  add_sentence(weighing, "outer_seconds", &Region::outer_seconds, no_time, kept, sentences);
  add_sentence(weighing, "cpu_seconds", &Region::cpu_seconds, not_spent, kept, sentences);
  add_sentence(weighing, "others_cpu_seconds", &Region::others_cpu_seconds, not_spent, kept,
               sentences);
  add_sentence(weighing, "elsewhere_cpu_seconds", &Region::elsewhere_cpu_seconds, not_spent, kept,
               sentences);
}

}  // namespace

std::vector<std::string> implausibilities(const weigh::Weighing& weighing) {
  std::vector<std::string> sentences;
  check_times(weighing, sentences);
  if (weighing.regions.empty() && !weighing.failure) {
    sentences.push_back(
        "it holds no samples, and no failure that would explain it; nothing can be said of it");
  }
  return sentences;
}

}  // namespace tare::report
