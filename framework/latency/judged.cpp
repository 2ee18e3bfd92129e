// A time that beats the roofline is a mistake of somebody: a wrong device file, a table of other
// units, a kernel that skipped work. It is neither used nor hidden, and never bends the bound.
#include "latency/judged.hpp"

namespace halmark {

Latency judged(Latency latency, const roofline::Bound& bound) {
  latency.lower_bound_ns = bound.ns();
  latency.limiter = bound.limiter();
  if (auto why = roofline::quarantine(bound, latency.ns)) {
    latency.status = Status::quarantined;
    latency.reason = latency.reason.empty() ? *why : *why + "; " + latency.reason;
  }
  return latency;
}

void Quarantined::add(const Problem& problem, const std::string& reason) {
  if (problems_.insert(problem).second && problems_.size() == 1) {
    first_ = problem.text() + ": " + reason;
  }
}

std::string Quarantined::text() const {
  if (problems_.empty()) return "";
  return std::to_string(size()) + (size() == 1 ? " time" : " times") +
         " quarantined, the first: " + first_;
}

}  // namespace halmark
