// The only place that decides whose figure counts. Sources do not know each other, so that a new
// one is a file and a line of SourceKind.
#include "latency/chain.hpp"

#include <algorithm>
#include <utility>

#include "core/ranges.hpp"

namespace halmark {

void LatencyChain::add(SourceKind kind, LatencySource& source) {
  links_.insert(std::ranges::upper_bound(links_, kind, {}, &Link::kind),
                {kind, &source, dynamic_cast<const PlacedSource*>(&source)});
}

void LatencyChain::add(SourceKind kind, std::unique_ptr<LatencySource> source) {
  owned_.push_back(std::move(source));
  add(kind, *owned_.back());
}

void LatencyChain::require(std::span<const KernelCase> cases) {
  std::vector<KernelCase> open(cases.begin(), cases.end());
  for (const Link& link : links_) {
    if (open.empty()) return;
    link.source->require(open);
    std::erase_if(open, [&link](const KernelCase& kernel_case) {
      const auto known = link.source->latency(kernel_case);
      return known && known->status != Status::quarantined;
    });
  }
}

template <class Ask>
std::optional<Latency> LatencyChain::first(const Problem& problem, const Ask& ask) const {
  std::optional<Latency> refused;
  for (const Link& link : links_) {
    std::optional<Latency> latency = ask(link);
    if (!latency) continue;
    if (latency->status == Status::quarantined) {
      if (!refused) refused = std::move(latency);
      continue;
    }
    asked_.add(problem, refused ? &*refused : nullptr, &*latency);
    if (refused) latency->quarantined = refused->reason;
    return latency;
  }
  asked_.add(problem, refused ? &*refused : nullptr, nullptr);
  return refused;
}

std::optional<Latency> LatencyChain::latency(const KernelCase& kernel_case) const {
  return latency(kernel_case, 1);
}

std::optional<Latency> LatencyChain::latency(const Problem& problem, const Work& work) const {
  return latency(problem, work, 1);
}

std::optional<Latency> LatencyChain::latency(const KernelCase& kernel_case,
                                             std::int64_t stride) const {
  return first(kernel_case.problem, [&](const Link& link) {
    return link.placed == nullptr ? link.source->latency(kernel_case)
                                  : link.placed->latency(kernel_case, stride);
  });
}

std::optional<Latency> LatencyChain::latency(const Problem& problem, const Work& work,
                                             std::int64_t stride) const {
  return first(problem, [&](const Link& link) {
    return link.placed == nullptr ? link.source->latency(problem, work)
                                  : link.placed->latency(problem, work, stride);
  });
}

bool LatencyChain::has(SourceKind kind) const { return contains(links_, kind, &Link::kind); }

bool LatencyChain::has_only(SourceKind kind) const {
  return std::ranges::all_of(links_, [kind](const Link& link) { return link.kind == kind; });
}

bool LatencyChain::has_interval() const {
  return has(SourceKind::measured) || has(SourceKind::journal) || has(SourceKind::forecast) ||
         has(SourceKind::interpolated) || has(SourceKind::transferred) || has(SourceKind::fabric);
}

}  // namespace halmark
