// Whom a request of higher priority puts off, and when that is worth it.

#include "simulate/serving/engine.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

// Every step takes a millisecond; computing many keys again takes longer.
struct StepsOfAMillisecond : StepClock {
  double step_ns(const StepWork& work) override { return work.piece_tokens >= 50 ? 20e6 : 1e6; }
};

struct Contest {
  std::vector<std::int32_t> priorities;  // of the batch
  std::vector<std::int64_t> computed;
  std::uint32_t put_off_before = 3;  // which of them; 3 = none
  std::int64_t outputs = 100;
  double hysteresis = 1.5;
  std::int64_t requests_max = 3, blocks = 1'000;
  std::int64_t kept = 0;  // blocks of a prefix that nobody holds
};

// Who of the batch is left when a request of priority 1 and ten tokens comes.
std::vector<std::uint32_t> stays(const Contest& contest) {
  EnginePlan plan;
  plan.block_tokens = 1;
  plan.requests_max = contest.requests_max;
  plan.hysteresis = contest.hysteresis;
  StepsOfAMillisecond clock;
  KvBlocks blocks(contest.blocks, 1);
  HeldBlocks prefix{.prefix = 1};
  EXPECT_TRUE(blocks.take(prefix, contest.kept));
  blocks.publish(prefix, contest.kept);
  blocks.release(prefix);
  Engine engine(Role::both, plan, clock, blocks);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Live live;
    live.request = i;
    live.prompt = live.input = live.computed = contest.computed[i];
    live.generated = 1;
    live.output = contest.outputs;
    live.priority = contest.priorities[i];
    live.put_off = contest.put_off_before == i ? 1 : 0;
    EXPECT_TRUE(engine.adopt(live, false));
  }
  engine.step_ns(*engine.begin_step());
  engine.end_step();
  Live head;
  head.request = 9;
  head.prompt = head.input = 10;
  head.output = 5;
  head.priority = 1;
  engine.enqueue(head);
  engine.begin_step();
  std::vector<std::uint32_t> out;
  for (const Live& r : engine.batch()) {
    if (r.request != head.request) out.push_back(r.request);
  }
  return out;
}
using Ids = std::vector<std::uint32_t>;

TEST(EnginePriority, the_last_of_the_lowest_priority_is_put_off_for_a_higher_one) {
  EXPECT_EQ(stays({{0, 0, 0}, {10, 10, 10}}), (Ids{0, 1}));
  EXPECT_EQ(stays({{0, -1, 0}, {10, 10, 10}}), (Ids{0, 2}));
  EXPECT_EQ(stays({{-1, 0, 0}, {10, 10, 10}}), (Ids{1, 2}));
}

TEST(EnginePriority, equals_and_those_put_off_before_stay) {
  EXPECT_EQ(stays({{1, 1, 1}, {10, 10, 10}}), (Ids{0, 1, 2}));
  EXPECT_EQ(stays({{0, 1, 2}, {10, 10, 10}}), (Ids{1, 2}));
  EXPECT_EQ(stays({{0, 0, 0}, {10, 10, 10}, 2}), (Ids{0, 2}));
}

// With 40 tokens left of each, the head waits for 40 steps of a millisecond; computing 60 tokens
// again takes 20 ms, ten tokens one.
TEST(EnginePriority, only_where_the_wait_is_longer_than_the_work_by_the_hysteresis) {
  EXPECT_EQ(stays({{0, 0, 0}, {60, 60, 60}, 3, 42, 1.9}), (Ids{0, 1}));
  EXPECT_EQ(stays({{0, 0, 0}, {60, 60, 60}, 3, 42, 2.1}), (Ids{0, 1, 2}));
  EXPECT_EQ(stays({{0, 0, 0}, {10, 10, 10}, 3, 42, 39}), (Ids{0, 1}));
  EXPECT_EQ(stays({{0, 0, 0}, {10, 10, 10}, 3, 42, 41}), (Ids{0, 1, 2}));
}

// Three requests of ten tokens hold eleven blocks each after a step; what is kept makes room.
TEST(EnginePriority, blocks_that_lack_are_a_reason_as_places_are) {
  Contest contest{.priorities = {0, 0, 0}, .computed = {10, 10, 10}, .requests_max = 0};
  for (const std::int64_t kept : {0, 4}) {
    contest.kept = kept;
    contest.blocks = 33 + 9;
    EXPECT_EQ(stays(contest), (Ids{0, 1})) << kept;
    contest.blocks = 33 + 10;
    EXPECT_EQ(stays(contest), (Ids{0, 1, 2})) << kept;
  }
}

}  // namespace
}  // namespace halmark::serving
