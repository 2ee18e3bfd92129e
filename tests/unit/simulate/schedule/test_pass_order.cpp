// Orders of passes against the published schedules: what each stage does, and the bubble that is
// left when all stages take the same.
#include "core/numeric/cast.hpp"
#include "simulate/schedule/program/pass_order.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::schedule {
namespace {

struct PassTimes {
  double forward = 1, backward = 2, weight = 0;  // of a stage, all its chunks together
};

// Stages that do nothing but their passes, without any transfer.
double makespan(Order order, const Pipeline& p, const PassTimes& times) {
  std::map<std::tuple<int, int, int>, double> end;
  std::vector<double> free(as_size(p.stages), 0);
  for (const StagePass& at : passes_in_order(order, p)) {
    const int number = p.number(at.stage, at.pass.chunk), m = at.pass.micro_batch;
    double ready = 0, takes = times.weight;
    if (at.pass.kind == PassKind::forward) {
      takes = times.forward;
      if (number > 0) ready = end.at({0, number - 1, m});
    } else if (at.pass.kind == PassKind::backward) {
      takes = times.backward;
      ready = number + 1 == p.chunks_in_all() ? end.at({0, number, m}) : end.at({1, number + 1, m});
    }
    double& stage = free[as_size(at.stage)];
    stage = std::max(stage, ready) + takes / p.chunks;
    end[{static_cast<int>(at.pass.kind), number, m}] = stage;
  }
  return *std::ranges::max_element(free);
}

TEST(PassOrder, one_forward_one_backward_is_that_of_the_paper) {
  std::string last, first;
  const Pipeline p{.stages = 4, .micro_batches = 6};
  for (const Pass& pass : pass_order(Order::one_f_one_b, p, 3)) {
    last += (pass.kind == PassKind::forward ? "F" : "B") + std::to_string(pass.micro_batch);
  }
  for (const Pass& pass : pass_order(Order::one_f_one_b, p, 0)) {
    first += (pass.kind == PassKind::forward ? "F" : "B") + std::to_string(pass.micro_batch);
  }
  EXPECT_EQ(last, "F0B0F1B1F2B2F3B3F4B4F5B5");
  EXPECT_EQ(first, "F0F1F2F3B0F4B1F5B2B3B4B5");
}

// 2006.09503; 2104.04473, section 2.2; 2401.10241, table 2.
TEST(PassOrder, equal_stages_leave_the_published_bubble) {
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {p, 2 * p, 5 * p}) {
      const Pipeline pipeline{.stages = p, .micro_batches = m};
      EXPECT_DOUBLE_EQ(makespan(Order::one_f_one_b, pipeline, {1, 2, 0}), (m + p - 1) * 3.0);
      for (const int v : {2, 4}) {
        const Pipeline chunks{.stages = p, .chunks = v, .micro_batches = m};
        EXPECT_NEAR(makespan(Order::interleaved, chunks, {1, 2, 0}), (m + (p - 1.0) / v) * 3, 1e-9)
            << p << ' ' << v << ' ' << m;
      }
      for (const double w : {0.5, 1.0}) {
        EXPECT_NEAR(makespan(Order::zero_bubble, pipeline, {1, 1, w}),
                    m * (2 + w) + (p - 1) * (2 - w), 1e-9)
            << p << ' ' << m << ' ' << w;
      }
    }
  }
}

TEST(PassOrder, every_pass_is_done_once_and_weights_follow_their_backward_pass) {
  for (const Order order : {Order::one_f_one_b, Order::interleaved, Order::zero_bubble}) {
    const Pipeline p{
        .stages = 3, .chunks = order == Order::interleaved ? 2 : 1, .micro_batches = 6};
    std::map<std::tuple<int, int, int>, int> times;
    for (const StagePass& at : passes_in_order(order, p)) {
      const int number = p.number(at.stage, at.pass.chunk);
      ++times[{static_cast<int>(at.pass.kind), number, at.pass.micro_batch}];
    }
    const std::size_t kinds = order == Order::zero_bubble ? 3 : 2;
    EXPECT_EQ(times.size(), kinds * as_size(p.chunks_in_all() * p.micro_batches));
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& entry) { return entry.second == 1; }));
  }
}

// What 1F1B is for: a stage keeps the activations of no more micro-batches than there are stages
// behind it, itself included. ZB-H1 keeps within that (2401.10241, section 2.2).
TEST(PassOrder, no_stage_keeps_more_micro_batches_than_stages_are_left) {
  for (const Order order : {Order::one_f_one_b, Order::zero_bubble}) {
    const Pipeline p{.stages = 5, .micro_batches = 12};
    for (int s = 0; s < p.stages; ++s) {
      int kept = 0, most = 0;
      for (const Pass& pass : pass_order(order, p, s)) {
        if (pass.kind == PassKind::forward) most = std::max(most, ++kept);
        if (pass.kind == PassKind::backward) --kept;
      }
      EXPECT_EQ(most, p.stages - s);
    }
  }
}

TEST(PassOrder, what_does_not_go_together_is_refused_in_one_line) {
  const auto why = [](Order order, const Pipeline& p) {
    return std::string(test::error_of([&] { check(order, p); }).what());
  };
  EXPECT_EQ(why(Order::interleaved, {.stages = 4, .chunks = 2, .micro_batches = 6}),
            "schedule interleaved takes micro-batches in groups of pp: 6 are no multiple of 4");
  says(why(Order::interleaved, {.stages = 1, .chunks = 2, .micro_batches = 6}), "pp is 1");
  says(why(Order::zero_bubble, {.stages = 4, .chunks = 2, .micro_batches = 6}),
       "not of zero-bubble");
  EXPECT_FALSE(parse_training_order("forward"));
  EXPECT_EQ(parse_training_order("zero-bubble"), Order::zero_bubble);
}

}  // namespace
}  // namespace halmark::schedule
