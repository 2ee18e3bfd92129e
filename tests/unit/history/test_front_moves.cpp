#include "history/front_moves.hpp"

#include <gmock/gmock.h>

namespace halmark::history {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A configuration of this batch whose step is the sum of two operators.
Evaluation evaluation(std::int64_t batch, double gemm_ns, double norm_ns, double probability = -1) {
  Evaluation out;
  out.configuration.model = "m";
  out.configuration.workload.batch = batch;
  out.estimate = Estimate{.step_ns = gemm_ns + norm_ns};
  out.estimate->operators = {{.name = "gemm", .count = 1, .ns = gemm_ns},
                             {.name = "norm", .count = 1, .ns = norm_ns}};
  if (probability >= 0) out.standing = FrontStanding{FrontClass::possible, probability};
  return out;
}

TEST(FrontMoves, name_what_left_and_its_own_kernel) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10, 1), evaluation(2, 150, 10, 1)};
  const std::vector<Evaluation> after = {evaluation(1, 100, 10, 1), evaluation(2, 150, 60, 0)};
  const auto moves = front_moves({before, {0, 1}}, {after, {0}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].configuration, before[1].configuration.key());
  EXPECT_FALSE(moves[0].has_entered);
  EXPECT_TRUE(moves[0].is_certain);
  EXPECT_EQ(moves[0].moved_by, moves[0].configuration);
  EXPECT_EQ(moves[0].kernel, "norm");
  EXPECT_EQ(moves[0].kernel_before_ns, 10);
  EXPECT_EQ(moves[0].kernel_after_ns, 60);
  EXPECT_EQ(moves[0].before_ns, 160);
  EXPECT_EQ(moves[0].after_ns, 210);
}

TEST(FrontMoves, name_the_kernel_of_the_one_that_pushed_it_out) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10), evaluation(2, 150, 10)};
  const std::vector<Evaluation> after = {evaluation(1, 50, 10), evaluation(2, 150, 10)};
  const auto moves = front_moves({before, {0, 1}}, {after, {0}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].configuration, before[1].configuration.key());
  EXPECT_EQ(moves[0].moved_by, before[0].configuration.key());
  EXPECT_EQ(moves[0].kernel, "gemm");
  EXPECT_FALSE(moves[0].is_certain) << "no side has judged it";
}

TEST(FrontMoves, what_is_new_entered_and_an_equal_front_has_not_moved) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10)};
  const std::vector<Evaluation> after = {evaluation(1, 100, 10), evaluation(4, 90, 10)};
  const auto moves = front_moves({before, {0}}, {after, {0, 1}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_TRUE(moves[0].has_entered);
  EXPECT_FALSE(moves[0].before_ns);
  EXPECT_EQ(moves[0].after_ns, 100);
  EXPECT_THAT(front_moves({before, {0}}, {before, {0}}), IsEmpty());
  EXPECT_THAT(front_moves({{}, {}}, {after, {0}}), IsEmpty());
}

TEST(FrontMoves, half_a_probability_is_certain) {
  const auto is_certain = [](double before, double after) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 10, 1), evaluation(2, 100, 10, before)};
    const std::vector<Evaluation> b = {evaluation(1, 100, 10, 1), evaluation(2, 100, 10, after)};
    return front_moves({a, {0, 1}}, {b, {0}}).at(0).is_certain;
  };
  EXPECT_TRUE(is_certain(0.75, 0.25));
  EXPECT_TRUE(is_certain(0.25, 0.75));
  EXPECT_FALSE(is_certain(0.75, 0.26));
}

// 1 % of itself is enough, whatever moved more.
TEST(FrontMoves, what_changed_by_one_percent_moved_by_itself) {
  const auto moved_by = [](double gemm_ns) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 1000, 0)};
    const std::vector<Evaluation> b = {evaluation(1, 50, 0), evaluation(2, gemm_ns, 0)};
    const auto moves = front_moves({a, {0, 1}}, {b, {0}});
    return moves.at(0).moved_by == a[1].configuration.key() ? "itself" : "the other";
  };
  EXPECT_STREQ(moved_by(1011), "itself");
  EXPECT_STREQ(moved_by(1009), "the other");
}

TEST(FrontMoves, of_a_configuration_that_was_evaluated_twice_the_last_one_counts) {
  const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 700, 0),
                                     evaluation(2, 500, 0)};
  const std::vector<Evaluation> b = {evaluation(1, 100, 0), evaluation(2, 600, 0)};
  const auto moves = front_moves({a, {0, 2}}, {b, {0}});
  EXPECT_EQ(moves.at(0).before_ns, 500);
  EXPECT_EQ(moves.at(0).kernel_before_ns, 500);
}

// Kernels of one name in layers of two types are one kernel; of equal changes the first by name.
TEST(FrontMoves, a_kernel_is_summed_over_layers_of_all_types) {
  const auto with = [](std::vector<std::pair<std::string, double>> kernels) {
    Evaluation out = evaluation(2, 0, 0);
    out.estimate = Estimate{.step_ns = 1000};
    for (const auto& [name, ns] : kernels) {
      out.estimate->operators.push_back({.name = name, .count = 1, .ns = ns});
      out.estimate->step_ns += ns;
    }
    return out;
  };
  const auto move = [&](const Evaluation& before, const Evaluation& after) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 0), before};
    const std::vector<Evaluation> b = {evaluation(1, 100, 0), after};
    return front_moves({a, {0, 1}}, {b, {0}}).at(0);
  };
  const FrontMove one =
      move(with({{"a", 100}, {"a", 100}, {"b", 10}}), with({{"a", 110}, {"a", 120}, {"b", 50}}));
  EXPECT_EQ(one.kernel, "b");
  EXPECT_EQ(one.kernel_before_ns, 10);
  EXPECT_EQ(one.kernel_after_ns, 50);
  const FrontMove both =
      move(with({{"a", 100}, {"a", 100}, {"b", 10}}), with({{"a", 130}, {"a", 120}, {"b", 50}}));
  EXPECT_EQ(both.kernel, "a");
  EXPECT_EQ(both.kernel_before_ns, 200);
  EXPECT_EQ(both.kernel_after_ns, 250);
  EXPECT_EQ(move(with({{"a", 10}, {"b", 10}}), with({{"a", 60}, {"b", 60}})).kernel, "a");
}

// Where the other side never evaluated it, neither a change nor a kernel is named.
TEST(FrontMoves, what_one_side_lacks_has_no_kernel) {
  const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 500, 0)};
  const std::vector<Evaluation> b = {evaluation(1, 100, 0), evaluation(3, 400, 0)};
  const auto moves = front_moves({a, {0, 1}}, {b, {0, 1}});
  ASSERT_THAT(moves, SizeIs(2));
  EXPECT_TRUE(moves[0].has_entered);
  EXPECT_EQ(moves[0].kernel, "");
  EXPECT_EQ(moves[0].moved_by, moves[0].configuration);
  EXPECT_FALSE(moves[1].has_entered);
  EXPECT_EQ(moves[1].before_ns, 500);
  EXPECT_FALSE(moves[1].after_ns);
  EXPECT_EQ(moves[1].kernel, "");
}

}  // namespace
}  // namespace halmark::history
