// What is measured next, on kernels whose distances and costs are known.
#include "onboard/choice.hpp"

#include <gmock/gmock.h>

#include "problems.hpp"

namespace halmark::onboard {
namespace {

using namespace onboard_test;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Eight neighbours in one cell, and one kernel far from them.
std::vector<Candidate> neighbours_and_one() {
  std::vector<Candidate> out;
  for (std::int64_t n = 1024; n < 1032; ++n) out.push_back(candidate(gemm(64, n, 1024)));
  out.push_back(candidate(gemm(4096, 65536, 65536)));
  return out;
}

TEST(Choice, one_of_many_neighbours_comes_first_and_then_what_is_far_from_it) {
  const auto candidates = neighbours_and_one();
  const Choice choice(candidates, device(), 1, 1);
  const auto first = choice.next(2, 100);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_LT(first[0], 8u) << "it says something of seven others";
  EXPECT_EQ(first[1], 8u) << "the neighbours are known by now";
}

TEST(Choice, of_two_alike_the_cheaper_one_is_measured) {
  auto candidates = neighbours_and_one();
  candidates[3].seconds = 0.02;
  EXPECT_THAT(Choice(candidates, device(), 1, 1).next(1, 100), ElementsAre(3u));
}

TEST(Choice, what_is_known_or_failed_is_never_chosen_and_time_is_kept) {
  const auto candidates = neighbours_and_one();
  Choice choice(candidates, device(), 1, 1);
  choice.learn(2, 5e6);
  choice.give_up(8);
  EXPECT_EQ(choice.learned(), 1u);
  const auto next = choice.next(100, 0.35);
  EXPECT_EQ(next.size(), 3u) << "0.1 s each";
  EXPECT_THAT(next, Not(Contains(2u)));
  EXPECT_THAT(next, Not(Contains(8u)));
  EXPECT_THAT(choice.next(4, 0.05), IsEmpty());
  for (std::size_t i = 0; i < 8; ++i) choice.give_up(i);
  EXPECT_FALSE(choice.has_more());
}

}  // namespace
}  // namespace halmark::onboard
