// Shortest paths of random fabrics beside two slower ways to find them: Floyd and Warshall's
// recurrence for their lengths, and walking every one of them for what they are like.

#include "../../case_name.hpp"
#include "core/numeric/cast.hpp"
#include "fabric_texts.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::fabric {
namespace {

constexpr int far = 1 << 20;

class RandomFabric : public testing::TestWithParam<int> {
 protected:
  RandomFabric() {
    const int i = GetParam();
    topology_ = parse_fabric(
        test::random_text(static_cast<std::uint64_t>(i), 2 + i % 7, 1 + i * 5 % 8), "random.toml");
  }
  int entities() const { return static_cast<int>(topology_.entities.size()); }
  const Entity& entity(int i) const { return topology_.entities[as_size(i)]; }
  bool passes(int i) const { return entity(i).forwards; }

  Topology topology_;
};

TEST_P(RandomFabric, no_link_names_what_is_not_there) {
  for (const Link& link : topology_.links) {
    EXPECT_TRUE(link.from >= 0 && link.from < entities());
    EXPECT_TRUE(link.to >= 0 && link.to < entities());
    EXPECT_NE(link.from, link.to);
    EXPECT_LT(as_size(link.figure), topology_.figures.size());
  }
}

TEST_P(RandomFabric, both_directions_of_a_link_have_its_capacity) {
  const Arcs arcs(topology_);
  EXPECT_EQ(arcs.all().size(), 2 * topology_.links.size());
  for (int i = 0; i < entities(); ++i) {
    double out = 0, in = 0;
    for (const Arc& arc : arcs.from(i)) {
      EXPECT_EQ(arc.from, i);
      out += topology_.capacity_bytes_per_s(arc.link);
    }
    for (const Arc& arc : arcs.to(i)) {
      EXPECT_EQ(arc.to, i);
      in += topology_.capacity_bytes_per_s(arc.link);
    }
    EXPECT_DOUBLE_EQ(out, in);
  }
}

TEST_P(RandomFabric, paths_are_as_long_as_the_recurrence_says) {
  const auto n = as_size(entities());
  std::vector<std::vector<int>> distance(n, std::vector<int>(n, far));
  for (std::size_t i = 0; i < n; ++i) distance[i][i] = 0;
  for (const Link& link : topology_.links) {
    const auto a = as_size(link.from), b = as_size(link.to);
    distance[a][b] = distance[b][a] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (!passes(static_cast<int>(k))) continue;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
      }
    }
  }
  const Router router(topology_);
  for (std::size_t to = 0; to < n; ++to) {
    const RouteTree tree = router.to(static_cast<int>(to));
    for (std::size_t from = 0; from < n; ++from) {
      EXPECT_EQ(tree.hops[from], distance[from][to]) << from << " to " << to;
    }
  }
}

// Every path of exactly `hops` links, found by walking all of them.
struct Walker {
  const Topology& topology;
  int to;
  double paths = 0, quickest = std::numeric_limits<double>::infinity(), widest = 0;

  void walk(int at, int hops, double latency, double width) {
    if (at == to && hops == 0) {
      ++paths;
      quickest = std::min(quickest, latency);
      widest = std::max(widest, width);
    }
    if (hops == 0) return;
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const Link& link = topology.links[i];
      if (link.from != at && link.to != at) continue;
      const int next = link.from == at ? link.to : link.from;
      if (next != to && !topology.entities[as_size(next)].forwards) continue;
      const LinkFigure& figure = topology.figure_of(static_cast<int>(i));
      walk(next, hops - 1, latency + figure.latency_ns, std::min(width, figure.bytes_per_s));
    }
  }
};

