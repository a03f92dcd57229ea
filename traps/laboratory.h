// Where traps are set: the whole program on one side, a naive harness on the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/results.h"
#include "traps/naive.h"
#include "traps/trap.h"

namespace tare::traps {

using Environment = std::vector<std::pair<std::string, std::string>>;

// One run of `tare headroom` in a process of its own.
struct Headroom {
  report::Results results;
  std::string complaints;  // its stderr
  int exit_code = 0;

  const report::Row& row(std::size_t index = 0) const;  // throws tare::Error when it has none
};

class Laboratory {
 public:
  explicit Laboratory(std::string executable) : executable_(std::move(executable)) {}

  std::string arm(const std::string& name) const;     // path of a lying arm
  std::string module(const std::string& name) const;  // of an implementation

  // `tare headroom ARGUMENTS --json ...`, with `environment` added to this process's. Throws
  // tare::Error when it leaves no results.
  Headroom headroom(const std::vector<std::string>& arguments,
                    const Environment& environment = {}) const;

  // oneDNN against itself: incumbent and control of a row that was weighed for a second or two,
  // each round of it recorded. Made once.
  const report::Row& equal_arms() const;
  // The same in fresh processes; what equal_arms() gave before is gone.
  const report::Row& equal_arms_anew() const;
  const judge::Rules& rules() const;  // that the row was judged by

 private:
  std::string executable_;
  mutable std::optional<Headroom> equal_;
};

// A quick row of one thread against oneDNN, weights cold or hot; `more`: options, each with its
// value, that change it.
std::vector<std::string> cold_row(const std::vector<std::string>& more = {});
std::vector<std::string> hot_row(const std::vector<std::string>& more = {});

// ---- outcomes

// "win, 1.23x [1.20, 1.26], serve" or "refused(ring)".
std::string words_of(const report::Row& row);

// Caught when one of the gates refused the row or set a placement aside. "failed" is the arm
// host's.
Outcome refused_by(const report::Row& row, const std::vector<std::string>& gates,
                   std::string naive);

// Whether Tare says that something else used the processors meanwhile.
bool noted_noise(const report::Row& row);

// Caught when Tare does not say what the naive harness says: its interval does not hold
// `naive_ratio`, or it refuses to say one. `by`: the part of Tare that makes it so.
Outcome denied(const report::Row& row, double naive_ratio, std::string naive, std::string by);

// Caught when Tare finds the incumbent equal to its control in a row of `arguments`, and not for
// want of samples, or says that it cannot be trusted here. Luck of one set of processes can be a
// per cent (0.989 [0.987, 0.989] was seen) and more beside others (0.953 [0.905, 0.990]): a
// difference is found again in fresh ones, or not believed.
Outcome found_equal(const Laboratory& laboratory, const std::vector<std::string>& arguments,
                    const std::string& naive, const std::string& by);
// The same of the laboratory's equal arms.
Outcome found_equal(const Laboratory& laboratory, const std::string& naive, const std::string& by);

// A kernel that lies, by both harnesses.
struct Liar {
  const char* arm;
  std::vector<std::string> gates;
  std::vector<std::string> arguments = cold_row();  // of `tare headroom`
  NaivePlan plan{};
  const char* claim = "";  // what the naive harness adds to its number
};
Outcome run_liar(const Laboratory& laboratory, const Liar& liar);

// "1.47x as fast as oneDNN"; how a naive harness says it.
std::string times_as_fast(double ratio, const std::string& as = "oneDNN");

// Region times of one arm's rounds, seconds per dispatch, in the order in which they ran.
std::vector<double> rounds_of(const report::Row& row, weigh::Role role);

}  // namespace tare::traps
