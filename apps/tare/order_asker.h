// Asks one arm at one row count what an order of addition is found from (prove/reveal.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probed_host.h"
#include "prove/compare.h"
#include "prove/reveal.h"
#include "tare/arm.h"

namespace tare::app {

inline constexpr std::uint64_t kProbedSeed = 1;  // of what predictions are tried on

// Every row of x is the same probe, so that every output must give the same answer; those that do
// not have an order of their own.
class OrderAsker {
 public:
  // Throws tare::Error (kArm) where the arm does not give a single product. `host` must outlive it.
  OrderAsker(ProbedHost& host, const tare_problem& problem, std::uint32_t rows);

  // Elements of x that share a scale, whose products are whole numbers and added exactly; 1 where
  // activations are not rounded.
  std::uint64_t block() const;
  // prove::CountReached, of elements. Throws tare::Error (kArm) where the answer is no count.
  std::uint64_t count(std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units);
  // Outputs y[row, j] that at some probe answered otherwise than y[0, 0].
  std::size_t outliers() const;
  // How many outputs of cancelling data the tree gives bit for bit.
  std::uint64_t predicted(const prove::SumTree& tree);

 private:
  std::vector<prove::Bf16> probe(std::span<const std::uint64_t> products, float value) const;
  std::vector<double> answers_to(const std::vector<std::vector<prove::Bf16>>& probes);

  // What the products of a probe are: huge ones swallow small ones, and do not overflow.
  struct Masks {
    float huge, unit;
  };
  static Masks masks_of(const tare_problem& problem);

  ProbedHost& host_;
  tare_problem problem_;
  std::uint32_t rows_;
  Masks masks_;
  double unit_;  // what one product adds to an output
  std::vector<bool> odd_;
};

}  // namespace tare::app
