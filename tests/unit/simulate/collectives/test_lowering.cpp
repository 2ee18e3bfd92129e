// Who gets what from whom, whatever it takes.
#include "core/numeric/cast.hpp"
#include "simulate/collectives/lowering.hpp"

#include "simulate/collectives/rank_order.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

using events::TaskGraph;
using events::TaskIndex;

// One link for everything; notes who sent how much to whom.
class NotingCarrier : public Carrier {
 public:
  explicit NotingCarrier(TaskGraph& graph)
      : path_(graph.add_path(std::vector<events::Hop>{{graph.add_link(1e9)}})) {}
  Passage passage(std::int32_t from, std::int32_t to, std::uint32_t) override {
    EXPECT_NE(from, to);
    ranks.insert({from, to});
    return {.path = path_, .latency_ps = 1000};
  }
  std::optional<Passage> switch_passage(std::size_t, std::int32_t first, bool) override {
    ranks.insert(first);
    return Passage{.path = path_, .latency_ps = 1000};
  }
  events::ActorIndex actor(std::int32_t rank) const override {
    return static_cast<events::ActorIndex>(rank);
  }
  std::set<std::int32_t> ranks;

 private:
  events::PathIndex path_;
};

struct Case {
  Collective collective;
  Algorithm algorithm;
};

std::vector<LoweredWay> ways() {
  std::vector<LoweredWay> out;
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {2}, {3}, {8}, {7}, {12}, {4, 2}, {8, 4}, {3, 5}, {2, 1, 3}, {4, 2, 2}}) {
    FabricLevels fabric;
    for (const std::int64_t ranks : shape) {
      fabric.levels.push_back(
          {.ranks = ranks, .latency_s = 1e-6, .bytes_per_s = 1e9, .in_switch_ranks_min = 1});
    }
    for (const Collective c : all_collectives()) {
      for (const CollectiveTime& t : collective_times(c, 1e6, fabric)) {
        for (const int channels : {1, 2}) {
          if (channels > 1 && t.algorithm != Algorithm::ring && t.algorithm != Algorithm::tree)
            continue;
          if (channels > 1 && c == Collective::all_to_all) continue;
          out.push_back({.collective = c,
                         .algorithm = t.algorithm,
                         .bytes = 1e6,
                         .shape = shape,
                         .pieces = t.algorithm == Algorithm::hierarchical ? 3 : 1,
                         .channels = channels});
        }
      }
    }
  }
  return out;
}

std::string text_of(const LoweredWay& way) {
  std::string out = std::string(collective_name(way.collective)) + ' ' +
                    std::string(algorithm_name(way.algorithm));
  for (const std::int64_t ranks : way.shape) out += ' ' + std::to_string(ranks);
  return out + " channels " + std::to_string(way.channels);
}

// Which of the first tasks each task comes after, as bits.
std::vector<std::uint64_t> ancestors(const TaskGraph& graph, std::size_t first) {
  std::vector<std::uint64_t> out(graph.size(), 0);
  for (std::size_t i = 0; i < first; ++i) out[i] = std::uint64_t{1} << i;
  // Tasks are added after what they wait for.
  std::vector<std::vector<TaskIndex>> before(graph.size());
  for (const TaskGraph::Wait& wait : graph.waits()) {
    EXPECT_LT(wait.before, wait.task);
    before[events::at(wait.task)].push_back(wait.before);
  }
  for (std::size_t i = first; i < graph.size(); ++i) {
    for (const TaskIndex task : before[i]) out[i] |= out[events::at(task)];
  }
  return out;
}

TEST(Lowering, every_rank_ends_after_all_whose_bytes_it_needs) {
  for (const LoweredWay& way : ways()) {
    TaskGraph graph;
    NotingCarrier carrier(graph);
    const auto n = as_size(RankShape(way.shape).count);
    std::vector<TaskIndex> begins;
    for (std::size_t i = 0; i < n; ++i) begins.push_back(graph.add({}));
    const auto ends = lower(way, carrier, graph, begins);
    ASSERT_EQ(ends.size(), n);
    const std::vector<std::uint64_t> reached = ancestors(graph, n);
    for (std::size_t rank = 0; rank < n; ++rank) {
      std::uint64_t got = 0;
      for (const TaskIndex task : ends[rank]) got |= reached[events::at(task)];
      const std::uint64_t everyone = (std::uint64_t{1} << n) - 1, root = 1;
      std::uint64_t needed = way.collective == Collective::broadcast ? root : everyone;
      if (way.collective == Collective::send_recv)
        needed = std::uint64_t{1} << ((rank + n - 1) % n);
      EXPECT_EQ(got & needed, needed) << text_of(way) << " rank " << rank;
    }
    for (const std::int32_t rank : carrier.ranks) EXPECT_LT(rank, static_cast<std::int32_t>(n));
  }
}

