// Who takes part in a row, by short looks: the fastest incumbent, and the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "bench.h"
#include "report/results.h"
#include "seats.h"
#include "weigh/screening.h"

namespace tare::app {

class Screening {
 public:
  // All four must outlive it. `problem`: as it is at each call, since its rows change. `parts`: of
  // a fused projection, n of each; then every incumbent is tried at once and by parts.
  Screening(Bench& bench, Seats& seats, const tare_problem& problem,
            const std::vector<std::uint64_t>& parts)
      : bench_(bench), seats_(seats), problem_(problem), parts_(parts) {}

  // The fastest; what was seen of each, or why it cannot do the row, is told in row.screened.
  // Throws tare::Error (kMachine) where none can.
  const arms::RosterArm& pick_incumbent(report::Row& row);

  // The read kernel that was fastest at the bench's first shape, and all peaks.
  std::vector<Seat*> pick_limits();

  // A short look at seats that are ready.
  std::vector<weigh::Impression> look(const std::vector<Seat*>& seats);

 private:
  std::vector<const arms::RosterArm*> incumbents() const;
  std::optional<std::string> refusal(const arms::RosterArm& arm) const;
  std::vector<Seat*> scouts(report::Row& row);
  Seat* prepared_among_equals(const std::vector<Seat*>& ready,
                              const std::vector<weigh::Impression>& impressions, std::size_t best);
  std::string fastest_stream(const std::vector<const arms::RosterArm*>& streams);

  Bench& bench_;
  Seats& seats_;
  const tare_problem& problem_;
  const std::vector<std::uint64_t>& parts_;
};

}  // namespace tare::app
