// The problems that searches are compared on: published check values and fronts.
#include "problem.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/json/json.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

Objectives value(const problems::Problem& p, const Point& x) {
  const Space space(p.description);
  return p.evaluate(space, x).objectives;
}

TEST(Problems, closed_forms_give_their_check_values_to_the_bit) {
  EXPECT_EQ(value(problems::zdt1(), Point(30, 0.25)), (Objectives{0.25, 2.3486121811340026}));
  Point x(30, 0);
  x[0] = 0.5;
  EXPECT_EQ(value(problems::zdt1(), x), (Objectives{0.5, 0.2928932188134524}));
  EXPECT_EQ(value(problems::dtlz2(), Point(12, 0.25)),
            (Objectives{1.3870242597140698, 0.5745242597140698, 0.6218605775932708}));
  EXPECT_EQ(problems::mix6_objectives(0, 0, 0, 8, 16, 1),
            (Objectives{6.006841540212434, -1.3318147226698902, 0.9746117502845206}));
  EXPECT_EQ(problems::mix6_objectives(3, 1, 3, 128, 128, 4),
            (Objectives{0.7412306439343895, -172.68579091736794, 0.022919127959014445}));
  EXPECT_EQ(problems::mix6_objectives(2, 2, 5, 256, 64, 6),
            (Objectives{1.7768124770906168, -144.07823183410935, 0.18905898165451077}));
  EXPECT_EQ(problems::mix6_objectives(1, 3, 2, 64, 256, 6),
            (Objectives{6.444080589458225, -9.9315952231722, 0.403530540525253}));
  EXPECT_EQ(problems::mix6_objectives(3, 0, 5, 256, 128, 3),
            (Objectives{4.404844471635289, -1859.7705441705955, 0.014483663284726547}));
}

TEST(Problems, mix6_has_its_published_front) {
  const problems::Problem p = problems::mix6();
  EXPECT_EQ(Space(p.description).size(), 294912u);
  EXPECT_EQ(p.front.size(), 222u);
  std::vector<Told> told;
  for (const Objectives& f : p.front) told.push_back({.point = {}, .objectives = f});
  EXPECT_NEAR(problems::quality(p, told, told.size()), 1, 1e-12);
}

class RecordedFront : public testing::TestWithParam<const char*> {};

TEST_P(RecordedFront, equals_the_one_computed_elsewhere) {
  const auto problem = problems::replay(GetParam());
  const std::string path = problems::data_folder() + "/search/fronts.json";
  if (!problem || !std::filesystem::exists(path)) {
    GTEST_SKIP() << "data not found: recorded files in " << problems::data_folder();
  }
  const Json expected = read_json_file(path).at(GetParam());
  std::set<Objectives> front;
  for (const auto& point : expected.at("front")) front.insert(point.at("values").get<Objectives>());
  EXPECT_EQ(std::set<Objectives>(problem->front.begin(), problem->front.end()), front);
  EXPECT_EQ(problem->ideal, expected.at("ideal").get<Objectives>());
  EXPECT_EQ(problem->nadir, expected.at("nadir").get<Objectives>());
  const double volume = expected.at("hv_exact_ref_1.1").get<double>();
  EXPECT_NEAR(problem->exact_hypervolume, volume, 1e-12 * volume);
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedFront,
                         testing::Values("convres3", "gemmres3", "dedispres3"),
                         [](const auto& info) { return test::case_name({info.param}); });

}  // namespace
}  // namespace halmark
