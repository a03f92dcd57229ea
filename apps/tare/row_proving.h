// Proving that a row of an arm's output is what one arm makes of that row alone, whatever is
// dispatched with it: by row count, by place, and beside rows of NaN, infinite, huge and subnormal
// values.
//
// On one slot of weights, over as many draws of activations as it takes to see orders of adding
// that differ: of bf16 outputs some sqrt(k) / 2^17 are rounded otherwise by another order (one in
// 16,000 at k = 64), so a few rows would often be equal by luck. One row in four cancels at one
// output, where an order shows at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "judge/judge.h"
#include "prove/generator.h"
#include "seats.h"
#include "weigh/contestant.h"
#include "weigh/stage.h"
#include "weigh/weighing.h"

namespace tare::app {

// What the stage must hold for a row count that was asked for.
std::uint32_t most_rows_proved(judge::Equality asked, std::uint32_t rows);

// Leaves the stage laid out for other row counts: set_problem() comes next.
class RowProving {
 public:
  RowProving(weigh::Stage& stage, const tare_problem& problem, std::uint64_t weight_seed,
             double patience_seconds)
      : stage_(stage),
        problem_(problem),
        weight_seed_(weight_seed),
        patience_(static_cast<long>(1000 * patience_seconds)) {}

  // The candidate as it is weighed, and prepared for other row counts, against its own one-row
  // results. Both throw tare::Error (kArm), also where the arm does not do a single row; row counts
  // that the candidate refuses are left out.
  weigh::RowProof against_itself(const Seat& candidate, std::uint64_t seed);
  // The candidate as it is weighed against the incumbent's one-row results.
  weigh::RowProof against_incumbent(const Seat& incumbent, const Seat& candidate,
                                    std::uint64_t seed);

 private:
  using Rows = prove::ElementBuffer;

  // An executor that can run slot 0.
  struct Runner {
    arms::Host* host = nullptr;
    std::uint32_t executor = 0;
    std::uint64_t slots = 1;
    std::uint32_t rows = 1;
  };
  // Activations, and what a row alone becomes.
  struct Draw {
    Rows x, alone;
    std::uint64_t seed = 0;
  };
  class OneSlot;

  weigh::RowProof prove(OneSlot& alone, OneSlot* other_counts, const weigh::Contestant& candidate,
                        std::uint32_t most, std::uint64_t seed);
  Draw draw(OneSlot& alone, std::uint32_t rows, std::uint32_t turn, std::uint64_t seed);
  Rows activations(std::uint32_t rows, std::uint32_t turn, std::uint64_t seed) const;
  void check_count(const Runner& runner, const Draw& draw, weigh::RowProof& found);
  void check_positions(const Runner& runner, const Draw& draw, weigh::RowProof& found);
  void check_neighbours(const Runner& runner, const Draw& draw, weigh::RowProof& found);
  prove::ConstElements row_of(const Rows& x, std::uint32_t row) const;
  Rows run(const Runner& runner, prove::ConstElements x);
  // Elements of row `at` of `y` whose bits are not those of row `alone` of the draw.
  std::uint64_t differing(const Rows& y, std::uint32_t at, const Draw& draw,
                          std::uint32_t alone) const;

  weigh::Stage& stage_;
  tare_problem problem_;
  std::uint64_t weight_seed_;
  std::chrono::milliseconds patience_;
};

}  // namespace tare::app
