// Looks at its node before an agent begins a batch of work, while that lasts long, and behind it.
// What was measured between a look that passed and one that did not is doubted, not deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/measured/doubt.hpp"
#include "core/measured/measurement.hpp"
#include "core/numeric/clock.hpp"

namespace halmark::fleet {

class Watch {
 public:
  struct Hooks {
    std::function<std::string()> look;  // what moved; "" = nothing did
    std::function<void(std::int64_t run, std::span<const Doubt>)> doubt;
    std::function<void(const std::string&)> say;  // lines for people
  };
  // Looks after `work_s` of a batch; 0 = never. An unfit node is looked at again after `again_s`.
  Watch(Hooks hooks, double work_s, double again_s);

  // Before work is claimed: whether the node may. An unfit one is looked at when it is time.
  bool may_claim();
  // Work is there: whether it may be measured.
  bool may_measure();
  void measured(std::int64_t run, const std::vector<Measurement>& rows);
  void has_no_work();  // the batch is over
  // "" unless it is unfit: W-NODE-01 and what moved.
  const std::string& unfit() const { return unfit_; }

 private:
  bool is_due(double after_s) const { return seconds_since(looked_) >= after_s; }
  bool passes();
  void deliver();

  Hooks hooks_;
  double work_s_, again_s_;
  bool is_in_batch_ = false;
  SteadyClock::time_point looked_;
  std::map<std::int64_t, std::vector<Doubt>> batch_;     // by run, since the last look that passed
  std::map<std::int64_t, std::vector<Doubt>> doubtful_;  // until the server has them
  std::string unfit_;
};

}  // namespace halmark::fleet
