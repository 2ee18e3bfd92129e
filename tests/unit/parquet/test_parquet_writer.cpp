#include "parquet/parquet_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parquet/parquet_cells.hpp"

namespace halmark {
namespace {

const std::vector<ParquetColumn> columns = {{"n", ParquetKind::integer, false},
                                            {"x", ParquetKind::real, true},
                                            {"who", ParquetKind::text, true},
                                            {"all", ParquetKind::text, false},
                                            {"yes", ParquetKind::boolean, true}};

// Row `k`: limits of numbers, texts that CSV would quote, nulls at different places.
struct Row {
  std::int64_t n;
  std::optional<double> x;
  std::optional<std::string> who;
  std::string all;
  std::optional<bool> yes;
};

Row row_of(std::int64_t k) {
  const double odd[] = {0.1, -0.0, 1e300, 5e-324, std::nextafter(1.0, 2.0)};
  return {k % 2 == 0 ? std::numeric_limits<std::int64_t>::min() + k : k,
          k % 7 == 3 ? std::nullopt : std::optional(odd[k % 5]),
          k % 5 == 0 ? std::nullopt : std::optional(k % 3 == 0 ? "a,\"b\"\n" : std::string()),
          std::to_string(k * k), k % 4 == 0 ? std::nullopt : std::optional(k % 3 == 0)};
}

std::string written(std::int64_t rows, const ParquetOptions& options) {
  std::string out;
  ParquetWriter writer(
      columns, [&out](std::string_view bytes) { out += bytes; }, options);
  for (std::int64_t k = 0; k < rows; ++k) {
    const Row row = row_of(k);
    std::vector<ParquetCell> cells{row.n, {}, {}, std::string_view(row.all), {}};
    if (row.x) cells[1] = *row.x;
    if (row.who) cells[2] = std::string_view(*row.who);
    if (row.yes) cells[4] = std::int64_t{*row.yes};
    writer.add(cells);
  }
  writer.finish();
  return out;
}

struct Case {
  ParquetCodec codec;
  bool is_page_v2;
};

// Groups of rows in the order that is asked for; the others are not read.
TEST(ParquetRows, some_groups_are_read_as_they_are_named) {
  const ParquetReader reader(written(25, {.rows_per_group = 10}), "t.parquet");
  ASSERT_EQ(reader.row_groups(), 3u);
  std::vector<std::int64_t> seen, wanted;
  for (ParquetRows rows(reader, {0}, {2, 0}); rows.next();) {
    const auto& values = rows.values(0).integers;
    seen.insert(seen.end(), values.begin(),
                values.begin() + static_cast<std::ptrdiff_t>(rows.batch_rows()));
  }
  for (const std::int64_t k : {20, 21, 22, 23, 24, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    wanted.push_back(row_of(k).n);
  }
  EXPECT_EQ(seen, wanted);
}

class Written : public testing::TestWithParam<Case> {};

TEST_P(Written, comes_back_with_every_bit_and_null) {
  if (!has_codec(GetParam().codec)) GTEST_SKIP() << "built without its codec";
  constexpr std::int64_t rows = 2500;
  const ParquetReader reader(written(rows, {.codec = GetParam().codec,
                                            .rows_per_group = 1200,
                                            .is_page_v2 = GetParam().is_page_v2}),
                             "t.parquet");
  EXPECT_TRUE(std::ranges::equal(reader.columns(), columns));
  EXPECT_EQ(reader.row_groups(), 3u);
  EXPECT_EQ(reader.rows_of_group(2), 100u);
  ParquetRows batch(reader);
  std::int64_t k = 0;
  while (batch.next()) {
    for (std::size_t i = 0; i < batch.batch_rows(); ++i, ++k) {
      const Row row = row_of(k);
      const auto is_null = [&](std::size_t c) {
        return !batch.values(c).is_null.empty() && batch.values(c).is_null[i] != 0;
      };
      ASSERT_EQ(batch.values(0).integers[i], row.n);
      ASSERT_EQ(is_null(1), !row.x.has_value()) << k;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(batch.values(1).reals[i]),
                std::bit_cast<std::uint64_t>(row.x.value_or(0)));
      ASSERT_EQ(is_null(2), !row.who.has_value());
      ASSERT_EQ(batch.values(2).texts[i], row.who.value_or(""));
      ASSERT_EQ(batch.values(3).texts[i], row.all);
      ASSERT_EQ(is_null(4), !row.yes.has_value());
      ASSERT_EQ(batch.values(4).integers[i], std::int64_t{row.yes.value_or(false)});
    }
  }
  EXPECT_EQ(k, rows);
}

INSTANTIATE_TEST_SUITE_P(
    As, Written,
    testing::Values(Case{ParquetCodec::none, false}, Case{ParquetCodec::none, true},
                    Case{ParquetCodec::snappy, false}, Case{ParquetCodec::snappy, true},
                    Case{ParquetCodec::gzip, false}, Case{ParquetCodec::zstd, false},
                    Case{ParquetCodec::zstd, true}),
    [](const auto& info) {
      return codec_name(static_cast<std::int32_t>(info.param.codec)) +
             (info.param.is_page_v2 ? "_v2" : "_v1");
    });

TEST(ParquetWriter, a_table_without_rows_has_its_columns) {
  const ParquetReader reader(written(0, {}), "t.parquet");
  EXPECT_EQ(reader.columns().size(), columns.size());
  ParquetCells cells(reader);
  EXPECT_FALSE(cells.next());
}

TEST(ParquetWriter, a_row_that_does_not_fit_is_an_error_of_its_caller) {
  ParquetWriter writer(columns, [](std::string_view) {});
  EXPECT_THROW(writer.add(std::vector<ParquetCell>{std::int64_t{1}}), std::logic_error);
  EXPECT_THROW(writer.add(std::vector<ParquetCell>(5)), std::logic_error);
}

}  // namespace
}  // namespace halmark
