// Points in few bytes say the same as points.
#include "latency/imported/latency_points.hpp"
#include "tests/unit/latency/fixtures.hpp"

#include <stdexcept>

namespace halmark {
namespace {

using namespace latency_test;

Problem copy_of(std::int64_t bytes, std::int64_t kind) {
  return {"copy", {{"bytes", bytes}, {"kind", kind}}};
}

TEST(LatencyPoints, give_back_what_was_added) {
  constexpr std::int64_t wide = std::int64_t{1} << 40;
  // The same for a while, then small, then large, in either column.
  const std::vector<std::pair<std::int64_t, std::int64_t>> rows = {{7, wide}, {7, wide}, {7, 3},
                                                                   {-8, 3},   {wide, 3}, {9, 4}};
  LatencyPoints points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    points.add({copy_of(rows[i].first, rows[i].second), 1.5 * static_cast<double>(i + 1),
                static_cast<std::uint32_t>(i + 2)});
  }
  ASSERT_EQ(points.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Problem expected = copy_of(rows[i].first, rows[i].second);
    EXPECT_EQ(points.at(i).problem, expected);
    EXPECT_EQ(points.at(i).ns, 1.5 * static_cast<double>(i + 1));
    EXPECT_EQ(points.at(i).line, i + 2);
    EXPECT_EQ(points.hash(i), hash_of(expected));
    for (std::size_t j = 0; j < rows.size(); ++j) {
      EXPECT_EQ(points.is_of(j, expected), rows[i] == rows[j]);
    }
  }
}

TEST(LatencyPoints, problems_of_others_are_not_theirs) {
  LatencyPoints points;
  points.add({copy_of(1, 2), 1, 2});
  EXPECT_FALSE(points.is_of(0, {"move", {{"bytes", 1}, {"kind", 2}}}));
  EXPECT_FALSE(points.is_of(0, {"copy", {{"bytes", 1}}}));
  EXPECT_FALSE(points.is_of(0, {"copy", {{"bytes", 1}, {"sort", 2}}}));
  EXPECT_THROW(points.add({{"copy", {{"bytes", 1}}}, 1, 3}), std::logic_error);
  EXPECT_THROW(points.add({{"move", {{"bytes", 1}, {"kind", 2}}}, 1, 3}), std::logic_error);
  EXPECT_THROW(points.at(1), std::out_of_range);
}

}  // namespace
}  // namespace halmark
