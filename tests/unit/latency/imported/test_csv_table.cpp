#include "latency/imported/csv_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#ifdef HALMARK_HAS_ZLIB
#include <zlib.h>
#endif

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::ScratchFolder;
using test::write_file;
using testing::HasSubstr;

std::string line_of(const std::string& text) {
  const Error error = error_of([&] { CsvTable::parse(text, "t.csv"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(CsvTable, splits_rows_and_knows_their_lines) {
  const CsvTable table = CsvTable::parse("a,b,c\r\n1,,3\r\n\r\n4,5,6", "t.csv");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_THAT(table.header(), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.row(0), testing::ElementsAre("1", "", "3"));
  EXPECT_THAT(table.row(1), testing::ElementsAre("4", "5", "6"));
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
  EXPECT_THAT(line_of("a,b\n1,2\n3\n"), HasSubstr("t.csv:3: 1 fields, but the header has 2"));
  EXPECT_THAT(line_of("a,b\n1,\"2\"\n"), HasSubstr("t.csv:2: quoted"));
  EXPECT_THAT(line_of("a,b\n"), HasSubstr("no rows"));
  EXPECT_THAT(line_of(""), HasSubstr("no rows"));
  EXPECT_THAT(line_of(std::string("a,b\n1,\0\n", 8)), HasSubstr("t.csv:2"));
  const CsvTable table = CsvTable::parse("latency,m\n1,2\n", "t.csv");
  EXPECT_THAT(error_of([&] { table.column("latncy"); }).line(), HasSubstr("'latency'"));
}

TEST(CsvTable, files_that_are_no_csv_are_refused) {
  const ScratchFolder folder;
  write_file(folder / "t.parquet", "PAR1....PAR1");
  EXPECT_THAT(error_of([&] { CsvTable::read(folder / "t.parquet"); }).line(),
              HasSubstr("convert it to CSV"));
  EXPECT_THAT(error_of([&] { CsvTable::read(folder / "none.csv"); }).line(), HasSubstr("none.csv"));
  EXPECT_EQ(error_of([&] { CsvTable::read(folder.path().string()); }).exit_code(),
            ExitCode::refused);
}

// A file with a hole of a gibibyte, which nobody writes or reads.
TEST(CsvTable, a_file_beyond_a_gibibyte_is_refused_unread) {
  const ScratchFolder folder;
  write_file(folder / "t.csv", "a,b\n1,2\n");
  std::filesystem::resize_file(folder / "t.csv", csv_bytes_max + 1);
  EXPECT_THAT(error_of([&] { CsvTable::read(folder / "t.csv"); }).line(),
              HasSubstr("larger than 1024 MiB"));
}

TEST(CsvTable, short_files_and_folders_are_what_they_are) {
  const ScratchFolder folder;
  write_file(folder / "tiny.csv", "a\n1");
  EXPECT_EQ(CsvTable::read(folder / "tiny.csv").rows(), 1u);
  write_file(folder / "empty.csv", "");
  EXPECT_THAT(error_of([&] { CsvTable::read(folder / "empty.csv"); }).line(), HasSubstr("no rows"));
  EXPECT_THAT(error_of([&] { CsvTable::read(folder.path().string()); }).line(),
              HasSubstr("is no file"));
}

TEST(CsvTable, a_row_has_exactly_as_many_fields_as_the_header) {
  EXPECT_THAT(line_of("a,b\n1,2,3\n"), HasSubstr("t.csv:2: 3 fields, but the header has 2"));
  EXPECT_THAT(line_of("a,b\n\n\n1\n"), HasSubstr("t.csv:4: 1 fields"));
  const CsvTable one = CsvTable::parse("a\n1\n2\n", "t.csv");
  EXPECT_EQ(one.rows(), 2u);
  EXPECT_EQ(one.column("a"), 0u);
  EXPECT_FALSE(one.has("b"));
  EXPECT_THAT(error_of([&] { one.column("b"); }).line(), HasSubstr("t.csv:1: has no column 'b'"));
  EXPECT_THAT(CsvTable::parse("a,b,\n1,2,\n", "t").row(0), testing::ElementsAre("1", "2", ""));
}

#ifdef HALMARK_HAS_ZLIB
void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(CsvTable, gzip_is_recognised_by_content_and_a_cut_one_refused) {
  const ScratchFolder folder;
  std::string text = "a,b\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + ",2\n";
  write_gzip(folder / "t.csv", text);
  EXPECT_EQ(CsvTable::read(folder / "t.csv").rows(), 20000u);

  const std::string bytes = test::file_bytes(folder / "t.csv");
  write_file(folder / "cut.csv.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error_of([&] { CsvTable::read(folder / "cut.csv.gz"); }).line(),
              HasSubstr("damaged gzip"));
}
#endif

}  // namespace
}  // namespace halmark
