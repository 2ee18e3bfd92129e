#include "latency/imported/csv_table.hpp"

#include <malloc.h>

#include <filesystem>

#ifdef HALMARK_HAS_ZLIB
#include <zlib.h>
#endif

#include "core/input/input_kind.hpp"
#include "parquet/parquet_writer.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/latency/fixtures.hpp"
#include "tests/unit/parquet/formula_table.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;
using test::ScratchFolder;
using test::write_file;

std::string line_of(const std::string& text) {
  const Error error = error_of([&] { CsvTable::parse(text, "t.csv"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(CsvTable, splits_rows_and_knows_their_lines) {
  const CsvTable table = CsvTable::parse("a,b,c\r\n1,,3\r\n\r\n4,5,6", "t.csv");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_THAT(table.header(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.row(0), ElementsAre("1", "", "3"));
  EXPECT_THAT(table.row(1), ElementsAre("4", "5", "6"));
  EXPECT_EQ(table.where(1), "t.csv:4");
  EXPECT_EQ(table.column("b"), 1u);
}

TEST(CsvTable, a_byte_order_mark_is_no_part_of_the_first_name) {
  EXPECT_TRUE(CsvTable::parse("\xef\xbb\xbf"
                              "a,b\n1,2\n",
                              "t.csv")
                  .has("a"));
}

TEST(CsvTable, refusals_name_the_line) {
  says(line_of("a,b\n1,2\n3\n"), "t.csv:3: 1 fields, but the header has 2");
  says(line_of("a,b\n1,\"2\"\n"), "t.csv:2: quoted");
  says(line_of("a,b\n"), "no rows");
  says(line_of(""), "no rows");
  says(line_of(std::string("a,b\n1,\0\n", 8)), "t.csv:2");
  const CsvTable table = CsvTable::parse("latency,m\n1,2\n", "t.csv");
  refuses([&] { table.column("latncy"); }, "'latency'");
}

TEST(CsvTable, files_that_are_no_csv_are_refused) {
  const ScratchFolder folder;
  write_file(folder / "t.parquet", "PAR1....PAR1");
  refuses([&] { CsvTable::read(folder / "t.parquet"); }, "damaged Parquet");
  refuses([&] { CsvTable::read(folder / "none.csv"); }, "none.csv");
  EXPECT_EQ(error_of([&] { CsvTable::read(folder.path().string()); }).exit_code(),
            ExitCode::refused);
}

// A file with a hole of a gibibyte, which nobody writes or reads.
TEST(CsvTable, a_file_beyond_a_gibibyte_is_refused_unread) {
  const ScratchFolder folder;
  write_file(folder / "t.csv", "a,b\n1,2\n");
  std::filesystem::resize_file(folder / "t.csv", table_input.bytes_max + 1);
  refuses([&] { CsvTable::read(folder / "t.csv"); },
          "has 1073741825 bytes; the limit of a table is 1073741824");
}

TEST(CsvTable, columns_and_fields_are_limited_on_both_sides) {
  const auto table = [](std::size_t columns, std::size_t bytes) {
    std::string names = std::string(bytes, 'n'), values = "1";
    for (std::size_t i = 1; i < columns; ++i) {
      names += ",c" + std::to_string(i);
      values += ",1";
    }
    return names + '\n' + values + '\n';
  };
  EXPECT_EQ(CsvTable::parse(table(1024, 65536), "t.csv").header().size(), 1024u);
  says(line_of(table(1025, 1)), "t.csv:1: more than 1024 columns");
  says(line_of(table(1, 65537)), "t.csv:1: a field has more than 65536 bytes");
}

// Rows of a valid table that nobody can use: what follows the first MiB is not read.
TEST(CsvTable, a_header_is_judged_before_the_rest_is_read) {
  const ScratchFolder folder;
  std::string text = "a,b\n";
  while (text.size() < (3u << 20)) text += "1,2\n";
  write_file(folder / "t.csv", text);
  std::vector<std::size_t> seen;
  EXPECT_EQ(
      CsvTable::read(folder / "t.csv", [&](const CsvTable& t) { seen.push_back(t.rows()); }).rows(),
      (text.size() - 4) / 4);
  EXPECT_THAT(seen, ElementsAre((1u << 20) / 4 - 1, (text.size() - 4) / 4));
  int calls = 0;
  refuses(
      [&] {
        CsvTable::read(folder / "t.csv", [&](const CsvTable&) {
          ++calls;
          throw refused("no");
        });
      },
      "no");
  EXPECT_EQ(calls, 1);
}

TEST(CsvTable, short_files_and_folders_are_what_they_are) {
  const ScratchFolder folder;
  write_file(folder / "tiny.csv", "a,b\n1,2");
  EXPECT_EQ(CsvTable::read(folder / "tiny.csv").rows(), 1u);
  write_file(folder / "empty.csv", "");
  refuses([&] { CsvTable::read(folder / "empty.csv"); }, "an empty file, not a table");
  refuses([&] { CsvTable::read(folder.path().string()); }, "it is a folder");
}

TEST(CsvTable, a_row_has_exactly_as_many_fields_as_the_header) {
  says(line_of("a,b\n1,2,3\n"), "t.csv:2: 3 fields, but the header has 2");
  says(line_of("a,b\n\n\n1\n"), "t.csv:4: 1 fields");
  const CsvTable one = CsvTable::parse("a\n1\n2\n", "t.csv");
  EXPECT_EQ(one.rows(), 2u);
  EXPECT_EQ(one.column("a"), 0u);
  EXPECT_FALSE(one.has("b"));
  refuses([&] { one.column("b"); }, "t.csv:1: has no column 'b'");
  EXPECT_THAT(CsvTable::parse("a,b,\n1,2,\n", "t").row(0), ElementsAre("1", "2", ""));
}

TEST(CsvTable, a_column_that_is_there_twice_is_refused) {
  says(line_of("m,n,m\n1,2,3\n"), "t.csv:1: column 'm' is there twice");
}

// More distinct fields than are remembered, and columns that share their texts.
TEST(CsvTable, fields_that_repeat_are_still_what_they_were) {
  std::string text = "a,b\n";
  for (int i = 0; i < 30000; ++i) {
    text += std::to_string(i % 9973) + ',' + std::to_string(i % 2) + '\n';
    if (i % 1000 == 0) text += '\n';
  }
  const CsvTable table = CsvTable::parse(text, "t.csv");
  ASSERT_EQ(table.rows(), 30000u);
  for (int i = 0; i < 30000; ++i) {
    const auto row = static_cast<std::size_t>(i);
    ASSERT_EQ(table.row(row)[0], std::to_string(i % 9973));
    ASSERT_EQ(table.row(row)[1], std::to_string(i % 2));
    ASSERT_EQ(table.where(row), "t.csv:" + std::to_string(i + 2 + (i + 999) / 1000)) << i;
  }
}

std::string peer_file(const std::string& name) {
  return test::in_source("/tests/data/parquet/") + name + ".parquet";
}

TEST(CsvTable, parquet_is_recognised_by_content_and_read_as_text) {
  const ScratchFolder folder;
  write_file(folder / "t.csv", test::file_bytes(peer_file("pyarrow_plain")));
  std::vector<std::size_t> seen;
  const CsvTable table =
      CsvTable::read(folder / "t.csv", [&](const CsvTable& t) { seen.push_back(t.rows()); });
  EXPECT_THAT(seen, ElementsAre(0, 300)) << "the header alone comes first";
  EXPECT_THAT(table.header(), testing::ElementsAreArray(test::formula_header()));
  for (std::int64_t k = 0; k < test::formula_rows; ++k) {
    ASSERT_THAT(table.row(static_cast<std::size_t>(k)),
                testing::ElementsAreArray(test::formula_row(k)));
  }
  EXPECT_EQ(table.where(4), folder / "t.csv" + ", row 5");
  refuses([&] { CsvTable::read(peer_file("refused_list")); }, "column 'shape' is nested");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The shape of published tables: some columns that say the same in every row, sizes that repeat,
// and a time that does not.
TEST(CsvTable, a_row_of_parquet_stays_below_150_bytes) {
  constexpr std::int64_t rows = 100'000;
  std::vector<ParquetColumn> columns;
  for (const char* name : {"framework", "version", "device", "op_name", "kernel_source", "dtype"}) {
    columns.push_back({name, ParquetKind::text, false});
  }
  for (const char* name : {"m", "n", "k"}) columns.push_back({name, ParquetKind::integer, false});
  columns.push_back({"latency", ParquetKind::real, false});
  const ScratchFolder folder;
  std::string bytes;
  ParquetWriter writer(columns, [&bytes](std::string_view part) { bytes += part; });
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<ParquetCell> row(6, std::string_view("NVIDIA H100 80GB HBM3"));
    for (const std::int64_t period : {499, 61, 31}) row.emplace_back(i % period * 64);
    row.emplace_back(1.0 / static_cast<double>(i + 3));
    writer.add(row);
  }
  writer.finish();
  write_file(folder / "t.parquet", bytes);
  const auto in_use = [] {
    const struct mallinfo2 now = mallinfo2();
    return static_cast<double>(now.uordblks + now.hblkhd);
  };
  const double before = in_use();
  const CsvTable table = CsvTable::read(folder / "t.parquet");
  EXPECT_LT((in_use() - before) / static_cast<double>(table.rows()), 150);
  EXPECT_EQ(table.rows(), static_cast<std::size_t>(rows));
  EXPECT_EQ(table.row(7)[9], "0.1");
}
#endif

#ifdef HALMARK_HAS_ZLIB
void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(CsvTable, a_gzip_file_that_becomes_far_larger_is_refused) {
  const ScratchFolder folder;
  std::string text = "a,b\n";
  while (text.size() < (8u << 20)) text += "1,2\n";
  write_gzip(folder / "t.csv", text);
  ASSERT_LT(test::file_bytes(folder / "t.csv").size() * 200, text.size());
  refuses([&] { CsvTable::read(folder / "t.csv"); }, "more than 200 times its size");
}

TEST(CsvTable, gzip_is_recognised_by_content_and_a_cut_one_refused) {
  const ScratchFolder folder;
  std::string text = "a,b\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + ",2\n";
  write_gzip(folder / "t.csv", text);
  EXPECT_EQ(CsvTable::read(folder / "t.csv").rows(), 20000u);

  const std::string bytes = test::file_bytes(folder / "t.csv");
  write_file(folder / "cut.csv.gz", bytes.substr(0, bytes.size() / 2));
  refuses([&] { CsvTable::read(folder / "cut.csv.gz"); }, "damaged gzip");
}
#endif

}  // namespace
}  // namespace halmark
