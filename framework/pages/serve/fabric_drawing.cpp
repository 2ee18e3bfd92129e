#include "pages/serve/fabric_drawing.hpp"

#include <algorithm>
#include <map>

#include "core/json/json.hpp"

namespace halmark::pages {
namespace {

using fabric::Topology;

// Nodes in their order up to the limit, switches always: those of nodes that are left out hang in
// the air, so they go with them. By entity: its place in the drawing, or -1.
std::vector<int> drawn_places(const Topology& topology) {
  const auto is_of_node = [](const fabric::Entity& e) { return e.node >= 0; };
  std::size_t room = drawn_entities_max;
  for (const fabric::Entity& e : topology.entities) {
    if (!is_of_node(e) && room > 0) --room;
  }
  std::map<int, std::size_t> of_node;
  for (const fabric::Entity& e : topology.entities) {
    if (is_of_node(e)) ++of_node[e.node];
  }
  int last_node = -1;
  std::size_t used = 0;
  for (const auto& [node, count] : of_node) {
    if (last_node >= 0 && used + count > room) break;
    used += count;
    last_node = node;
  }
  std::vector<int> out;
  int next = 0;
  for (const fabric::Entity& e : topology.entities) {
    const bool is_drawn =
        is_of_node(e) ? e.node <= last_node : next < static_cast<int>(drawn_entities_max);
    out.push_back(is_drawn ? next++ : -1);
  }
  return out;
}

Json figures_of(const Topology& topology) {
  Json out = Json::array();
  for (const fabric::LinkFigure& f : topology.figures) {
    out.push_back({{"name", f.name},
                   {"transport", std::string(fabric::transport_name(f.transport))},
                   {"latency_ns", f.latency_ns},
                   {"bytes_per_s", f.bytes_per_s},
                   {"source", f.source}});
  }
  return out;
}

// Bytes of each direction of each link.
class LinkLoad {
 public:
  LinkLoad(const Topology& topology, const fabric::Router& router)
      : topology_(topology), router_(router), devices_(topology.devices()) {
    bytes_.assign(topology.links.size(), {0, 0});
  }

  void add_step(const OperatorGraph& graph) {
    const auto micro_batches = static_cast<double>(graph.micro_batches());
    const auto& parallel = graph.configuration.parallel;
    const auto devices = static_cast<std::size_t>(parallel.devices());
    const auto of_stage = static_cast<std::size_t>(group_of_stage(graph));
    for (const Operator& op : graph.operators) {
      if (op.kind != OperatorKind::collective) continue;
      for (std::size_t rank = 0; rank < devices && rank < devices_.size(); ++rank) {
        const std::size_t stage = rank / of_stage % static_cast<std::size_t>(parallel.pp);
        const auto turns = static_cast<double>(op.stage_counts[stage]) * micro_batches;
        if (turns > 0) add_rank(op, rank, turns);
      }
    }
  }

  const std::vector<std::array<double, 2>>& bytes() const { return bytes_; }

 private:
  // Devices of one stage are neighbours: a new stage begins after so many.
  static std::int64_t group_of_stage(const OperatorGraph& graph) {
    const Parallel& p = graph.configuration.parallel;
    for (const Operator& op : graph.operators) {
      if (op.split == Split::pipeline) return op.group_stride;
    }
    return std::max(1, p.devices() / p.pp);
  }

  // What a rank sends of one operator; group: `n` ranks, `stride` devices apart.
  void add_rank(const Operator& op, std::size_t rank, double turns) {
    const auto n = static_cast<std::size_t>(op.local.params.value_or("ranks", 1));
    const auto stride = static_cast<std::size_t>(op.group_stride);
    const std::size_t digit = rank / stride % n;
    const std::size_t base = rank - digit * stride;
    const double bytes = op.local_work.transfer_bytes * turns;
    if (op.split == Split::pipeline) {
      if (digit + 1 < n) send(rank, rank + stride, bytes);
    } else if (op.local_work.exchange == Exchange::personal) {
      for (std::size_t other = 0; other < n; ++other) {
        if (other == digit) continue;
        send(rank, base + other * stride, bytes / static_cast<double>(n - 1));
      }
    } else if (n > 1) {
      send(rank, base + (digit + 1) % n * stride, bytes);
    }
  }

  void send(std::size_t from, std::size_t to, double bytes) {
    if (to >= devices_.size()) return;
    const int target = devices_[to];
    auto tree = trees_.find(target);
    if (tree == trees_.end()) tree = trees_.emplace(target, router_.to(target)).first;
    const fabric::Route route = router_.route(tree->second, devices_[from], from * 1024 + to);
    for (std::size_t i = 0; i < route.links.size(); ++i) {
      const auto link = static_cast<std::size_t>(route.links[i]);
      const bool is_forward = topology_.links[link].from == route.entities[i];
      bytes_[link][is_forward ? 0 : 1] += bytes;
    }
  }

  const Topology& topology_;
  const fabric::Router& router_;
  std::vector<int> devices_;
  std::map<int, fabric::RouteTree> trees_;
  std::vector<std::array<double, 2>> bytes_;
};

}  // namespace

Json fabric_drawing(const Topology& topology) {
  const std::vector<int> places = drawn_places(topology);
  Json nodes = Json::array(), links = Json::array();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const fabric::Entity& e = topology.entities[i];
    if (places[i] >= 0) nodes.push_back({e.name, std::string(kind_name(e.kind)), e.node});
  }
  for (const fabric::Link& link : topology.links) {
    const int from = places[static_cast<std::size_t>(link.from)];
    const int to = places[static_cast<std::size_t>(link.to)];
    if (from >= 0 && to >= 0) links.push_back({from, to, link.figure, link.cables});
  }
  Json notes = Json::array();
  for (const std::string& note : topology.notes) notes.push_back(note);
  const std::size_t left_out = topology.entities.size() - nodes.size();
  return {{"id", topology.id},           {"name", topology.name},
          {"profile", topology.profile}, {"nodes", std::move(nodes)},
          {"links", std::move(links)},   {"figures", figures_of(topology)},
          {"left_out", left_out},        {"notes", std::move(notes)}};
}

Json link_load_json(const Topology& topology, const fabric::Router& router,
                    const ComposedStep& step) {
  LinkLoad load(topology, router);
  load.add_step(step.graph);
  const std::vector<int> places = drawn_places(topology);
  const double seconds = step.estimate.step_ns * 1e-9;
  Json links = Json::array();
  double busiest = 0;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const double bytes = std::max(load.bytes()[i][0], load.bytes()[i][1]);
    if (bytes <= 0) continue;
    const double share = bytes / (topology.capacity_bytes_per_s(static_cast<int>(i)) * seconds);
    busiest = std::max(busiest, share);
    const int from = places[static_cast<std::size_t>(topology.links[i].from)];
    const int to = places[static_cast<std::size_t>(topology.links[i].to)];
    if (from >= 0 && to >= 0) links.push_back({from, to, share, bytes});
  }
  return {{"links", std::move(links)},
          {"busiest", busiest},
          {"assumed",
           "modelled: rings to the next rank, pairs for all-to-all, shortest ways; the mean over "
           "the step"}};
}

}  // namespace halmark::pages
