// Variants of a kernel as a space, against the list that a plugin gave.
#include "tune/search/kernels/variants.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "kernels/contract.hpp"

namespace halmark::tune {
namespace {

Variant variant(const std::string& kernel, std::vector<std::pair<std::string, std::int64_t>> values,
                std::vector<std::pair<std::string, std::string>> labels = {}) {
  Variant out{.kernel = kernel};
  for (const auto& [name, value] : values) out.config.params.set(name, value);
  out.config.labels = std::move(labels);
  return out;
}

VariantSet set_of() {
  VariantSet out;
  // No full product: tile 64 goes with two threads alone.
  out.variants = {variant("blocked", {}),
                  variant("blocked", {{"threads", 2}}),
                  variant("blocked", {{"threads", 2}, {"tile", 64}}),
                  variant("blocked", {{"threads", 4}}),
                  variant("plain", {}),
                  variant("plain", {{"order", 1}}, {{"order", "columns"}})};
  return out;
}

TEST(VariantProblem, has_one_point_for_each_variant) {
  const VariantSet set = set_of();
  const VariantProblem problem(set);
  ASSERT_EQ(problem.space().size(), set.variants.size());
  std::set<std::string> found;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    const Variant& v = problem.at(problem.space().point(i));
    EXPECT_TRUE(found.insert(v.text()).second) << v.text();
  }
  for (const Variant& v : set.variants) EXPECT_TRUE(found.contains(v.text())) << v.text();
}

TEST(VariantProblem, parameters_belong_to_their_kernel) {
  const VariantSet set = set_of();
  const VariantProblem problem(set);
  std::map<std::string, std::size_t> values;
  for (const SearchDomain& d : problem.space().domains()) values[d.name] = d.values.size();
  EXPECT_EQ(values,
            (std::map<std::string, std::size_t>{
                {"kernel", 2}, {"blocked.threads", 3}, {"blocked.tile", 2}, {"plain.order", 2}}));
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    const Point point = problem.space().point(i);
    const bool is_blocked = problem.at(point).kernel == "blocked";
    for (std::size_t d = 1; d < point.size(); ++d) {
      const bool is_own =
          problem.space().domains()[d].name.starts_with(is_blocked ? "blocked." : "plain.");
      EXPECT_EQ(point[d] != absent, is_own);
    }
  }
}

// A plugin that cannot be loaded has a row for each case and round all the same.
class SearchVariants : public testing::Test {
 protected:
  SearchVariants() {
    sets_.front().question.problem = complete_problem({"copy", {{"bytes", 64}}});
    sets_.front().question.backend = "cpu";
    sets_.push_back({.question = sets_.front().question, .variants = {}, .notes = {}});
  }
  std::size_t cases_of(const CaseSampling& sampling) {
    rows_.clear();
    const MeasuredCases out = search_variants(
        sets_,
        {.backend = "cpu",
         .plugin_path = "/nowhere/hm_cpu.so",
         .rounds = 2,
         .sink = [&](const Measurement& row) { rows_.push_back(row.kernel_case.key()); }},
        sampling);
    EXPECT_EQ(out.rows.size(), 2 * out.cases.size());
    return out.cases.size();
  }
  std::vector<VariantSet> sets_{set_of()};
  std::vector<std::string> rows_;  // whose they are, in their order
};

TEST_F(SearchVariants, measures_as_many_as_are_asked_and_else_all) {
  const std::size_t all = sets_.front().variants.size();
  for (const std::string sampler : {"grid", "random"}) {
    EXPECT_EQ(cases_of({.sampler = sampler, .trials = 2}), 2u) << sampler;
    EXPECT_EQ(cases_of({.sampler = sampler, .trials = 0}), all) << sampler;
  }
}

TEST_F(SearchVariants, a_grid_measures_each_variant_once_before_any_a_second_time) {
  const std::size_t all = cases_of({.sampler = "grid"});
  ASSERT_EQ(rows_.size(), 2 * all);
  EXPECT_EQ(
      std::set<std::string>(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(all)).size(),
      all);
}

}  // namespace
}  // namespace halmark::tune