TEST_P(RandomFabric, counts_and_figures_of_equal_paths_are_those_of_walking_them) {
  const Router router(topology_);
  const std::vector<int> devices = topology_.devices();
  for (const int to : devices) {
    const RouteTree tree = router.to(to);
    for (const int from : devices) {
      const auto i = as_size(from);
      if (from == to || tree.hops[i] > 6) continue;
      Walker walker{.topology = topology_, .to = to};
      walker.walk(from, tree.hops[i], 0, std::numeric_limits<double>::infinity());
      EXPECT_EQ(tree.paths[i], walker.paths);
      EXPECT_DOUBLE_EQ(tree.latency_ns[i], walker.quickest);
      EXPECT_DOUBLE_EQ(tree.bytes_per_s[i], walker.widest);
    }
  }
}

TEST_P(RandomFabric, a_way_to_oneself_has_no_link_and_no_limit) {
  const Router router(topology_);
  const int device = topology_.devices().front();
  const Route route = router.route(router.to(device), device);
  EXPECT_EQ(route.entities, std::vector<int>{device});
  EXPECT_TRUE(route.links.empty());
  EXPECT_EQ(route.latency_ns, 0);
  EXPECT_EQ(route.bytes_per_s, std::numeric_limits<double>::infinity());
}

TEST_P(RandomFabric, a_flow_keeps_one_path_and_many_flows_use_all) {
  const Router router(topology_);
  const std::vector<int> devices = topology_.devices();
  const RouteTree tree = router.to(devices.front());
  for (const int from : devices) {
    const auto i = as_size(from);
    if (from == devices.front() || tree.paths[i] > 12) continue;
    std::set<std::vector<int>> seen;
    for (std::uint64_t flow = 0; flow < 2000; ++flow) {
      const Route route = router.route(tree, from, flow);
      ASSERT_EQ(static_cast<int>(route.links.size()), tree.hops[i]);
      EXPECT_EQ(route.links, router.route(tree, from, flow).links);
      EXPECT_EQ(route.entities.front(), from);
      EXPECT_EQ(route.entities.back(), devices.front());
      EXPECT_GE(route.latency_ns, tree.latency_ns[i] - 1e-6);
      EXPECT_LE(route.bytes_per_s, tree.bytes_per_s[i]);
      seen.insert(route.links);
    }
    EXPECT_EQ(as_double(seen.size()), tree.paths[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFabric, testing::Range(0, 40), [](const auto& info) {
  return halmark::test::case_name({"seed", info.param});
});

TEST(Routes, a_device_is_no_way_to_another_device) {
  const std::string link = test::figure_text("nvlink", 1, 50);
  const std::string text =
      "id = \"x\"\nname = \"x\"\n"
      "[[entity]]\nname = \"a\"\nkind = \"device\"\n[[entity]]\nname = \"b\"\nkind = \"device\"\n"
      "forwards = true\n[[entity]]\nname = \"c\"\nkind = \"device\"\n"
      "[[link]]\nfrom = \"a\"\nto = \"b\"\n" +
      link + "[[link]]\nfrom = \"b\"\nto = \"c\"\n" + link;
  const Topology topology = parse_fabric(text, "x.toml");
  EXPECT_EQ(Router(topology).to(2).hops[0], 2);
  std::string closed = text;
  closed.replace(closed.find("forwards = true"), 15, "forwards = false");
  EXPECT_THROW(parse_fabric(closed, "x.toml"), std::exception);
}

TEST(Routes, a_one_way_ring_is_longer_one_way) {
  std::string text = "id = \"x\"\nname = \"x\"\n";
  for (const char* name : {"a", "b", "c"}) {
    text +=
        std::string("[[entity]]\nname = \"") + name + "\"\nkind = \"device\"\nforwards = true\n";
  }
  for (const auto& [from, to] : {std::pair{"a", "b"}, {"b", "c"}, {"c", "a"}}) {
    text += std::string("[[link]]\nfrom = \"") + from + "\"\nto = \"" + to +
            "\"\nduplex = \"one_way\"\n" + test::figure_text("nvlink", 1, 50);
  }
  const Topology topology = parse_fabric(text, "x.toml");
  const RouteTree tree = Router(topology).to(0);
  EXPECT_THAT(tree.hops, testing::ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace halmark::fabric
