#include "search/loop.hpp"

#include <gtest/gtest.h>

#include "convex_problem.hpp"

namespace halmark {
namespace {

using namespace test;

struct Observed {
  std::vector<std::size_t> batches;
  std::size_t told = 0;
};

SearchHooks hooks_of(Observed& seen) {
  return {.evaluate =
              [&](const std::vector<Point>& points) {
                seen.batches.push_back(points.size());
                return evaluate_convex(points, 1);
              },
          .on_told = [&](const std::vector<Told>& told) { seen.told += told.size(); }};
}

TEST(RunSearch, ends_when_the_space_is_exhausted) {
  const Space space = convex_space();
  const auto sampler = make_sampler("grid", space, 1);
  Observed seen;
  const SearchResult result = run_search(*sampler, {}, hooks_of(seen));
  EXPECT_EQ(result.end, SearchEnd::exhausted);
  EXPECT_EQ(result.told.size(), 4096u);
  EXPECT_EQ(seen.batches, std::vector<std::size_t>{4096}) << "a batch of zero is all at once";
  EXPECT_EQ(seen.told, 4096u);
}

TEST(RunSearch, ends_with_its_budget_exactly) {
  const Space space = convex_space();
  const auto sampler = make_sampler("grid", space, 1);
  Observed seen;
  const SearchResult result = run_search(*sampler, {.trials = 20, .batch = 8}, hooks_of(seen));
  EXPECT_EQ(result.end, SearchEnd::budget);
  EXPECT_EQ(result.told.size(), 20u);
  EXPECT_EQ(seen.batches, (std::vector<std::size_t>{8, 8, 4}));
}

TEST(RunSearch, stops_between_batches_when_asked_and_keeps_what_it_has) {
  const Space space = convex_space();
  const auto sampler = make_sampler("grid", space, 1);
  Observed seen;
  SearchHooks hooks = hooks_of(seen);
  hooks.should_stop = [&] { return seen.told >= 16; };
  const SearchResult result = run_search(*sampler, {.trials = 100, .batch = 8}, hooks);
  EXPECT_EQ(result.end, SearchEnd::stopped);
  EXPECT_EQ(result.told.size(), 16u);
}

TEST(RunSearch, a_space_without_points_is_exhausted_at_once) {
  const Space space({{.name = "a", .values = {"x"}}},
                    {{"never", {"a"}, [](const Point&) { return false; }}});
  const auto sampler = make_sampler("nsga2", space, 1);
  Observed seen;
  const SearchResult result = run_search(*sampler, {.trials = 5, .batch = 2}, hooks_of(seen));
  EXPECT_EQ(result.end, SearchEnd::exhausted);
  EXPECT_TRUE(seen.batches.empty());
}

TEST(RunSearch, outcomes_are_told_before_the_next_batch_is_asked_for) {
  struct Strict : Sampler {
    std::string_view name() const override { return "strict"; }
    std::vector<Point> ask(std::size_t) override {
      EXPECT_EQ(asked, told);
      return asked++ < 3 ? std::vector<Point>{{0}} : std::vector<Point>{};
    }
    void tell(const std::vector<Told>&) override { ++told; }
    int asked = 0, told = 0;
  } sampler;
  Observed seen;
  EXPECT_EQ(run_search(sampler, {}, hooks_of(seen)).told.size(), 3u);
}

}  // namespace
}  // namespace halmark
