// Random order that a seed gives again on every machine.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace tare::weigh {

// Fisher-Yates with the generator's own bits: std::shuffle may differ between standard libraries,
// and a seed must not.
template <typename Value>
void shuffle(std::vector<Value>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

}  // namespace tare::weigh
