// The page of a plan of shards: it fits the terminal, and layers that are alike stand in one row.
#include <gmock/gmock.h>

#include <array>
#include <sstream>

#include "fixtures.hpp"
#include "pages/fabric/collectives_page.hpp"
#include "pages/simulate/shard_rows.hpp"
#include "pages/simulate/sharding_page.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::pages {
namespace {

using simulate::Collective;
using simulate::FabricLevels;
using testing::HasSubstr;

simulate::PlanAnswer answer(const Parallel& stated, std::int64_t shards) {
  const ModelSpec spec = model_test::shipped("qwen3-0.6b");
  simulate::PlanQuestion question{.base = {.model = spec.id,
                                           .parallel = {},
                                           .precision = model_test::bf16(),
                                           .workload = {.batch = 4, .context = 1024}},
                                  .shards = shards,
                                  .stated = stated};
  const auto time = [](const Operator& op) -> std::optional<double> {
    return 1000 + op.rank_work.bytes() / 1e3;
  };
  simulate::PlanAnswer out = answer_plan(spec, question, time, nullptr, std::nullopt);
  out.device = "h100-sxm";
  return out;
}

TEST(ShardingPage, fits_terminals_of_80_120_and_200_columns) {
  const simulate::PlanAnswer plan =
      answer({.dp = 1, .tp = 2, .pp = 2, .ep = 1, .cp = 1, .stages = {10, 18}}, 4);
  for (const int width : {80, 120, 200}) {
    const std::string rows = shard_rows_text(plan.table, plan.owners, width, false);
    std::istringstream lines(rows);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
    }
    EXPECT_THAT(rows, HasSubstr("all shards hold"));
  }
}

TEST(ShardingPage, folds_layers_that_are_alike_and_unfolds_them) {
  const simulate::PlanAnswer plan =
      answer({.dp = 1, .tp = 2, .pp = 2, .ep = 1, .cp = 1, .stages = {10, 18}}, 4);
  const std::string folded = sharding_page(plan, {.width = 0}).text;
  EXPECT_THAT(folded, test::has_all({"\n0-9 ", "\n10-27 ", "stages: layers 0-9 on shards 0-1",
                                     "tensor_row + pipeline",
                                     "run executes it: halmark run qwen3-0.6b", "--stages 10,18"}));
  const std::string all = sharding_page(plan, {.width = 0, .shows_all = true}).text;
  EXPECT_THAT(all, HasSubstr("\n17 "));
  EXPECT_GT(std::ranges::count(all, '\n'), std::ranges::count(folded, '\n') + 200);
}

TEST(CollectivesPage, says_the_time_the_bus_bandwidth_and_why) {
  const FabricLevels fabric{.levels = {{.ranks = 2, .latency_s = 0, .bytes_per_s = 3.125e9}}};
  const std::array collectives{Collective::all_reduce};
  const std::array sizes{64e6};
  const report::View page = collectives_page(fabric, collectives, sizes);
  // Two ranks on 25 GbE: 64 MB in 20.5 ms at the earliest.
  const Json& row = page.data["collectives"][0];
  EXPECT_NEAR(row["seconds"].get<double>(), 20.48e-3, 1e-6);
  EXPECT_NEAR(row["bus_bytes_per_s"].get<double>(), 3.125e9, 1);
  EXPECT_NEAR(row["bound_s"].get<double>(), 20.48e-3, 1e-6);
  EXPECT_EQ(row["algorithm"], "ring");
  EXPECT_GE(row["others"].size(), 3u);
  EXPECT_THAT(page.text, testing::HasSubstr("2 ranks: 2 at 3.125 GB/s and 0 us"));
  EXPECT_THAT(page.text, testing::ContainsRegex("all_reduce +64000000 +2.048e\\+04 +3.125 +100 %"));
}

