#include "pages/fabric/collectives_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/error_of.hpp"

namespace halmark::pages {
namespace {

using simulate::Collective;
using simulate::FabricLevels;

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
    EXPECT_EQ(row["seconds"], 0);
    EXPECT_TRUE(row["algorithm"].is_null());
  }
  EXPECT_THAT(page.text, testing::HasSubstr("one rank: nothing moves"));
}

TEST(CollectivesPage, a_level_without_bandwidth_is_refused) {
  const FabricLevels fabric{.levels = {{.ranks = 1}}};
  const std::array sizes{1e6};
  EXPECT_THROW(collectives_page(fabric, simulate::all_collectives(), sizes), Error);
}

}  // namespace
}  // namespace halmark::pages
