
#include "levels.hpp"
#include "simulate/fabric/fabric_file.hpp"

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

}  // namespace
}  // namespace halmark::fabric
