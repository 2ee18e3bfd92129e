// The page of a plan of shards: it fits the terminal, and layers that are alike stand in one row.
#include "pages/simulate/sharding_page.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "fixtures.hpp"
#include "pages/simulate/shard_rows.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::pages {
namespace {

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

TEST(ShardingPage, names_runs_of_layers) {
  EXPECT_EQ(runs_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(runs_text({3}), "3");
}

}  // namespace
}  // namespace halmark::pages
