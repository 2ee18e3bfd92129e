

#include "fabric_texts.hpp"
#include "levels.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/level_view.hpp"

namespace halmark::fabric {
namespace {

TEST(LevelViews, of_leaves_and_spines_tell_the_oversubscription) {
  const auto views = level_views(parse_fabric(test::leaf_spine_text(64, 16, 4, 4), "l.toml"));
  ASSERT_EQ(views.size(), 2u);
  const LevelView& leaf = level(views, "leaf");
  EXPECT_EQ(leaf.groups, 4u);
  EXPECT_EQ(leaf.ranks, 16u);
  EXPECT_EQ(leaf.hops_farthest, 4);
  EXPECT_DOUBLE_EQ(leaf.latency_ns_farthest, 2 * (500 + 1000));
  EXPECT_DOUBLE_EQ(leaf.bytes_per_s_rank, 50e9);
  EXPECT_DOUBLE_EQ(leaf.oversubscription, 1);
  const LevelView& spine = level(views, "spine");
  EXPECT_EQ(spine.ranks, 64u);
  EXPECT_EQ(spine.hops_nearest, 6);
  EXPECT_DOUBLE_EQ(spine.latency_ns_nearest, 2 * (500 + 1000 + 500));
  EXPECT_DOUBLE_EQ(spine.bytes_per_s_rank, 12.5e9);
  EXPECT_DOUBLE_EQ(spine.bytes_per_s_flow, 50e9);
  EXPECT_DOUBLE_EQ(spine.oversubscription, 4);
  EXPECT_EQ(spine.transport, Transport::ib);
}

// Two nodes of 4 with 2 rails beside NVLink: 64 B take another path at each level.
TEST(LevelViews, of_rails_have_nodes_rails_and_spines) {
  const std::string text =
      "id = \"r\"\nname = \"r\"\n[node]\ncount = 4\ndevices = 2\n[node.host]\n" +
      test::figure_text("pcie", 0.5, 64) + "[scale_up]\nkind = \"switch\"\n" +
      test::figure_text("nvlink", 1.5, 450) +
      "[network]\nkind = \"rail\"\nnics = 2\nnodes_per_leaf = 4\nspines = 2\nuplinks = 4\n" +
      test::figure_text("ib", 1, 50) + "[network.uplink]\n" + test::figure_text("ib", 0.5, 50);
  const auto views = level_views(parse_fabric(text, "r.toml"));
  ASSERT_EQ(views.size(), 3u);
  EXPECT_DOUBLE_EQ(level(views, "node").bytes_per_s_rank, 450e9);
  EXPECT_EQ(level(views, "node").hops_nearest, 2);
  EXPECT_EQ(level(views, "rail").groups, 2u);
  EXPECT_EQ(level(views, "rail").ranks, 4u);
  EXPECT_DOUBLE_EQ(level(views, "rail").bytes_per_s_rank, 50e9);
  EXPECT_DOUBLE_EQ(level(views, "rail").latency_ns_farthest, 3000);
  EXPECT_EQ(level(views, "spine").hops_nearest, 6);
  EXPECT_DOUBLE_EQ(level(views, "spine").bytes_per_s_rank, 50e9);
}

TEST(LevelViews, of_one_rank_are_none) {
  EXPECT_TRUE(level_views(parse_fabric("id = \"x\"\nname = \"x\"\n[node]\ndevices = 1\n", "x.toml"))
                  .empty());
}

TEST(LevelViews, of_numa_domains_cross_the_link_between_them) {
  const std::string text =
      "id = \"n\"\nname = \"n\"\n[node]\ndevices = 4\nnuma = 2\n[node.host]\n" +
      test::figure_text("shared_memory", 0.1, 200) + "[node.between_numa]\n" +
      test::figure_text("xgmi", 0.2, 64);
  const auto views = level_views(parse_fabric(text, "n.toml"));
  ASSERT_EQ(views.size(), 2u);
  EXPECT_DOUBLE_EQ(level(views, "numa").bytes_per_s_rank, 200e9);
  EXPECT_DOUBLE_EQ(level(views, "numa").latency_ns_farthest, 200);
  EXPECT_DOUBLE_EQ(level(views, "node").bytes_per_s_rank, 32e9);
  EXPECT_DOUBLE_EQ(level(views, "node").latency_ns_farthest, 400);
  EXPECT_EQ(level(views, "node").transport, Transport::xgmi);
}

// Levels of fabrics that stand link by link: which parts are looked at, and what their paths are.

std::string entity(const std::string& name, const std::string& kind) {
  return "[[entity]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\n";
}

std::string link(const std::string& from, const std::string& to, const std::string& figure) {
  return "[[link]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n" + figure;
}

std::string group(const std::string& level, const std::string& members) {
  return "[[group]]\nlevel = \"" + level + "\"\nmembers = [" + members + "]\n";
}

std::vector<LevelView> views(const std::string& text) {
  return level_views(parse_fabric("id = \"f\"\nname = \"f\"\n" + text, "f.toml"));
}

// So many devices on one switch, of which one has a tenth of the others' bandwidth.
double rank_rate(int devices, int slow) {
  std::string text = entity("s", "switch");
  for (int i = 0; i < devices; ++i) {
    const std::string name = "d" + std::to_string(i);
    text +=
        entity(name, "device") + link(name, "s", test::figure_text("ib", 1, i == slow ? 5 : 50));
  }
  return views(text).at(0).bytes_per_s_rank;
}

TEST(LevelViewOfMany, looks_at_64_of_its_parts_from_the_first_to_the_last) {
  EXPECT_DOUBLE_EQ(rank_rate(64, 62), 5e9) << "all of 64";
  EXPECT_DOUBLE_EQ(rank_rate(65, 0), 5e9);
  EXPECT_DOUBLE_EQ(rank_rate(65, 62), 5e9) << "62 x 64 / 63, rounded down";
  EXPECT_DOUBLE_EQ(rank_rate(65, 63), 50e9) << "the one that is left out";
  EXPECT_DOUBLE_EQ(rank_rate(65, 64), 5e9);
}

// a and c on one switch, b behind another: 1 + 2 + 4 us from a to b, 5 + 2 + 4 from c.
const std::string chain =
    entity("a", "device") + entity("b", "device") + entity("c", "device") + entity("s", "switch") +
    entity("t", "switch") + link("a", "s", test::figure_text("roce", 1, 50)) +
    link("c", "s", test::figure_text("roce", 5, 40)) +
    link("s", "t", test::figure_text("tcp", 2, 3)) + link("t", "b", test::figure_text("ib", 4, 20));

TEST(LevelViewOfMany, of_groups_by_name_is_of_the_parts_that_they_join) {
  const auto levels =
      views(chain + group("rack", "\"a\", \"c\"") + group("hall", "\"a\", \"b\", \"c\""));
  ASSERT_EQ(levels.size(), 2u);
  const LevelView& rack = levels[0];
  EXPECT_EQ(rack.name, "rack");
  EXPECT_EQ(rack.groups, 1u);
  EXPECT_EQ(rack.ranks, 2u);
  EXPECT_EQ(rack.hops_nearest, 2);
  EXPECT_DOUBLE_EQ(rack.latency_ns_nearest, 6000);
  EXPECT_DOUBLE_EQ(rack.bytes_per_s_flow, 40e9);
  EXPECT_DOUBLE_EQ(rack.bytes_per_s_rank, 40e9);
  EXPECT_EQ(rack.transport, Transport::roce);
  const LevelView& hall = levels[1];
  EXPECT_EQ(hall.ranks, 3u);
  EXPECT_EQ(hall.hops_farthest, 3) << "from b to a, the first of the rack";
  EXPECT_DOUBLE_EQ(hall.latency_ns_farthest, 7000);
  EXPECT_DOUBLE_EQ(hall.bytes_per_s_flow, 3e9);
  EXPECT_EQ(hall.transport, Transport::tcp) << "the narrowest on the way";
  EXPECT_DOUBLE_EQ(hall.bytes_per_s_rank, 3e9) << "of two that send to one";
  EXPECT_DOUBLE_EQ(hall.oversubscription, 40.0 / 3);
}

TEST(LevelViewOfMany, of_single_ranks_has_the_nearest_and_the_farthest) {
  const auto levels = views(chain);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].name, "all");
  EXPECT_EQ(levels[0].hops_nearest, 2);
  EXPECT_DOUBLE_EQ(levels[0].latency_ns_nearest, 6000) << "a to c";
  EXPECT_EQ(levels[0].hops_farthest, 3);
  EXPECT_DOUBLE_EQ(levels[0].latency_ns_farthest, 11'000) << "c to b";
  EXPECT_DOUBLE_EQ(levels[0].oversubscription, 1);
}

// Pairs across two racks: they do not nest, so that the hall joins racks alone.
TEST(LevelViewOfMany, takes_no_parts_that_overlap_others) {
  std::string text = entity("s", "switch") + entity("t", "switch") +
                     link("s", "t", test::figure_text("ib", 0.5, 60));
  for (const char* const name : {"a", "b", "c", "d"}) text += entity(name, "device");
  for (const auto& [name, hub] : {std::pair{"a", "s"}, {"b", "s"}, {"c", "t"}, {"d", "t"}}) {
    text += link(name, hub, test::figure_text("ib", 1, 50));
  }
  text += group("pair", "\"a\", \"c\"") + group("pair", "\"b\", \"d\"") +
          group("rack", "\"a\", \"b\"") + group("rack", "\"c\", \"d\"") +
          group("hall", "\"a\", \"b\", \"c\", \"d\"");
  const auto levels = views(text);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].hops_farthest, 3);
  EXPECT_EQ(levels[1].hops_farthest, 2);
  EXPECT_DOUBLE_EQ(levels[1].bytes_per_s_rank, 50e9);
  EXPECT_DOUBLE_EQ(levels[2].bytes_per_s_rank, 30e9) << "60 GB/s between the racks, of two each";
  EXPECT_EQ(levels[2].hops_nearest, 3);
  EXPECT_DOUBLE_EQ(levels[2].oversubscription, 50.0 / 30);
}

}  // namespace
}  // namespace halmark::fabric
