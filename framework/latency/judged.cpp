// A time that beats the roofline is a mistake of somebody: a wrong device file, a table of other
// units, a kernel that skipped work. It is neither used nor hidden, and never bends the bound.
#include "latency/judged.hpp"

#include <algorithm>

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
  if (!problems_.insert(problem).second || problems_.size() > 1) return;
  first_problem_ = problem.text();
  first_reason_ = reason;
}

std::vector<std::string> Quarantined::lines() const {
  if (problems_.empty()) return {};
  std::vector<std::string> out{std::to_string(size()) + (size() == 1 ? " time" : " times") +
                                   " quarantined and not used, the first:",
                               first_problem_};
  // Reports shorten long lines, and both figures have to be seen.
  constexpr std::string_view between = "; ";
  for (std::size_t begin = 0; begin < first_reason_.size();) {
    const std::size_t end = std::min(first_reason_.find(between, begin), first_reason_.size());
    out.push_back(first_reason_.substr(begin, end - begin));
    begin = end + between.size();
  }
  return out;
}

}  // namespace halmark
