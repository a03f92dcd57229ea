#include "row_proving.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/splitmix.h"
#include "prove/compare.h"
#include "prove/probe.h"
#include "prove/weights.h"

namespace tare::app {
namespace {

// Kernels change with the row count at powers of two and around them; 3, 5 and 7 are tails.
constexpr std::array<std::uint32_t, 14> kCounts = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32};
constexpr std::uint32_t kMostCount = 32;
constexpr std::uint64_t kEnough = std::uint64_t{1} << 21;  // elements: see the header
constexpr std::uint32_t kMostDraws = 2048;  // of a narrow row: a fraction of a second
constexpr std::uint32_t kCancelling = 4;    // one in so many rows, at another place in every draw
constexpr float kRest = 0.031F;

// What stands beside a row that must not change: NaN, infinity, the largest finite number, the
// least subnormal one (of bf16; of f32 the same numbers).
constexpr std::array<prove::Bf16, 4> kNeighbours = {0x7FC0, 0x7F80, 0x7F7F, 0x0001};

std::set<std::uint32_t> first_middle_last(std::uint32_t rows) {
  return {0, rows / 2, rows - 1};
}

}  // namespace

std::uint32_t most_rows_proved(judge::Equality asked, std::uint32_t rows) {
  return asked == judge::Equality::kSelf ? std::max(rows, kMostCount) : rows;
}

// One slot of an arm, prepared for one row count after the other.
class RowProving::OneSlot {
 public:
  OneSlot(const Seat& seat, const RowProving& proving)
      : arm_(*seat.arm), parts_(seat.parts), proving_(proving), life_(arm_.host->life()) {}
  ~OneSlot() {
    if (is_held()) arm_.host->discard(executor_);
  }
  OneSlot(const OneSlot&) = delete;
  OneSlot& operator=(const OneSlot&) = delete;

  // Nothing where the arm refuses that row count.
  std::optional<Runner> at(std::uint32_t rows) {
    tare_problem problem = proving_.problem_;
    problem.rows = rows;
    if (arm_.host->refusal(arm_.index, problem)) return std::nullopt;
    if (rows_ != rows && !(rows_ != 0 && arm_.host->set_rows(executor_, rows))) {
      release();
      arm_.host->begin_prepare(arm_.index, problem, 1, {.seed = proving_.weight_seed_}, false,
                               parts_);
      executor_ = arm_.host->end_prepare(proving_.patience_).executor;
    }
    rows_ = rows;
    return Runner{arm_.host, executor_, 1, rows};
  }

  Runner alone() {
    const auto runner = at(1);
    if (!runner)
      fail(Blame::kArm, "{} does not do a single row, with which every row would be compared.",
           arm_.description.title);
    return *runner;
  }

 private:
  bool is_held() const { return rows_ != 0 && arm_.host->alive() && arm_.host->life() == life_; }
  void release() {
    if (is_held()) arm_.host->destroy(executor_);
    rows_ = 0;
  }

  const arms::RosterArm& arm_;
  const arms::Parts& parts_;
  const RowProving& proving_;
  std::uint32_t life_;
  std::uint32_t executor_ = 0;
  std::uint32_t rows_ = 0;  // 0: not prepared
};

weigh::RowProof RowProving::against_itself(const Seat& candidate, std::uint64_t seed) {
  OneSlot alone(candidate, *this), others(candidate, *this);
  const std::uint32_t most = most_rows_proved(judge::Equality::kSelf, problem_.rows);
  weigh::RowProof found = prove(alone, &others, candidate.contestant, most, seed);
  found.against = weigh::Role::kCandidate;
  return found;
}

weigh::RowProof RowProving::against_incumbent(const Seat& incumbent, const Seat& candidate,
                                              std::uint64_t seed) {
  OneSlot alone(incumbent, *this);
  weigh::RowProof found = prove(alone, nullptr, candidate.contestant, problem_.rows, seed);
  found.against = weigh::Role::kIncumbent;
  return found;
}

weigh::RowProof RowProving::prove(OneSlot& alone, OneSlot* other_counts,
                                  const weigh::Contestant& candidate, std::uint32_t most,
                                  std::uint64_t seed) {
  tare_problem widest = problem_;
  widest.rows = most;
  stage_.set_problem(widest, seed);
  const Runner weighed{candidate.host, candidate.executor, candidate.slots, problem_.rows};
  weigh::RowProof found;
  for (std::uint32_t turn = 0; turn < kMostDraws && found.elements < kEnough; ++turn) {
    const Draw rows = draw(alone, most, turn, seed + turn * kSplitMixStep);
    check_count(weighed, rows, found);
    check_positions(weighed, rows, found);
    check_neighbours(weighed, rows, found);
    for (const std::uint32_t count : kCounts) {
      if (other_counts == nullptr || count > most || count == problem_.rows) continue;
      const auto runner = other_counts->at(count);
      if (!runner) continue;
      check_count(*runner, rows, found);
      check_positions(*runner, rows, found);
    }
  }
  return found;
}

