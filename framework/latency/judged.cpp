// A time that beats the roofline is a mistake of somebody: a wrong device file, a table of other
// units, a kernel that skipped work. It is neither used nor hidden, and never bends the bound.
#include "latency/judged.hpp"

#include "latency/imported/latency_points.hpp"

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

void AskedTimes::add(const Problem& problem, const Latency* refused, const Latency* answer) {
  if (!problems_.insert(hash_of(problem)).second) return;
  ++quarantined_.asked;
  if (refused != nullptr && ++quarantined_.kernels == 1) {
    quarantined_.problem = problem.text();
    quarantined_.source = refused->where.empty() ? refused->origin : refused->where;
    quarantined_.ns = refused->ns;
    quarantined_.lower_bound_ns = refused->lower_bound_ns;
    quarantined_.reason = refused->reason;
  }
  if (answer == nullptr || answer->origin.empty()) return;
  Given& given = given_[answer->origin];
  ++(answer->provenance == Provenance::interpolated ? given.interpolated : given.exact);
}

}  // namespace halmark
