// Ways of messages over a topology.
#include "core/numeric/cast.hpp"
#include "simulate/traffic/topology_links.hpp"

#include "simulate/events/simulation.hpp"
#include "simulate/fabric/collision.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "tests/unit/simulate/fabric/fabric_texts.hpp"

namespace halmark::traffic {
namespace {

using events::TaskGraph;
using events::TaskIndex;
using fabric::Ecmp;

// Sources on one leaf, `uplinks` spines of one cable each, and destinations that hang on all
// spines, so that only the uplinks are shared. 1 GB/s everywhere.
std::string leaf_text(int uplinks, int flows) {
  std::string out = "id = \"e\"\nname = \"e\"\n";
  const auto add = [&](const std::string& name, const std::string& kind) {
    out += "[[entity]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\n";
  };
  const auto join = [&](const std::string& from, const std::string& to) {
    out += "[[link]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n" +
           fabric::test::figure_text("ib", 1, 1);
  };
  for (int i = 0; i < flows; ++i) add("from" + std::to_string(i), "device");
  for (int i = 0; i < flows; ++i) add("to" + std::to_string(i), "device");
  add("leaf", "switch");
  for (int s = 0; s < uplinks; ++s) add("spine" + std::to_string(s), "switch");
  for (int i = 0; i < flows; ++i) join("from" + std::to_string(i), "leaf");
  for (int s = 0; s < uplinks; ++s) {
    join("leaf", "spine" + std::to_string(s));
    for (int i = 0; i < flows; ++i) join("spine" + std::to_string(s), "to" + std::to_string(i));
  }
  return out;
}

struct Sample {
  double mean = 0, error = 0;  // of the mean
};

// Rate of the slowest flow over ideal sharing: draw after draw, all flows of one at once.
Sample slowest(const fabric::Topology& topology, Ecmp policy, int uplinks, int flows, int draws) {
  constexpr double bytes = 1e9;
  TaskGraph graph;
  TopologyLinks links(topology, policy, 42, graph);
  std::vector<TaskIndex> gates = {graph.add({})};
  for (int draw = 0; draw < draws; ++draw) {
    const TaskIndex before = gates.back();
    std::vector<TaskIndex> sent;
    for (int i = 0; i < flows; ++i) {
      const auto passage = links.passage(i, flows + i, static_cast<std::uint64_t>(draw));
      sent.push_back(graph.add({.place = events::Place::over(passage.path), .bytes = bytes}));
      graph.wait(sent.back(), before);
    }
    gates.push_back(graph.add({}));
    for (const TaskIndex task : sent) graph.wait(gates.back(), task);
  }
  const events::EventList list = timed(graph);
  const double ideal = std::min(1.0, as_double(uplinks) / flows);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < gates.size(); ++i) {
    const double rate = 1 / events::seconds_of(list.end_ps[events::at(gates[i])] -
                                               list.end_ps[events::at(gates[i - 1])]);
    sum += rate / ideal;
    squares += rate / ideal * rate / ideal;
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(std::max(squares / draws - mean * mean, 0.0) / draws)};
}

TEST(TopologyLinks, the_slowest_of_flows_by_hash_is_as_slow_as_balls_in_bins) {
  for (const auto& [uplinks, flows] : std::vector<std::pair<int, int>>{
           {4, 2}, {4, 4}, {4, 8}, {8, 4}, {8, 8}, {8, 16}, {8, 32}, {16, 8}, {16, 16}, {16, 32}}) {
    const auto topology = fabric::parse_fabric(leaf_text(uplinks, flows), "test");
    const Sample sample = slowest(topology, Ecmp::hash, uplinks, flows, 800);
    EXPECT_NEAR(sample.mean,
                fabric::slowest_flow_share(Ecmp::hash, {.flows = flows, .uplinks = uplinks}),
                4 * sample.error)
        << uplinks << ' ' << flows;
    EXPECT_LT(sample.error, 0.01);
  }
}

TEST(TopologyLinks, the_least_loaded_uplink_and_all_of_them_share_evenly) {
  const auto topology = fabric::parse_fabric(leaf_text(4, 8), "test");
  EXPECT_NEAR(slowest(topology, Ecmp::least_loaded, 4, 8, 1).mean, 1, 1e-9);
  EXPECT_NEAR(slowest(topology, Ecmp::spray, 4, 8, 3).mean, 1, 1e-9);
  const auto uneven = fabric::parse_fabric(leaf_text(4, 5), "test");
  EXPECT_NEAR(slowest(uneven, Ecmp::least_loaded, 4, 5, 1).mean, 5.0 / 4 / 2, 1e-9);
  EXPECT_NEAR(slowest(uneven, Ecmp::spray, 4, 5, 3).mean, 1, 1e-9);
}

TEST(TopologyLinks, a_way_has_the_latency_and_the_least_bandwidth_of_its_links) {
  const auto topology = fabric::parse_fabric(fabric::test::leaf_spine_text(4, 2, 2, 2), "test");
  const std::vector<int> devices = topology.devices();
  for (const Ecmp policy : {Ecmp::hash, Ecmp::least_loaded, Ecmp::spray}) {
    TaskGraph graph;
    TopologyLinks links(topology, policy, 1, graph);
    // Adapter, leaf, spine, leaf, adapter: 0.5 + 1 + 0.5 + 0.5 + 1 + 0.5 us.
    const auto far = links.passage(devices[0], devices[3], 0);
    EXPECT_EQ(far.latency_ps, events::picoseconds(4e-6));
    EXPECT_EQ(links.passage(devices[0], devices[1], 0).latency_ps, events::picoseconds(3e-6));
    graph.add(
        {.place = events::Place::over(far.path), .duration_ps = far.latency_ps, .bytes = 50e9});
    EXPECT_NEAR(events::seconds_of(timed(graph).makespan_ps), 1 + 4e-6, 1e-9);
  }
}

TEST(TopologyLinks, every_way_leads_over_links_of_the_topology_from_one_end_to_the_other) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto topology = fabric::parse_fabric(fabric::test::random_text(seed, 8, 5), "test");
    const std::vector<int> devices = topology.devices();
    for (const Ecmp policy : {Ecmp::hash, Ecmp::least_loaded}) {
      TaskGraph graph;
      TopologyLinks links(topology, policy, seed, graph);
      for (const int from : devices) {
        for (const int to : devices) {
          if (from == to) continue;
          int at = from;
          for (const events::Hop& hop : graph.path(links.passage(from, to, seed).path)) {
            const fabric::Link& link = topology.links[as_size(links.link_of(hop.link))];
            ASSERT_TRUE(link.from == at || link.to == at);
            at = link.from == at ? link.to : link.from;
          }
          EXPECT_EQ(at, to);
        }
      }
    }
  }
}

TEST(TopologyLinks, to_itself_there_is_no_way) {
  const auto topology = fabric::parse_fabric(leaf_text(1, 1), "test");
  TaskGraph graph;
  TopologyLinks links(topology, Ecmp::hash, 1, graph);
  refuses([&] { links.passage(0, 0, 0); }, "no way from 'from0' to 'from0'");
}

}  // namespace
}  // namespace halmark::traffic