// Together the ranks send what no algorithm can do without, and what its formula counts.
TEST(Lowering, bytes_are_those_of_the_algorithm) {
  for (const LoweredWay& way : ways()) {
    TaskGraph graph;
    NotingCarrier carrier(graph);
    lower(way, carrier, graph);
    double sent = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) sent += graph.bytes(static_cast<TaskIndex>(i));
    const double n = RankShape(way.shape).count, s = way.bytes;
    const bool is_sum = way.collective == Collective::all_reduce;
    double least = s * (n - 1) * (is_sum ? 2 : 1);  // gather, scatter, copy, personal
    if (way.collective == Collective::send_recv) least = s * n;
    double expected = least;
    if (way.algorithm == Algorithm::one_shot && is_sum) expected = s * n * (n - 1);
    if (way.algorithm == Algorithm::two_shot && !is_sum) expected = s * (n - 1) / n + s * (n - 1);
    // Every rank sends up to its switch, and every group to the next, and so down again.
    if (way.algorithm == Algorithm::in_switch) {
      double up = 0, down = 0, outside = n, inside = 1;
      for (const std::int64_t ranks : way.shape) {
        if (ranks == 1) continue;
        down += n / inside;
        inside *= as_double(ranks);
        outside = n / inside;
        up += is_sum ? outside * as_double(ranks) : 1;
      }
      expected = (up + down) * s * (is_sum ? (n + 1) / n : 1);
    }
    // Both send on what others have to send on.
    const bool forwards =
        way.collective == Collective::all_to_all &&
        (way.algorithm == Algorithm::halving_doubling || way.algorithm == Algorithm::hierarchical);
    if (forwards) {
      EXPECT_GE(sent, least * (1 - 1e-9)) << text_of(way);
    } else {
      EXPECT_NEAR(sent, expected, 1e-9 * expected) << text_of(way);
    }
  }
}

TEST(Lowering, events_are_at_most_as_many_as_foretold) {
  for (const LoweredWay& way : ways()) {
    TaskGraph graph;
    NotingCarrier carrier(graph);
    lower(way, carrier, graph);
    EXPECT_GT(graph.size(), 0u) << text_of(way);
    const auto count = as_double(graph.size());
    EXPECT_LE(count, events_of(way)) << text_of(way);
    // Additions and switches of further levels are counted where there are none.
    EXPECT_GE(count, 0.2 * events_of(way)) << text_of(way);
  }
}

TEST(Lowering, what_an_algorithm_cannot_do_is_refused) {
  TaskGraph graph;
  NotingCarrier carrier(graph);
  const LoweredWay way{
      .collective = Collective::all_gather, .algorithm = Algorithm::tree, .bytes = 1, .shape = {4}};
  EXPECT_EQ(events_of(way), 0);
  refuses([&] { lower(way, carrier, graph); }, "no all_gather by tree");
}

// Sanders, Speck and Traff (2009): logarithmic depth, and of two trees one has no children
// anywhere.
TEST(RankOrder, the_two_trees_have_no_node_with_children_in_both) {
  for (std::int32_t n = 2; n <= 130; ++n) {
    std::vector<int> trees_with_children(as_size(n), 0);
    for (const bool is_second : {false, true}) {
      const std::vector<std::int32_t> parents = tree_parents(n, is_second);
      std::vector<int> children(as_size(n), 0);
      for (std::int32_t node = 1; node < n; ++node) {
        int depth = 0;
        for (std::int32_t at = node; at != 0; at = parents[as_size(at)]) {
          ASSERT_LE(++depth, n) << "a circle";
        }
        EXPECT_LE(depth, std::ceil(std::log2(n))) << n;
        ++children[as_size(parents[as_size(node)])];
      }
      EXPECT_EQ(children[0], 1);
      for (std::size_t i = 0; i < children.size(); ++i) {
        EXPECT_LE(children[i], 2);
        trees_with_children[i] += children[i] > 0 ? 1 : 0;
      }
    }
    for (std::size_t i = 1; i < trees_with_children.size(); ++i) {
      EXPECT_LE(trees_with_children[i], 1) << n << ' ' << i;
    }
  }
}

TEST(RankOrder, a_ring_leaves_every_group_once_and_enters_at_the_place_where_it_left) {
  const RankShape shape({8, 4, 2});
  for (std::int32_t channel = 0; channel < 8; ++channel) {
    const std::vector<std::int32_t> ring = shape.ring(channel);
    EXPECT_EQ(std::set<std::int32_t>(ring.begin(), ring.end()).size(), 64u);
    int crossings = 0;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::int32_t from = ring[i], to = ring[(i + 1) % ring.size()];
      if (shape.level_between(from, to) == 0) continue;
      ++crossings;
      EXPECT_EQ(shape.digit(from, 0), shape.digit(to, 0));
    }
    EXPECT_EQ(crossings, 8);
  }
}

}  // namespace
}  // namespace halmark::simulate
