// What a proposal may cost: units of work, a stop inside of an ask, and who answered.
#include "search/effort.hpp"

#include <gtest/gtest.h>

#include <set>

#include "random_spaces.hpp"
#include "sample_spaces.hpp"
#include "search/loop.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Effort, ends_with_its_units_and_begins_anew_with_each_proposal) {
  Effort effort;
  effort.begin();
  effort.spend(Effort::units_max - 1);
  effort.spend(1);
  EXPECT_THROW(effort.spend(1), OutOfWork);
  effort.begin();
  effort.spend(Effort::units_max);
  EXPECT_EQ(effort.left(), 0u);
}

TEST(Effort, looks_for_a_stop_every_few_hundred_units) {
  Effort effort;
  bool is_wanted = false;
  effort.heed([&] { return is_wanted; });
  effort.begin();
  effort.spend(100);
  is_wanted = true;
  EXPECT_THROW(
      {
        for (int i = 0; i < 300; ++i) effort.spend();
      },
      SearchStopped);
  EXPECT_THROW(effort.look(), SearchStopped);
}

// Often enough that a stop comes within a millisecond, rarely enough to cost nothing.
TEST(Effort, looks_once_in_256_units) {
  Effort effort;
  int looks = 0;
  effort.heed([&] { return ++looks < 0; });
  effort.begin();
  for (int i = 0; i < 2560; ++i) effort.spend();
  EXPECT_EQ(looks, 10);
}

// A sampler whose every proposal looks at points without an end.
class Endless : public Proposer {
 public:
  explicit Endless(const Space& space) : Proposer("endless", space, {.seed = 5}) {}
  std::uint64_t spent() const { return effort_.spent(); }

 private:
  std::optional<Point> propose(std::uint64_t, std::uint64_t) override {
    while (true) effort_.spend();
  }
};

TEST(Proposals, that_take_too_much_work_are_uniform_draws_and_say_so) {
  const Space space(mixed());
  Endless sampler(space), again(space);
  const std::vector<Point> points = sampler.ask(20);
  ASSERT_EQ(points.size(), 20u);
  EXPECT_EQ(sampler.answered_by(), std::vector<std::string>(20, "uniform"));
  EXPECT_EQ(again.ask(20), points);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 20u);
  for (const Point& p : points) EXPECT_TRUE(space.contains(p));
  EXPECT_LE(sampler.spent(), 20 * (Effort::units_max + 1));
}

class Heeding : public testing::TestWithParam<std::string> {};

TEST_P(Heeding, a_stop_inside_of_an_ask_ends_it_with_what_it_has) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, {.seed = 3, .objectives = 2});
  search(*sampler, 30, [](const Point& p) { return evaluate_mixed(p); });
  int looks = 0;
  sampler->heed([&] { return ++looks > 10; });
  EXPECT_LE(sampler->ask(1000).size(), 11u);
  EXPECT_LE(looks, 40) << "it does not go on after the stop";
}

TEST_P(Heeding, names_who_answered) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, {.seed = 3, .objectives = 2});
  for (int i = 0; i < 25; ++i) {
    const std::vector<Point> points = sampler->ask(2);
    const std::vector<std::string> by = sampler->answered_by();
    ASSERT_EQ(by.size(), points.size());
    for (const std::string& name : by) {
      const bool is_member = GetParam() == "auto" && i >= 6;
      EXPECT_TRUE(is_member || name == (GetParam() == "auto" ? "sobol" : GetParam())) << name;
    }
    for (const Point& p : points) sampler->tell({evaluate_mixed(p)});
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Heeding, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

TEST(RunSearch, a_stop_inside_of_an_ask_is_no_exhausted_space) {
  const Space space(mixed());
  const auto sampler = make_sampler("nsga2", space, 1);
  int looks = 0;
  const SearchResult result = run_search(*sampler, {.trials = 0, .batch = 100},
                                         {.evaluate =
                                              [](const std::vector<Point>& points) {
                                                std::vector<Told> out;
                                                for (const Point& p : points)
                                                  out.push_back(evaluate_mixed(p));
                                                return out;
                                              },
                                          .should_stop = [&] { return ++looks > 1; }});
  EXPECT_EQ(result.end, SearchEnd::stopped);
}

}  // namespace
}  // namespace halmark
