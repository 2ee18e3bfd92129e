// Blocks are neither lost nor made, whatever is done with them.
#include "simulate/serving/kv_blocks.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

TEST(KvBlocks, of_a_prefix_that_is_written_are_found) {
  KvBlocks blocks(10, 16);
  HeldBlocks first{.prefix = 7}, second{.prefix = 7}, other{.prefix = 8};
  blocks.attach(first, 4);
  EXPECT_EQ(first.shared, 0) << "nothing is written yet";
  ASSERT_TRUE(blocks.take(first, 6));
  blocks.publish(first, 4);
  blocks.attach(second, 4);
  EXPECT_EQ(second.shared, 4);
  EXPECT_EQ(second.own, 0);
  blocks.attach(other, 4);
  EXPECT_EQ(other.shared, 0);
  EXPECT_EQ(blocks.held(), 6) << "shared blocks are held once";
  blocks.release(first);
  EXPECT_EQ(blocks.kept(), 0) << "the second holds them";
  blocks.release(second);
  EXPECT_EQ(blocks.kept(), 4);
  EXPECT_EQ(blocks.held(), 0);
  EXPECT_EQ(blocks.counters(), (KvCounters{.allocated = 6, .reused = 4, .freed = 2}));
}

TEST(KvBlocks, the_prefix_that_was_used_longest_ago_makes_room) {
  KvBlocks blocks(4, 16);
  for (const std::int64_t prefix : {1, 2}) {
    HeldBlocks of{.prefix = prefix};
    ASSERT_TRUE(blocks.take(of, 2));
    blocks.publish(of, 2);
    blocks.release(of);
  }
  HeldBlocks again{.prefix = 1}, fresh{.prefix = 3};
  blocks.attach(again, 2);
  blocks.release(again);  // 2 is older now
  ASSERT_TRUE(blocks.take(fresh, 1));
  HeldBlocks whole{.prefix = 1}, cut{.prefix = 2};
  blocks.attach(whole, 2);
  blocks.attach(cut, 2);
  EXPECT_EQ(whole.shared, 2);
  EXPECT_EQ(cut.shared, 1) << "its end goes first";
  EXPECT_EQ(blocks.counters().evicted, 1);
  HeldBlocks many{.prefix = 4};
  EXPECT_FALSE(blocks.take(many, 1)) << "all are held";
}

TEST(KvBlocks, are_conserved_under_random_use) {
  std::mt19937_64 random(3);
  const auto below = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  for (int run = 0; run < 20; ++run) {
    KvBlocks blocks(1 + below(60), 16);
    std::vector<HeldBlocks> users(8);
    for (int act = 0; act < 400; ++act) {
      HeldBlocks& of = users[static_cast<std::size_t>(below(8))];
      switch (below(4)) {
        case 0:
          if (of.all() == 0) of.prefix = below(3);
          blocks.attach(of, below(6));
          break;
        case 1:
          blocks.take(of, below(7));
          break;
        case 2:
          blocks.publish(of, below(6));
          break;
        default:
          blocks.release(of);
          break;
      }
      ASSERT_TRUE(blocks.is_conserved());
      ASSERT_EQ(blocks.free() + blocks.kept() + blocks.held(), blocks.total());
      std::int64_t own = 0;
      for (const HeldBlocks& user : users) own += user.own;
      ASSERT_GE(blocks.held(), own);
    }
    for (HeldBlocks& of : users) blocks.release(of);
    EXPECT_EQ(blocks.held(), 0);
  }
}

}  // namespace
}  // namespace halmark::serving
