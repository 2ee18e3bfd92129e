// Which elements of an output are recomputed: corners of tiles by hand, random ones by what every
// drawing has to give.
#include "measure/campaign/gate/element_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<std::int64_t> columns_of(std::int64_t length) {
  return tile_corners({.rows = 1, .columns = length}, 100);
}

// Both ends; of tiles of 16, 32 and 64 the first of the last one and the one before it, and the two
// at the first seam.
TEST(TileCorners, are_ends_remainders_and_seams) {
  EXPECT_THAT(columns_of(1), ElementsAre(0));
  EXPECT_THAT(columns_of(2), ElementsAre(0, 1));
  EXPECT_THAT(columns_of(16), ElementsAre(0, 15));
  EXPECT_THAT(columns_of(17), ElementsAre(0, 15, 16));
  EXPECT_THAT(columns_of(100), ElementsAre(0, 15, 16, 31, 32, 63, 64, 95, 96, 99));
  EXPECT_THAT(columns_of(128), ElementsAre(0, 15, 16, 31, 32, 63, 64, 95, 96, 111, 112, 127));
  for (std::int64_t length = 1; length < 300; ++length) {
    std::set<std::int64_t> expected = {0, length - 1};
    for (const std::int64_t tile : {16, 32, 64}) {
      const std::int64_t last = (length - 1) / tile * tile;
      for (const std::int64_t at : {last, last - 1, tile - 1, tile}) {
        if (at >= 0 && at < length) expected.insert(at);
      }
    }
    EXPECT_THAT(columns_of(length), ElementsAreArray(expected)) << length;
  }
}

// The most telling rows stay: both ends, then the last tile of 64.
TEST(TileCorners, of_few_rows_keep_every_column) {
  const auto rows_of = [](std::int64_t most) {
    std::set<std::int64_t> rows;
    std::size_t count = 0;
    for (const std::int64_t e : tile_corners({.rows = 100, .columns = 17}, most)) {
      rows.insert(e / 17);
      ++count;
    }
    EXPECT_EQ(count, rows.size() * 3);
    return rows;
  };
  EXPECT_EQ(rows_of(1), (std::set<std::int64_t>{0}));
  EXPECT_EQ(rows_of(0), (std::set<std::int64_t>{0})) << "one at the least";
  EXPECT_EQ(rows_of(2), (std::set<std::int64_t>{0, 99}));
  EXPECT_EQ(rows_of(3), (std::set<std::int64_t>{0, 64, 99}));
  EXPECT_EQ(rows_of(4), (std::set<std::int64_t>{0, 63, 64, 99}));
  EXPECT_EQ(rows_of(100).size(), 10u);
}

TEST(RandomElements, are_in_the_output_and_of_no_more_rows_than_allowed) {
  const OutputShape shape{.rows = 1000, .columns = 37};
  for (const std::int64_t rows_max : {1, 3, 50, 10'000}) {
    const auto elements = random_elements(shape, 200, rows_max, 7);
    EXPECT_TRUE(std::ranges::is_sorted(elements));
    EXPECT_EQ(std::ranges::adjacent_find(elements), elements.end());
    std::set<std::int64_t> rows, columns;
    for (const std::int64_t e : elements) {
      EXPECT_GE(e, 0);
      EXPECT_LT(e, 37'000);
      rows.insert(e / 37);
      columns.insert(e % 37);
    }
    EXPECT_LE(rows.size(), static_cast<std::size_t>(rows_max));
    EXPECT_GE(rows.size(),
              static_cast<std::size_t>(std::min<std::int64_t>(rows_max, 200)) * 8 / 10);
    EXPECT_GT(columns.size(), 20u);
    EXPECT_GT(elements.size(), rows_max == 1 ? 20u : 80u);
    EXPECT_LE(elements.size(), 200u);
  }
  EXPECT_EQ(random_elements(shape, 50, 9, 7), random_elements(shape, 50, 9, 7));
  EXPECT_NE(random_elements(shape, 50, 9, 7), random_elements(shape, 50, 9, 8));
  EXPECT_THAT(random_elements({.rows = 1, .columns = 1}, 5, 5, 1), ElementsAre(0));
}

// Every element is drawn about as often as any other.
TEST(RandomElements, favour_none) {
  std::vector<int> seen(12, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    for (const std::int64_t e : random_elements({.rows = 3, .columns = 4}, 1, 1, seed)) {
      ++seen[static_cast<std::size_t>(e)];
    }
  }
  for (const int n : seen) EXPECT_NEAR(n, 250, 75) << "five standard deviations";
}

TEST(OutputShape, is_rows_of_the_last_dimension) {
  OperandSpec output{.name = "dst", .dims = {2, 3, 5}};
  EXPECT_EQ(output_shape(output).rows, 6);
  EXPECT_EQ(output_shape(output).columns, 5);
  output.dims = {7};
  EXPECT_EQ(output_shape(output).rows, 1);
  EXPECT_EQ(output_shape(output).columns, 7);
}

}  // namespace
}  // namespace halmark
