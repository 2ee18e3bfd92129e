// Files of other writers, against the formulas that made them; and what is refused, in one line.
#include "parquet/parquet_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/input/input_kind.hpp"
#include "parquet/parquet_cells.hpp"
#include "parquet/parquet_codec.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/parquet/formula_table.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

std::string path_of(const std::string& name) {
  return test::in_source("/tests/data/parquet/") + name + ".parquet";
}

ParquetReader open_file(const std::string& path) {
  return ParquetReader(InputFile(path, table_input));
}

struct PeerFile {
  const char* name;
  ParquetCodec codec;
};

class PeerFiles : public testing::TestWithParam<PeerFile> {};

TEST_P(PeerFiles, every_cell_is_what_its_formula_says) {
  if (!has_codec(GetParam().codec)) GTEST_SKIP() << "built without its codec";
  const ParquetReader reader = open_file(path_of(GetParam().name));
  EXPECT_EQ(reader.rows(), static_cast<std::uint64_t>(test::formula_rows));
  ParquetCells cells(reader);
  EXPECT_THAT(cells.header(), testing::ElementsAreArray(test::formula_header()));
  for (std::int64_t k = 0; k < test::formula_rows; ++k) {
    ASSERT_TRUE(cells.next()) << k;
    EXPECT_EQ(cells.number(), static_cast<std::uint64_t>(k));
    ASSERT_THAT(cells.row(), testing::ElementsAreArray(test::formula_row(k))) << k;
  }
  EXPECT_FALSE(cells.next());
}

// The same bytes as a pipe would give them, and only some columns in another order.
TEST_P(PeerFiles, some_columns_are_read_from_memory) {
  if (!has_codec(GetParam().codec)) GTEST_SKIP() << "built without its codec";
  const ParquetReader reader(test::file_bytes(path_of(GetParam().name)), "standard input");
  ParquetCells cells(reader, {7, 2});
  for (std::int64_t k = 0; k < test::formula_rows; ++k) {
    const std::vector<std::string> row = test::formula_row(k);
    ASSERT_TRUE(cells.next());
    ASSERT_THAT(cells.row(), testing::ElementsAre(row[7], row[2]));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PeerFiles,
                         testing::Values(PeerFile{"pyarrow_snappy_dictionary",
                                                  ParquetCodec::snappy},
                                         PeerFile{"pyarrow_plain", ParquetCodec::none},
                                         PeerFile{"pyarrow_zstd_v2", ParquetCodec::zstd},
                                         PeerFile{"pyarrow_gzip", ParquetCodec::gzip},
                                         PeerFile{"pyarrow_delta_split", ParquetCodec::none},
                                         PeerFile{"duckdb_snappy", ParquetCodec::snappy},
                                         PeerFile{"duckdb_v2_zstd", ParquetCodec::zstd},
                                         PeerFile{"polars_zstd", ParquetCodec::zstd},
                                         PeerFile{"polars_plain", ParquetCodec::none}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ParquetReader, typed_values_come_with_their_nulls) {
  const ParquetReader reader = open_file(path_of("pyarrow_plain"));
  EXPECT_EQ(reader.columns()[6], (ParquetColumn{"gap", ParquetKind::integer, true}));
  EXPECT_EQ(reader.columns()[3].kind, ParquetKind::single);
  ParquetRows rows(reader, {6, 4});
  ASSERT_TRUE(rows.next());
  ASSERT_GE(rows.batch_rows(), 4u);
  EXPECT_THAT(std::vector(rows.values(0).integers.begin(), rows.values(0).integers.begin() + 4),
              testing::ElementsAre(0, 0, 2, 3));
  EXPECT_EQ(rows.values(0).is_null[0], 0);
  EXPECT_EQ(rows.values(0).is_null[1], 1);
  EXPECT_EQ(rows.values(1).reals[1], 1.0 / 7);
  EXPECT_THAT(rows.values(1).is_null, testing::IsEmpty());
}

// The whole file, so that the footer is met as well as the first page.
std::string refusal(const std::string& path) {
  const Error error = error_of([&] {
    const ParquetReader reader = open_file(path);
    for (ParquetCells cells(reader); cells.next();) {
    }
  });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(ParquetReader, what_is_not_read_names_its_column) {
  EXPECT_THAT(refusal(path_of("refused_list")), AllOf(HasSubstr("'shape'"), HasSubstr("nested")));
  EXPECT_THAT(refusal(path_of("refused_struct")), AllOf(HasSubstr("'shape'"), HasSubstr("nested")));
  EXPECT_THAT(refusal(path_of("refused_decimal")),
              AllOf(HasSubstr("'price'"), HasSubstr("DECIMAL")));
  EXPECT_THAT(refusal(path_of("refused_encoding")),
              AllOf(HasSubstr("'name'"), HasSubstr("DELTA_BYTE_ARRAY")));
  EXPECT_THAT(refusal(path_of("refused_codec")), AllOf(HasSubstr("'small'"), HasSubstr("brotli")));
}

TEST(ParquetReader, a_file_that_is_none_or_cut_off_is_refused) {
  const test::ScratchFolder folder;
  const std::string whole = test::file_bytes(path_of("pyarrow_plain"));
  const auto line = [&](const std::string& bytes) {
    test::write_file(folder / "t.parquet", bytes);
    return refusal(folder / "t.parquet");
  };
  EXPECT_THAT(line(""), HasSubstr("is no Parquet file"));
  EXPECT_THAT(line("a,b\n1,2\n3,4\n5,6\n"), HasSubstr("is no Parquet file"));
  EXPECT_THAT(line(whole.substr(0, whole.size() - 1)), HasSubstr("cut off"));
  EXPECT_THAT(line(whole.substr(0, whole.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(line(whole.substr(0, whole.size() - 4) + "PARE"), HasSubstr("encrypted"));
  std::string footer = whole;
  footer.replace(footer.size() - 8, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(line(footer), HasSubstr("footer is longer than the file"));
}

}  // namespace
}  // namespace halmark