TEST(CollectivesPage, one_rank_moves_nothing) {
  const FabricLevels fabric{.levels = {{.ranks = 1, .latency_s = 1e-6, .bytes_per_s = 1e9}}};
  const std::array sizes{1e6};
  const report::View page = collectives_page(fabric, simulate::all_collectives(), sizes);
  EXPECT_EQ(page.data["collectives"].size(), 6u);
  for (const Json& row : page.data["collectives"]) {
    EXPECT_THAT(row, test::HasValues(R"({"/seconds": 0, "/algorithm": null})"));
  }
  EXPECT_THAT(page.text, testing::HasSubstr("one rank: nothing moves"));
}

fabric::Topology shipped(const std::string& id) {
  return fabric::read_fabric(test::in_source("/configs/fabrics/") + id + ".toml");
}

const Json& row_of(const report::View& page, const std::string& collective, double bytes) {
  for (const Json& row : page.data["collectives"]) {
    if (row["collective"] == collective && row["bytes"] == bytes) return row;
  }
  throw std::runtime_error("no row of " + collective);
}

TEST(CollectivesPage, events_stand_beside_the_closed_form_where_they_are_asked_for) {
  const report::View page = collectives_page(shipped("lite"), {.simulates = true});
  EXPECT_EQ(page.data["is_simulated"], true);
  for (const Json& row : page.data["collectives"]) {
    const double seconds = row["seconds"].get<double>();
    EXPECT_NEAR(row["by_events"]["seconds"].get<double>(), seconds, 0.01 * seconds) << row;
    EXPECT_LE(row["by_events"]["latency_s"].get<double>(), seconds);
  }
  EXPECT_THAT(page.text, test::has_all({"by events, us", "ways of equal cost by spray"}));
  const report::View plain = collectives_page(shipped("lite"));
  EXPECT_EQ(plain.data["is_simulated"], false);
  EXPECT_FALSE(plain.data["collectives"][0].contains("by_events"));
}

TEST(CollectivesPage, groups_at_once_share_what_they_meet_in) {
  const report::View page = collectives_page(shipped("leaf-spine"), {.groups = 48});
  EXPECT_THAT(page.data, test::HasValues(R"({"/groups": 48, "/ranks": 4})"));
  const Json& events = row_of(page, "all_reduce", 64.0 * 1024 * 1024)["by_events"];
  EXPECT_NEAR(events["slowest_group_s"].get<double>() / events["seconds"].get<double>(), 3, 0.05);
  EXPECT_THAT(page.text, test::has_all({"48 groups at once, us", "every 48th rank is of one"}));
  EXPECT_THROW(collectives_page(shipped("lite"), {.groups = 3}), Error);
}

// reference: NCCL tables of 8 H100 in one server, 16-bit: 50.5 us at 4 MiB, 2111 us at 512 MiB.
TEST(CollectivesPage, one_node_is_shown_as_measured_systems_behave) {
  const report::View page = collectives_page(shipped("nvlink-node"));
  const Json& row = row_of(page, "all_reduce", 4.0 * 1024 * 1024)["as_measured"];
  EXPECT_NEAR(row["seconds"].get<double>(), 50.5e-6, 0.25 * 50.5e-6);
  EXPECT_LT(row["low_s"].get<double>(), 50.5e-6);
  EXPECT_GT(row["high_s"].get<double>(), 50.5e-6);
  EXPECT_TRUE(row_of(page, "broadcast", 1024)["as_measured"].is_null());
  EXPECT_THAT(page.text, testing::HasSubstr("as measured systems behave, us"));
  EXPECT_FALSE(collectives_page(shipped("ib-pair")).data["collectives"][0].contains("as_measured"));
  EXPECT_FALSE(collectives_page(shipped("lite")).data["collectives"][0].contains("as_measured"));
}

TEST(CollectivesPage, a_level_without_bandwidth_is_refused) {
  const FabricLevels fabric{.levels = {{.ranks = 1}}};
  const std::array sizes{1e6};
  EXPECT_THROW(collectives_page(fabric, simulate::all_collectives(), sizes), Error);
}

}  // namespace
}  // namespace halmark::pages
