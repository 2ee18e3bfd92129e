// Looks at its node before an agent measures, after every so many seconds of that, and when there
// has been no work for a while: a search that asks for a kernel now and then is not looked at each
// time. What was measured between a look that passed and one that did not is doubted, not deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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
  // A look is good for `work_s`; 0 = never looks. `again_s`: without work, after which what was
  // measured is looked at, and after which an unfit node is looked at again.
  Watch(Hooks hooks, double work_s, double again_s);

  // Before work is claimed: whether the node may. An unfit one is looked at when it is time.
  bool may_claim();
  // Work is there: whether it may be measured.
  bool may_measure();
  void measured(std::int64_t run, const std::vector<Measurement>& rows);
  void has_no_work();
  // "" unless it is unfit: W-NODE-01 and what moved.
  const std::string& unfit() const { return unfit_; }

 private:
  bool passes();
  void deliver();

  Hooks hooks_;
  double work_s_, again_s_;
  std::optional<SteadyClock::time_point> looked_;
  SteadyClock::time_point measured_;
  std::map<std::int64_t, std::vector<Doubt>> batch_;     // by run, since the last look that passed
  std::map<std::int64_t, std::vector<Doubt>> doubtful_;  // until the server has them
  std::string unfit_;
};

}  // namespace halmark::fleet
