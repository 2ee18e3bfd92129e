#include "pages/serve/step_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/graph/rank_places.hpp"

namespace halmark::pages {
namespace {

using events::EventKind;
using events::Picoseconds;
using simulate::Timeline;
using simulate::TimelineEvent;

std::string rank_name(const PricedSystem& system, std::size_t rank) {
  if (const fabric::Topology* topology = system.topology()) {
    const std::vector<int> devices = topology->devices();
    if (rank < devices.size()) {
      return topology->entities[static_cast<std::size_t>(devices[rank])].name;
    }
  }
  return "device" + std::to_string(rank);
}

class StepEvents {
 public:
  StepEvents(const PricedSystem& system, const ComposedStep& step) : step_(step) {
    const OperatorGraph& graph = step.graph;
    const auto stride =
        static_cast<std::size_t>(group_stride(graph.configuration.parallel, Split::pipeline));
    for (std::size_t s = 0; s < graph.stages.size(); ++s) {
      const std::string name = rank_name(system, s * stride);
      out_.actors.push_back(name);
      out_.resources.push_back({.name = name + " compute"});
      out_.resources.push_back({.name = name + " links", .is_link = true});
    }
    last_.assign(graph.stages.size(), TimelineEvent::none);
  }

  Timeline made() {
    const auto micro_batches = static_cast<std::size_t>(step_.graph.micro_batches());
    for (std::size_t m = 0; m < micro_batches; ++m) {
      std::uint32_t before = TimelineEvent::none;
      for (std::size_t s = 0; s < out_.actors.size(); ++s) before = pass(s, before);
    }
    mark_critical();
    return std::move(out_);
  }

 private:
  // One micro-batch through a stage, when both it and the stage are there; its last event.
  std::uint32_t pass(std::size_t stage, std::uint32_t arrival) {
    std::uint32_t cause = last_[stage];
    if (cause == TimelineEvent::none ||
        (arrival != TimelineEvent::none && end(arrival) > end(cause)))
      cause = arrival;
    std::int64_t layer = step_.graph.stages[stage].first_layer;
    for (const std::int32_t type : step_.graph.stage_sequence(stage)) {
      const LayerType& of = step_.graph.layer_types[static_cast<std::size_t>(type)];
      const bool is_layer = is_of_layers(type);
      for (const std::int32_t index : of.operators) {
        if (!is_executed(stage, index)) continue;
        cause = add(stage, static_cast<std::size_t>(index),
                    is_layer ? "layer " + std::to_string(layer) : of.name, cause);
      }
      layer += is_layer ? 1 : 0;
    }
    last_[stage] = cause;
    return cause;
  }

  bool is_of_layers(std::int32_t type) const {
    const OperatorGraph& g = step_.graph;
    return g.embedding_type != type && g.head_type != type && g.pipeline_type != type &&
           g.prediction_type != type;
  }

  bool is_executed(std::size_t stage, std::int32_t index) const {
    return step_.graph.operators[static_cast<std::size_t>(index)].stage_counts[stage] > 0;
  }

  Picoseconds end(std::uint32_t event) const { return out_.events[event].end_ps; }

  std::uint32_t add(std::size_t stage, std::size_t index, const std::string& where,
                    std::uint32_t cause) {
    if (out_.events.size() >= timeline_events_max) {
      throw refused("the timeline has more than " + std::to_string(timeline_events_max) + " events",
                    {}, "choose fewer stages or a smaller batch");
    }
    const Operator& op = step_.graph.operators[index];
    const bool is_exchange = op.kind == OperatorKind::collective;
    TimelineEvent event;
    event.start_ps = cause == TimelineEvent::none ? 0 : end(cause);
    event.end_ps = event.start_ps + events::picoseconds(step_.latencies[index].ns * 1e-9);
    event.bytes = is_exchange ? op.local_work.transfer_bytes : op.local_work.bytes();
    event.flops = op.local_work.flops();
    event.label = label(where + ' ' + op.name);
    event.actor = static_cast<std::uint32_t>(stage);
    event.resource = static_cast<std::uint32_t>(2 * stage + (is_exchange ? 1 : 0));
    event.cause = cause;
    event.kind = !is_exchange                  ? EventKind::kernel
                 : op.split == Split::pipeline ? EventKind::p2p
                                               : EventKind::collective;
    simulate::TimelineResource& resource = out_.resources[event.resource];
    resource.busy_ps += event.end_ps - event.start_ps;
    if (is_exchange) resource.bytes += event.bytes;
    out_.makespan_ps = std::max(out_.makespan_ps, event.end_ps);
    out_.events.push_back(event);
    return static_cast<std::uint32_t>(out_.events.size() - 1);
  }

  std::uint32_t label(const std::string& text) {
    const auto [it, is_new] =
        labels_.try_emplace(text, static_cast<std::uint32_t>(out_.labels.size()));
    if (is_new) out_.labels.push_back(text);
    return it->second;
  }

  // From the event that ends last back to the first: an event begins when its cause ends.
  void mark_critical() {
    if (out_.events.empty()) return;
    const auto last = std::ranges::max_element(out_.events, {}, &TimelineEvent::end_ps);
    auto at = static_cast<std::uint32_t>(last - out_.events.begin());
    while (at != TimelineEvent::none) {
      out_.events[at].is_critical = true;
      at = out_.events[at].cause;
    }
  }

  const ComposedStep& step_;
  Timeline out_;
  std::vector<std::uint32_t> last_;  // event of each stage
  std::map<std::string, std::uint32_t> labels_;
};

double microseconds(Picoseconds time) { return std::round(static_cast<double>(time) / 1e3) / 1e3; }

}  // namespace

simulate::Timeline step_timeline(const PricedSystem& system, const ComposedStep& step) {
  return StepEvents(system, step).made();
}

Json timeline_json(const Timeline& timeline) {
  Json resources = Json::array(), rows = Json::array(), kinds = Json::array();
  for (const simulate::TimelineResource& r : timeline.resources) {
    resources.push_back({{"name", r.name},
                         {"is_link", r.is_link},
                         {"busy_us", microseconds(r.busy_ps)},
                         {"bytes", r.bytes}});
  }
  for (int kind = 0; kind <= static_cast<int>(EventKind::done); ++kind) {
    kinds.push_back(std::string(events::kind_name(static_cast<EventKind>(kind))));
  }
  for (const TimelineEvent& e : timeline.events) {
    rows.push_back({microseconds(e.start_ps), microseconds(e.end_ps), e.label, e.actor,
                    e.resource == TimelineEvent::none ? -1 : static_cast<std::int64_t>(e.resource),
                    static_cast<int>(e.kind), e.is_critical ? 1 : 0});
  }
  return {{"actors", timeline.actors},
          {"labels", timeline.labels},
          {"resources", std::move(resources)},
          {"kinds", std::move(kinds)},
          {"makespan_us", microseconds(timeline.makespan_ps)},
          {"events", std::move(rows)}};
}

}  // namespace halmark::pages
