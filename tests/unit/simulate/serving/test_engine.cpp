// One engine step by step: what each computes, and who gives way.
#include "simulate/serving/engine.hpp"
#include "tests/unit/simulate/suite.hpp"

#include <memory>

namespace halmark::serving {
namespace {

// A millisecond for every piece and every decoding request, a microsecond for every key of both.
struct CountingClock : StepClock {
  double step_ns(const StepWork& work) override {
    return 1e6 * static_cast<double>(work.pieces + work.decodes) + 1e3 * work.piece_keys +
           1e3 * static_cast<double>(work.decode_keys);
  }
};

// Blocks of one token, so that tokens are blocks.
struct Bench {
  explicit Bench(std::int64_t total, std::int64_t block_tokens = 1) : blocks(total, block_tokens) {
    plan.block_tokens = block_tokens;
    plan.token_budget = 100;
  }
  Engine& engine() {
    if (!made) made = std::make_unique<Engine>(Role::both, plan, clock, blocks);
    return *made;
  }
  EnginePlan plan;
  CountingClock clock;
  KvBlocks blocks;
  std::unique_ptr<Engine> made;
};

Live request(std::uint32_t id, std::int64_t input, std::int64_t output, std::int32_t priority = 0) {
  Live out;
  out.request = id;
  out.prompt = out.input = input;
  out.output = output;
  out.priority = priority;
  return out;
}

// Its prompt and its first token are done.
Live decoding(std::uint32_t id, std::int64_t input, std::int64_t output,
              std::int32_t priority = 0) {
  Live out = request(id, input, output, priority);
  out.computed = input;
  out.generated = 1;
  return out;
}

void adopt(Engine& engine, std::uint32_t id, std::int64_t input, std::int64_t output) {
  EXPECT_TRUE(engine.adopt(decoding(id, input, output), false));
}

template <class Requests>
std::vector<std::uint32_t> ids(const Requests& requests) {
  std::vector<std::uint32_t> out;
  for (const Live& r : requests) out.push_back(r.request);
  return out;
}
using Ids = std::vector<std::uint32_t>;

TEST(Engine, its_queue_is_by_priority_and_then_by_arrival) {
  Bench bench(100);
  const std::int32_t priorities[] = {0, 1, 0, 2, 1};
  for (std::uint32_t i = 0; i < 5; ++i) bench.engine().enqueue(request(i, 5, 5, priorities[i]));
  EXPECT_EQ(ids(bench.engine().waiting()), (Ids{3, 1, 4, 0, 2}));
  EXPECT_EQ(bench.engine().load(), 5u);
}

TEST(Engine, tokens_come_before_prompts_and_prompts_fill_the_budget) {
  Bench bench(1'000);
  Engine& engine = bench.engine();
  adopt(engine, 0, 10, 5);
  engine.enqueue(request(1, 150, 5));
  engine.enqueue(request(2, 30, 5));
  const auto first = engine.begin_step();
  ASSERT_TRUE(first);
  EXPECT_TRUE(engine.is_stepping());
  EXPECT_EQ(first->decodes, 1);
  EXPECT_EQ(first->decode_keys, 11) << "its own among them";
  EXPECT_EQ(first->pieces, 1);
  EXPECT_EQ(first->piece_tokens, 99);
  EXPECT_EQ(ids(engine.waiting()), Ids{2});
  EXPECT_EQ(engine.end_step().tokens, 1);
  EXPECT_FALSE(engine.is_stepping());
  const auto second = engine.begin_step();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->pieces, 2) << "the rest of 51 tokens, then the other prompt";
  EXPECT_EQ(second->piece_tokens, 81);
  // 51 tokens behind 99 and 30 behind none: 51 (99 + 25.5) + 30 x 15.
  EXPECT_DOUBLE_EQ(second->piece_keys, 6799.5);
  const StepResult done = engine.end_step();
  EXPECT_EQ(done.tokens, 3);
  EXPECT_EQ(done.first, (Ids{1, 2}));
  EXPECT_EQ(bench.blocks.held(), 12 + 150 + 30);
}

TEST(Engine, a_prompt_that_is_not_cut_waits_for_a_step_that_has_room_or_passes_alone) {
  Bench bench(1'000);
  bench.plan.chunks_prompts = false;
  Engine& engine = bench.engine();
  engine.enqueue(request(0, 80, 5));
  engine.enqueue(request(1, 20, 5));
  engine.enqueue(request(2, 300, 5));
  const auto first = engine.begin_step();
  EXPECT_EQ(first->piece_tokens, 100) << "80 and 20 fill the budget";
  engine.end_step();
  const auto second = engine.begin_step();
  EXPECT_EQ(second->decodes, 2);
  EXPECT_EQ(second->piece_tokens, 300) << "beyond the budget, as the only prompt";
  engine.end_step();
  engine.enqueue(request(3, 98, 5));
  engine.enqueue(request(4, 2, 5));
  const auto third = engine.begin_step();
  EXPECT_EQ(third->decodes, 3);
  EXPECT_EQ(third->piece_tokens, 98) << "97 tokens were left of the budget";
  EXPECT_EQ(ids(engine.waiting()), Ids{4});
}

TEST(Engine, takes_no_more_requests_than_its_batch_has_room_for) {
  Bench bench(1'000);
  bench.plan.requests_max = 2;
  Engine& engine = bench.engine();
  engine.enqueue(request(0, 5, 9));
  engine.enqueue(request(1, 5, 9));
  engine.enqueue(request(2, 5, 9));
  ASSERT_TRUE(engine.begin_step());
  EXPECT_TRUE(engine.is_full());
  EXPECT_EQ(ids(engine.waiting()), Ids{2});
  EXPECT_FALSE(engine.adopt(decoding(3, 5, 9), false));
}

TEST(Engine, a_request_that_comes_without_blocks_takes_those_of_its_keys_and_the_next) {
  Bench bench(8, 16);
  adopt(bench.engine(), 0, 31, 64);
  EXPECT_EQ(bench.blocks.held(), 2) << "32 tokens";
  adopt(bench.engine(), 1, 32, 64);
  EXPECT_EQ(bench.blocks.held(), 5) << "33 tokens are three blocks";
  EXPECT_FALSE(bench.engine().adopt(decoding(2, 48, 64), false)) << "four, and three are free";
  EXPECT_EQ(ids(bench.engine().batch()), (Ids{0, 1}));
  Bench careful(8, 16);
  careful.plan.reserves_output = true;
  adopt(careful.engine(), 0, 31, 64);
  EXPECT_EQ(careful.blocks.held(), 6) << "31 + 64 tokens";
}

TEST(Engine, who_reserves_takes_the_blocks_of_the_output_with_the_first_piece) {
  Bench bench(20, 16);
  bench.plan.reserves_output = true;
  Engine& engine = bench.engine();
  engine.enqueue(request(0, 120, 40));
  engine.enqueue(request(1, 100, 80));
  ASSERT_TRUE(engine.begin_step());
  EXPECT_EQ(bench.blocks.held(), 10) << "160 tokens, of which 100 pass now";
  engine.end_step();
  const auto second = engine.begin_step();
  EXPECT_EQ(second->piece_tokens, 20) << "180 tokens of the other are 12 blocks, and 10 are free";
  EXPECT_EQ(ids(engine.waiting()), Ids{1});
}

TEST(Engine, a_prompt_that_lacks_one_block_waits_for_it) {
  Bench bench(4);
  Engine& engine = bench.engine();
  adopt(engine, 0, 2, 9);
  engine.enqueue(request(1, 1, 9));
  EXPECT_EQ(engine.begin_step()->pieces, 1) << "the fourth block";
  engine.end_step();
  engine.enqueue(request(2, 1, 9));
  ASSERT_TRUE(engine.begin_step());
  EXPECT_EQ(ids(engine.waiting()).back(), 2u);
}

// Three requests of three keys hold nine blocks after a step each needs another.
Bench full_after_a_step(std::int64_t total, std::vector<std::int32_t> priorities,
                        std::vector<std::int64_t> outputs = {9, 9, 9}) {
  Bench bench(total);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(bench.engine().adopt(decoding(i, 2, outputs[i], priorities[i]), false));
  }
  EXPECT_EQ(bench.engine().begin_step()->decode_keys, 9);
  EXPECT_EQ(bench.engine().end_step().tokens, 3);
  return bench;
}

TEST(Engine, where_blocks_run_out_the_last_of_the_lowest_priority_gives_way) {
  Bench equal = full_after_a_step(9, {0, 0, 0});
  Engine& engine = equal.engine();
  EXPECT_EQ(engine.begin_step()->decodes, 2);
  EXPECT_EQ(ids(engine.batch()), (Ids{0, 1}));
  ASSERT_EQ(ids(engine.waiting()), Ids{2});
  const Live& victim = engine.waiting().front();
  EXPECT_EQ(victim.prompt, 4) << "its prompt of two and the two tokens that it has";
  EXPECT_EQ(victim.computed, 0);
  EXPECT_EQ(victim.generated, 2);
  EXPECT_EQ(victim.put_off, 1u);
  EXPECT_EQ(engine.put_off(), 1);
  EXPECT_EQ(equal.blocks.counters().recomputed, 3);
  EXPECT_EQ(equal.blocks.held(), 8);

  Bench low = full_after_a_step(9, {1, 0, 1});
  EXPECT_EQ(low.engine().begin_step()->decodes, 2);
  EXPECT_EQ(ids(low.engine().batch()), (Ids{0, 2}));

  Bench placed = full_after_a_step(10, {0, 1, 1});
  EXPECT_EQ(placed.engine().begin_step()->decodes, 2);
  EXPECT_EQ(ids(placed.engine().batch()), (Ids{0, 1})) << "the first has its token already";
}

TEST(Engine, who_is_put_off_comes_before_others_of_its_priority) {
  Bench bench = full_after_a_step(9, {0, 0, 0});
  Engine& engine = bench.engine();
  engine.enqueue(request(7, 50, 5));
  engine.enqueue(request(8, 50, 5, 1));
  ASSERT_TRUE(engine.begin_step());
  EXPECT_EQ(ids(engine.waiting()), (Ids{8, 2, 7})) << "nobody is admitted in that step";
}

TEST(Engine, who_is_put_off_computes_all_again_when_its_turn_comes) {
  Bench bench = full_after_a_step(9, {0, 0, 0}, {3, 3, 9});
  Engine& engine = bench.engine();
  ASSERT_TRUE(engine.begin_step());
  EXPECT_EQ(ids(engine.end_step().answered), (Ids{0, 1}));
  EXPECT_EQ(engine.begin_step()->piece_tokens, 4) << "its prompt and the tokens that it has";
  EXPECT_EQ(engine.end_step().tokens, 1);
  ASSERT_EQ(ids(engine.batch()), Ids{2});
  EXPECT_EQ(engine.batch()[0].computed, 4);
  EXPECT_EQ(engine.batch()[0].generated, 3);
  EXPECT_EQ(engine.begin_step()->decode_keys, 5);
}

TEST(Engine, alone_without_room_it_gives_its_own_blocks_up) {
  Bench bench(3);
  adopt(bench.engine(), 0, 2, 9);
  ASSERT_TRUE(bench.engine().begin_step());
  bench.engine().end_step();
  EXPECT_FALSE(bench.engine().begin_step());
  EXPECT_TRUE(bench.engine().batch().empty());
  EXPECT_EQ(bench.blocks.free(), 3);
}

TEST(Engine, a_prefix_is_found_but_for_the_last_token) {
  Bench bench(100, 16);
  Engine& engine = bench.engine();
  Live first = request(0, 32, 2), second = request(1, 32, 2);
  first.blocks.prefix = second.blocks.prefix = 7;
  first.prefix_tokens = second.prefix_tokens = 32;
  engine.enqueue(first);
  EXPECT_EQ(engine.begin_step()->piece_tokens, 32);
  engine.end_step();
  engine.enqueue(second);
  const auto work = engine.begin_step();
  EXPECT_EQ(work->piece_tokens, 16) << "one of its blocks is computed: its last token is";
  EXPECT_DOUBLE_EQ(work->piece_keys, 16 * (16 + 8));
  EXPECT_EQ(bench.blocks.counters().reused, 1);
}

TEST(Engine, who_finds_a_prefix_and_no_room_reuses_nothing) {
  Bench bench(4, 16);
  Engine& engine = bench.engine();
  Live first = request(0, 40, 9), second = request(1, 60, 9);
  first.blocks.prefix = second.blocks.prefix = 7;
  first.prefix_tokens = second.prefix_tokens = 32;
  engine.enqueue(first);
  ASSERT_TRUE(engine.begin_step());
  engine.end_step();
  engine.enqueue(second);
  EXPECT_EQ(engine.begin_step()->pieces, 0) << "four blocks, two of them written, and one is free";
  EXPECT_EQ(bench.blocks.counters().reused, 0);
  EXPECT_EQ(bench.blocks.held(), 3);
  EXPECT_EQ(ids(engine.waiting()), Ids{1});
}

TEST(Engine, a_step_of_the_batch_and_more_is_priced_with_the_terms_of_the_engine) {
  Bench bench(100);
  bench.plan.terms = {.device_scale = 2, .step_ns = 10, .sequence_ns = 3};
  Engine& engine = bench.engine();
  adopt(engine, 0, 7, 9);
  adopt(engine, 1, 9, 9);
  // Keys 8 + 10 and twice 50, of four requests.
  EXPECT_DOUBLE_EQ(engine.decode_step_ns(2, 50), 2 * (4e6 + 118e3) + 10 + 4 * 3);
  EXPECT_DOUBLE_EQ(engine.decode_step_ns(0, 50), 2 * (2e6 + 18e3) + 10 + 2 * 3);
}

TEST(Engine, room_comes_when_the_first_of_the_batch_is_answered) {
  Bench bench(100);
  bench.plan.terms = {.step_ns = 5, .sequence_ns = 1, .token_ns = 7};
  Engine& engine = bench.engine();
  EXPECT_EQ(engine.wait_for_room_ns(), 0);
  adopt(engine, 0, 3, 9);
  adopt(engine, 1, 3, 5);
  adopt(engine, 2, 3, 7);
  engine.enqueue(request(3, 4, 20));
  const auto work = engine.begin_step();
  // Four sequences, four tokens of a prompt; keys 3 x 4 and 4 x 2.
  const double step = 4e6 + 20e3 + 5 + 4 * 1 + 4 * 7;
  EXPECT_DOUBLE_EQ(engine.step_ns(*work), step);
  EXPECT_DOUBLE_EQ(engine.wait_for_room_ns(), 4 * step) << "the second lacks four tokens";
}

TEST(Engine, gives_the_last_away_whose_prompt_is_done_and_who_has_not_moved) {
  Bench bench(1'000);
  Engine& engine = bench.engine();
  adopt(engine, 0, 3, 9);
  adopt(engine, 1, 3, 9);
  Live moved = decoding(2, 3, 9);
  moved.has_moved = true;
  ASSERT_TRUE(engine.adopt(moved, false));
  engine.enqueue(request(3, 150, 9));
  ASSERT_TRUE(engine.begin_step());
  EXPECT_FALSE(engine.give_away()) << "none in a step";
  engine.end_step();
  EXPECT_EQ(engine.give_away()->request, 1u);
  EXPECT_EQ(engine.give_away()->request, 0u);
  EXPECT_FALSE(engine.give_away());
  EXPECT_EQ(ids(engine.batch()), (Ids{2, 3}));
}

TEST(Engine, a_prefill_engine_hands_over_behind_the_first_token) {
  Bench bench(1'000);
  Engine engine(Role::prefill, bench.plan, bench.clock, bench.blocks);
  engine.enqueue(request(0, 20, 1));
  engine.enqueue(request(1, 30, 2));
  engine.enqueue(request(2, 150, 2));
  ASSERT_TRUE(engine.begin_step());
  StepResult out = engine.end_step();
  EXPECT_EQ(ids(out.answered), Ids{0}) << "one token is all that it asked for";
  EXPECT_EQ(ids(out.handed_over), Ids{1});
  EXPECT_EQ(ids(engine.batch()), Ids{2});
  EXPECT_EQ(bench.blocks.held(), 30 + 50) << "handed over: still held";
}

}  // namespace
}  // namespace halmark::serving
