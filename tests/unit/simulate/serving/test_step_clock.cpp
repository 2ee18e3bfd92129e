// What steps of unequal requests are priced as, and which of them are looked up.
#include "simulate/serving/step_clock.hpp"

#include "model/spec/model_spec.hpp"
#include "simulate/serving/cache_room.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

TEST(StepWork, is_mixed_as_equal_pieces_with_as_many_tokens_and_keys) {
  StepWork work;
  work.add_piece(100, 50);
  work.add_piece(20, 0);
  work.add_decode(300);
  const StepMix mix = work.mix();
  EXPECT_EQ(mix.piece_tokens, 60);
  EXPECT_DOUBLE_EQ(mix.prompts, 2);
  EXPECT_DOUBLE_EQ(mix.decodes, 1);
  // Keys 100 x (50 + 50) + 20 x 10 = 10,200; 85 of each token, of which 30 are of its own piece.
  EXPECT_EQ(mix.cached, 55);
}

TEST(StepWork, keeps_its_tokens_where_pieces_are_no_whole_number_of_them) {
  StepWork work;
  work.add_piece(10, 0);
  work.add_piece(3, 0);
  work.add_piece(1, 0);
  const StepMix mix = work.mix();
  EXPECT_EQ(mix.piece_tokens, 5) << "14 / 3";
  EXPECT_DOUBLE_EQ(mix.prompts, 14.0 / 5);
  EXPECT_EQ(mix.cached, 1) << "54.5 keys over 14 tokens, and 2.5 of a piece";
}

TEST(StepWork, of_tokens_alone_has_no_pieces) {
  StepWork work;
  work.add_decode(7);
  work.add_decode(9);
  EXPECT_EQ(work.mix().prompts, 0);
  EXPECT_EQ(work.mix().piece_tokens, 0);
  EXPECT_EQ(work.mix().decodes, 2);
  EXPECT_FALSE(work.is_empty());
  EXPECT_TRUE(StepWork{}.is_empty());
}

struct FixedTime : StepTimes {
  std::optional<double> ns;
  explicit FixedTime(std::optional<double> time) : ns(time) {}
  std::optional<double> step_ns(const StepMix&) const override { return ns; }
};

TEST(StepClock, refuses_a_step_without_a_time) {
  StepWork work;
  work.add_piece(10, 0);
  work.add_decode(5);
  work.add_decode(5);
  for (const std::optional<double> ns :
       {std::optional<double>(), std::optional<double>(-1.0), std::optional<double>(INFINITY),
        std::optional<double>(NAN)}) {
    const FixedTime times(ns);
    EXPECT_EQ(test::error_of([&] { MixClock(times).step_ns(work); }).line(),
              "a step of 1 prompts and 2 decoding requests has no time; add roofline or "
              "interpolated to --latency");
  }
  const FixedTime nothing(0.0);
  EXPECT_EQ(MixClock(nothing).step_ns(work), 0) << "no time is one";
}

class LayoutSteps : public testing::Test {
 protected:
  ModelSpec spec = load_model("qwen3-0.6b", {halmark::test::in_source("/configs/models")});
  StepPricer pricer{spec,
                    [](const Operator&) {
                      return KernelTime{1e3, 1e3, 1e3, 1e3, true};
                    },
                    nullptr, 0};
  StepPricer::Layout layout = pricer.layout({}, Precision::uniform("bf16", Dtype::bf16));
  LayoutClock clock{pricer, layout};

  // How many steps were priced when one request decodes behind so many keys.
  std::size_t priced_with(std::int64_t keys) {
    StepWork work;
    work.add_decode(keys);
    clock.step_ns(work);
    return clock.priced();
  }
};