RowProving::Draw RowProving::draw(OneSlot& alone, std::uint32_t rows, std::uint32_t turn,
                                  std::uint64_t seed) {
  Draw drawn{activations(rows, turn, seed), Rows(problem_.output, 0), seed};
  const Runner runner = alone.alone();
  for (std::uint32_t row = 0; row < rows; ++row) {
    drawn.alone.append(run(runner, row_of(drawn.x, row)));
  }
  return drawn;
}

RowProving::Rows RowProving::activations(std::uint32_t rows, std::uint32_t turn,
                                         std::uint64_t seed) const {
  Rows x(problem_.activations, rows * problem_.k);
  prove::fill_activations(seed, 0, x.all());
  std::vector<double> weights;
  const std::uint32_t first = kCancelling - 1 - turn % kCancelling;
  for (std::uint32_t row = first; row < rows && problem_.k > 1; row += kCancelling) {
    const std::uint64_t column = (seed + row * kSplitMixStep) % problem_.n;
    prove::generate_row({problem_.weights, problem_.k, problem_.n, weight_seed_, 0}, column,
                        weights);
    const auto parts =
        (turn + row) / kCancelling % 2 == 1 ? prove::Parts::kAlternating : prove::Parts::kHalves;
    prove::cancelling_row(weights, parts, kRest, x.all().subspan(row * problem_.k, problem_.k));
  }
  return x;
}

// The first rows of the draw, as many as are dispatched.
void RowProving::check_count(const Runner& runner, const Draw& draw, weigh::RowProof& found) {
  const Rows y = run(runner, draw.x.all().first(runner.rows * problem_.k));
  for (std::uint32_t row = 0; row < runner.rows; ++row)
    found.by_count += differing(y, row, draw, row);
  found.elements += y.size();
}

// The same rows, turned by some places.
void RowProving::check_positions(const Runner& runner, const Draw& draw, weigh::RowProof& found) {
  if (runner.rows < 2) return;
  const auto turn = static_cast<std::uint32_t>(1 + draw.seed % (runner.rows - 1));
  const auto row_at = [&](std::uint32_t place) { return (place + turn) % runner.rows; };
  Rows x(problem_.activations, 0);
  for (std::uint32_t place = 0; place < runner.rows; ++place)
    x.append(row_of(draw.x, row_at(place)));
  const Rows y = run(runner, x);
  for (std::uint32_t place = 0; place < runner.rows; ++place)
    found.by_position += differing(y, place, draw, row_at(place));
  found.elements += y.size();
}

void RowProving::check_neighbours(const Runner& runner, const Draw& draw, weigh::RowProof& found) {
  if (runner.rows < 2) return;
  for (const prove::Bf16 neighbour : kNeighbours)
    for (const std::uint32_t row : first_middle_last(runner.rows)) {
      Rows x(problem_.activations, runner.rows * problem_.k);
      for (std::size_t i = 0; i < x.size(); ++i)
        x.all().set_bits(i, prove::pattern_in(problem_.activations, neighbour));
      prove::copy(row_of(draw.x, row), x.all().subspan(row * problem_.k, problem_.k));
      found.by_neighbours += differing(run(runner, x), row, draw, row);
      found.elements += problem_.n;
    }
}

// Row `row` of activations.
prove::ConstElements RowProving::row_of(const Rows& x, std::uint32_t row) const {
  return x.all().subspan(row * problem_.k, problem_.k);
}

RowProving::Rows RowProving::run(const Runner& runner, prove::ConstElements x) {
  prove::copy(x, stage_.writable_input(0));
  prove::poison(stage_.output(0), 0);
  arms::RegionRequest request = stage_.addresses();
  request.slots_used = runner.slots;
  const prove::Elements y = stage_.output(0).first(runner.rows * problem_.n);
  request.y_bytes = y.size_bytes();
  runner.host->region(runner.executor, request);
  return Rows(y);
}

std::uint64_t RowProving::differing(const Rows& y, std::uint32_t at, const Draw& draw,
                                    std::uint32_t alone) const {
  const auto outputs_of = [&](const Rows& rows, std::uint32_t row) {
    return rows.all().subspan(row * problem_.n, problem_.n);
  };
  return prove::compare_bits(outputs_of(draw.alone, alone), outputs_of(y, at)).differing;
}

}  // namespace tare::app
