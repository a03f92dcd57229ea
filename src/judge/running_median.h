// The median of what was seen so far, in logarithmic time.
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace tare::judge {

class RunningMedian {
 public:
  void add(double value);
  std::size_t count() const { return below_.size() + above_.size(); }
  // The mean of the two middle ones for an even count; 0 for none.
  double value() const;

 private:
  std::priority_queue<double> below_;  // the lower half, at most as many as above
  std::priority_queue<double, std::vector<double>, std::greater<>> above_;
};

inline double RunningMedian::value() const {
  if (above_.empty()) return 0;
  return above_.size() > below_.size() ? above_.top() : (below_.top() + above_.top()) / 2;
}

inline void RunningMedian::add(double value) {
  if (above_.empty() || value >= above_.top())
    above_.push(value);
  else
    below_.push(value);
  if (above_.size() > below_.size() + 1) {
    below_.push(above_.top());
    above_.pop();
  } else if (below_.size() > above_.size()) {
    above_.push(below_.top());
    below_.pop();
  }
}

}  // namespace tare::judge