TEST_F(LayoutSteps, are_looked_up_within_a_32nd_of_an_octave) {
  const std::pair<std::int64_t, std::size_t> rows[] = {
      {62, 1},    {63, 2},    {63, 2},     // below 64 every number is its own
      {101, 3},   {102, 3},   {100, 4},    // 102, by steps of two
      {1'000, 5}, {1'015, 5}, {1'016, 6},  // 1,008, by steps of 16
      {999, 7},   {984, 7},   {983, 8}};   // 992 is nearer than 1,008
  for (const auto& [keys, priced] : rows) EXPECT_EQ(priced_with(keys), priced) << keys;
}

TEST_F(LayoutSteps, of_equal_keys_on_average_are_one) {
  StepWork apart, equal;
  apart.add_decode(20);
  apart.add_decode(40);
  equal.add_decode(30);
  equal.add_decode(30);
  EXPECT_EQ(clock.step_ns(apart), clock.step_ns(equal));
  EXPECT_EQ(clock.priced(), 1u);
  equal.add_decode(30);
  clock.step_ns(equal);
  EXPECT_EQ(clock.priced(), 2u);
}

// 0.6B: 28 layers, 8 key-value heads of 128, two bytes, keys and values: 114,688 bytes a token.
TEST_F(LayoutSteps, leave_room_for_whole_blocks_beside_the_weights) {
  constexpr double block = 16 * 114'688;
  const CacheRoom empty = cache_room(pricer, layout, 0, 512, 16, 160);
  EXPECT_EQ(empty.blocks, 0);
  EXPECT_DOUBLE_EQ(empty.rank_block_bytes, block);
  EXPECT_DOUBLE_EQ(empty.block_bytes, block);
  EXPECT_DOUBLE_EQ(empty.kv_bytes_per_token, 114'688);
  EXPECT_DOUBLE_EQ(empty.weight_bytes, static_cast<double>(empty.rank_weight_bytes));
  EXPECT_GT(empty.rank_weight_bytes, 1'100'000'000) << "0.6 billion parameters of two bytes";
  EXPECT_GT(empty.rank_kept_bytes, 0);
  const std::int64_t taken = empty.rank_weight_bytes + empty.rank_kept_bytes;
  const auto blocks_in = [&](double room) {
    return cache_room(pricer, layout, taken + static_cast<std::int64_t>(room), 512, 16, 160).blocks;
  };
  EXPECT_EQ(blocks_in(7 * block), 7);
  EXPECT_EQ(blocks_in(7 * block - 1), 6);
  // 161 tokens are 11 blocks, of which the last holds one token: bytes are spread over them.
  EXPECT_DOUBLE_EQ(cache_room(pricer, layout, 0, 512, 16, 161).rank_block_bytes,
                   161.0 * 114'688 / 11);
}

TEST_F(LayoutSteps, split_the_cache_of_a_replica_over_ranks_and_stages) {
  constexpr double block = 16 * 114'688;
  const auto split = pricer.layout({.tp = 2}, Precision::uniform("bf16", Dtype::bf16));
  const CacheRoom halves = cache_room(pricer, split, 0, 512, 16, 160);
  EXPECT_DOUBLE_EQ(halves.rank_block_bytes, block / 2);
  EXPECT_DOUBLE_EQ(halves.block_bytes, block);
  EXPECT_NEAR(halves.weight_bytes, 2 * static_cast<double>(halves.rank_weight_bytes), 1);
  const auto stages = pricer.layout({.pp = 2}, Precision::uniform("bf16", Dtype::bf16));
  const CacheRoom two = cache_room(pricer, stages, 40'000'000'000, 512, 16, 160);
  EXPECT_DOUBLE_EQ(two.rank_block_bytes, block / 2) << "half of the layers";
  EXPECT_DOUBLE_EQ(two.block_bytes, block);
  // The fullest rank, of 40 GB; its blocks are of two engines.
  const double room =
      40e9 - static_cast<double>(two.rank_weight_bytes) - static_cast<double>(two.rank_kept_bytes);
  EXPECT_EQ(two.blocks, static_cast<std::int64_t>(room / (block / 2)) / 2);
  // Embeddings and head are tied: each stage has its copy.
  EXPECT_NEAR(two.weight_bytes / (2 * static_cast<double>(two.rank_weight_bytes)), 1, 1e-3);
}

}  // namespace
}  // namespace halmark::serving
