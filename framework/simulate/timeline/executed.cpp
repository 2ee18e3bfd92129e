#include "simulate/timeline/executed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "simulate/timeline/timeline_folds.hpp"

namespace halmark::simulate {
namespace {

using events::EventKind;

double ns(events::Picoseconds time) { return static_cast<double>(time) / 1e3; }

// Numbers of kernel events by actor and operator, by the time of their begin.
using EventsOfOperators = std::map<std::string_view, std::vector<std::uint32_t>>;
std::map<std::uint32_t, EventsOfOperators> kernels_by_actor(const Timeline& timeline) {
  std::map<std::uint32_t, EventsOfOperators> out;
  for (std::uint32_t i = 0; i < timeline.events.size(); ++i) {
    const TimelineEvent& event = timeline.events[i];
    if (event.kind != EventKind::kernel || event.phase != TimelinePhase::step) continue;
    out[event.actor][without_layer(timeline.labels[event.label])].push_back(i);
  }
  for (auto& [actor, operators] : out) {
    for (auto& [name, events] : operators) {
      std::ranges::stable_sort(events, {},
                               [&](std::uint32_t i) { return timeline.events[i].start_ps; });
    }
  }
  return out;
}

class Pairing {
 public:
  Pairing(const Timeline& timeline, ExecutedStep& out) : timeline_(timeline), out_(out) {}

  void add(std::uint32_t rank, std::uint32_t actor, EventsOfOperators simulated,
           const RankExecutions& executed) {
    ExecutedStep::Rank of_rank{.device = timeline_.actors[actor]};
    std::map<std::string_view, std::size_t> next;
    for (std::uint32_t i = 0; i < executed.size(); ++i) {
      const auto known = simulated.find(executed[i].operator_name);
      if (known == simulated.end()) continue;  // a collective
      std::size_t& at = next[known->first];
      if (at == known->second.size()) {
        ++out_.only_executed;
        continue;
      }
      pair({known->second[at++], rank, i}, executed[i], of_rank);
    }
    for (const auto& [name, events] : simulated) out_.only_simulated += events.size() - next[name];
    out_.ranks.push_back(std::move(of_rank));
  }

 private:
  void pair(const ExecutedEvent& both, const Execution& execution, ExecutedStep::Rank& rank) {
    const TimelineEvent& event = timeline_.events[both.event];
    out_.pairs.push_back(both);
    ++rank.events;
    rank.simulated_ns += ns(event.end_ps - event.start_ps);
    rank.executed_ns += execution.ns;
    rank.simulated_end_ns = std::max(rank.simulated_end_ns, ns(event.end_ps));
    rank.executed_end_ns = std::max(rank.executed_end_ns, execution.begin_ns + execution.ns);
  }

  const Timeline& timeline_;
  ExecutedStep& out_;
};

void add_differences(const Timeline& timeline, std::span<const RankExecutions> executed,
                     ExecutedStep& out) {
  if (out.pairs.empty() || out.executed_ns <= 0) return;
  std::vector<double> begins;
  for (std::uint32_t i = 0; i < out.pairs.size(); ++i) {
    const ExecutedEvent& both = out.pairs[i];
    const double there = executed[both.rank][both.execution].begin_ns;
    begins.push_back(std::fabs(ns(timeline.events[both.event].start_ps) - there) / out.executed_ns);
    if (begins.back() <= out.begin_worst) continue;
    out.begin_worst = begins.back();
    out.worst = i;
  }
  out.begin_median = quantile(begins, 0.5);
  out.begin_p90 = quantile(begins, 0.9);
}

}  // namespace

ExecutedStep beside_executed(const Timeline& timeline, std::span<const RankExecutions> executed) {
  ExecutedStep out;
  for (const RankExecutions& rank : executed) {
    for (const Execution& one : rank) {
      out.executed_ns = std::max(out.executed_ns, one.begin_ns + one.ns);
    }
  }
  const auto simulated = kernels_by_actor(timeline);
  Pairing pairing(timeline, out);
  std::uint32_t rank = 0;
  for (const auto& [actor, operators] : simulated) {
    if (rank == executed.size()) break;
    pairing.add(rank, actor, operators, executed[rank]);
    ++rank;
  }
  add_differences(timeline, executed, out);
  return out;
}

Timeline with_executed(Timeline timeline, std::span<const RankExecutions> executed) {
  std::set<std::uint32_t> devices;
  for (const TimelineEvent& event : timeline.events) {
    if (event.kind == EventKind::kernel) devices.insert(event.actor);
  }
  std::map<std::string, std::uint32_t> labels;
  auto device = devices.begin();
  for (std::size_t rank = 0; rank < executed.size() && device != devices.end(); ++rank) {
    const auto actor = as_uint32(timeline.actors.size());
    timeline.actors.push_back(timeline.actors[*device++] + " as executed");
    const auto stream = as_uint32(timeline.resources.size());
    timeline.resources.push_back({.name = "executed"});
    for (const Execution& one : executed[rank]) {
      const auto [label, is_new] =
          labels.try_emplace(one.operator_name, as_uint32(timeline.labels.size()));
      if (is_new) timeline.labels.push_back(one.operator_name);
      const events::Picoseconds start = events::picoseconds(one.begin_ns * 1e-9);
      timeline.events.push_back({.start_ps = start,
                                 .end_ps = start + events::picoseconds(one.ns * 1e-9),
                                 .label = label->second,
                                 .actor = actor,
                                 .resource = stream});
    }
  }
  return timeline;
}

}  // namespace halmark::simulate
