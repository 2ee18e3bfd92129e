#include "core/configuration.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

TEST(Configuration, the_key_is_the_one_that_stored_rows_carry) {
  const Configuration d{.model = "qwen3-0.6b",
                        .parallel = {.dp = 1, .tp = 2, .pp = 1, .ep = 1},
                        .precision = {.name = "bf16"},
                        .workload = {Phase::decode, 4, 1, 1024}};
  EXPECT_EQ(d.key(), "qwen3-0.6b decode b4 n1 c1024 bf16 dp1 tp2 pp1 ep1");
}

TEST(Workload, context_counts_the_keys_that_the_last_query_sees) {
  EXPECT_EQ((Workload{Phase::decode, 1, 1, 1024}.cached()), 1023);
  EXPECT_EQ((Workload{Phase::prefill, 1, 512, 512}.cached()), 0);
}

TEST(Parallel, experts_share_the_devices_of_the_others) {
  EXPECT_EQ((Parallel{.dp = 2, .tp = 3, .pp = 5, .ep = 7}.devices()), 30);
}

TEST(Names, phases_and_objectives_read_back) {
  for (const Phase p : {Phase::prefill, Phase::decode, Phase::training})
    EXPECT_EQ(parse_phase(phase_name(p)), p);
  for (const Objective o : {Objective::latency, Objective::throughput, Objective::memory}) {
    EXPECT_EQ(parse_objective(objective_name(o)), o);
  }
  EXPECT_EQ(parse_phase("Decode"), std::nullopt);
  EXPECT_EQ(parse_objective("speed"), std::nullopt);
}

}  // namespace
}  // namespace halmark
