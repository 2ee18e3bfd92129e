// What the certifier measures next: the kernels that promise most of the configuration that leads.
#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "search/certify/certify.hpp"

namespace halmark {
namespace {

// A kernel's users that a promise looks at: more would not change which kernel is chosen.
constexpr std::size_t promise_users_max = 256;
// Of so many equal bounds the most promising is sought.
constexpr std::size_t equals_max = 64;

}  // namespace

// Of equal bounds the one whose levels have done best so far: the others may be discarded, or met
// up to eps, once it is evaluated. The others go back into the queue.
std::uint64_t Certifier::best_of_equals(const Candidate& top) {
  std::vector<std::uint64_t> equals{top.configuration};
  const auto is_equal = [&](const Candidate& next) {
    return next.waits == top.waits && next.key == top.key;
  };
  while (!queue_.empty() && is_equal(queue_.top()) && equals.size() < equals_max) {
    const Candidate next = queue_.top();
    queue_.pop();
    const std::uint64_t c = next.configuration;
    if (verdicts_[c] == Verdict::undecided && versions_[c] == next.version) equals.push_back(c);
  }
  const std::uint64_t best =
      *std::ranges::min_element(equals, {}, [this](std::uint64_t c) { return expected_excess(c); });
  for (const std::uint64_t c : equals) {
    if (c != best) push(c);
  }
  return best;
}

// The undecided configuration with the best bound; what the archive covers is discarded on the way.
bool Certifier::pop_best(std::uint64_t& configuration) {
  while (!queue_.empty()) {
    const Candidate top = queue_.top();
    queue_.pop();
    const std::uint64_t c = top.configuration;
    if (verdicts_[c] != Verdict::undecided || versions_[c] != top.version) continue;
    if (is_covered(c, lower(c))) {
      verdicts_[c] = Verdict::discarded;
      continue;
    }
    if (!top.waits && has_evaluated(c)) {
      push(c);
      continue;
    }
    configuration = best_of_equals(top);
    return true;
  }
  return false;
}

double Certifier::optimistic_key(std::uint64_t c) {
  Objectives objectives(objectives_);
  configurations_.compose(c, optimistic_, objectives);
  return key(c, objectives);
}

// By how much measuring the kernel would raise bounds, over what it costs: the sum over undecided
// configurations that use it. Stands for the volume between bounds and archive, which is dear.
double Certifier::promise(std::int32_t kernel) {
  const auto k = as_size(kernel);
  const CertifyKernel& what = problem_.kernels[k];
  const double before = optimistic_[k], after = std::max(before, what.expected);
  double out = 0;
  std::size_t seen = 0;
  for (const std::uint32_t user : users_[k]) {
    if (verdicts_[user] != Verdict::undecided || seen == promise_users_max) continue;
    ++seen;
    const double from = optimistic_key(user);
    optimistic_[k] = after;
    const double to = optimistic_key(user);
    optimistic_[k] = before;
    if (std::isfinite(from) && std::isfinite(to)) out += to - from;
  }
  return out / std::max(what.cost, 1e-9);
}

void Certifier::take_from(std::uint64_t c, std::size_t count, std::vector<std::int32_t>& chosen) {
  std::vector<std::int32_t> open;
  for (const std::int32_t k : configurations_.kernels(c)) {
    const bool is_open = kernels_[as_size(k)].status == KernelStatus::unmeasured;
    if (is_open && std::ranges::find(chosen, k) == chosen.end()) open.push_back(k);
  }
  while (!open.empty() && chosen.size() < count) {
    if (!chosen.empty()) {
      // As if the chosen ones were measured: another configuration may lead then.
      Objectives optimistic(objectives_);
      configurations_.compose(c, optimistic_, optimistic);
      if (is_covered(c, optimistic)) return;
      // The first of a front is finished first: until then nothing can be discarded there.
      const auto leads = [&](const Candidate& top) {
        return !top.waits || key(c, optimistic) > top.key;
      };
      if (has_evaluated(c) && !queue_.empty() && leads(queue_.top())) return;
    }
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < open.size() && open.size() > 1; ++i) {
      const double promised = promise(open[i]);
      if (promised <= most) continue;
      most = promised;
      best = i;
    }
    const auto k = as_size(open[best]);
    chosen.push_back(open[best]);
    optimistic_[k] = std::max(optimistic_[k], problem_.kernels[k].expected);
    open.erase(open.begin() + as_int64(best));
  }
}

std::vector<std::int32_t> Certifier::ask(std::size_t count) {
  std::vector<std::int32_t> chosen;
  std::vector<std::uint64_t> aside;
  std::uint64_t c = 0;
  while (chosen.size() < count && pop_best(c)) {
    take_from(c, count, chosen);
    aside.push_back(c);
  }
  for (const std::uint64_t configuration : aside) push(configuration);
  for (const std::int32_t k : chosen) {
    optimistic_[as_size(k)] = low_[as_size(k)];
  }
  return chosen;
}

}  // namespace halmark
