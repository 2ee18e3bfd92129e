// Every cell of the published kernel tables as pyarrow reads it, and files of the writer as DuckDB
// reads them. The other side is tests/unit/parquet/peers.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "core/input/input_kind.hpp"
#include "parquet/parquet_cells.hpp"
#include "parquet/parquet_writer.hpp"
#include "tests/checkout.hpp"
#include "tests/python_with.hpp"
#include "tests/shared_data.hpp"
#include "tests/unit/parquet/formula_table.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string out;
  char block[65536];
  while (const std::size_t n = fread(block, 1, sizeof block, pipe)) out.append(block, n);
  return pclose(pipe) == 0 ? out : "failed: " + out;
}

std::string by_peer(const std::string& python, const std::string& peer, const std::string& path) {
  return output_of('\'' + python + "' '" + test::in_source("/tests/unit/parquet/peers.py") + "' " +
                   peer + " '" + path + '\'');
}

void append_line(std::string& out, const std::vector<std::string_view>& fields) {
  for (const std::string_view field : fields) (out += field) += '\x1f';
  out += '\n';
}

std::string by_us(const std::string& path) {
  const ParquetReader reader(InputFile(path, table_input));
  ParquetCells cells(reader);
  std::string out;
  append_line(out, cells.header());
  while (cells.next()) append_line(out, cells.row());
  return out;
}

TEST(ParquetPeers, published_tables_have_the_cells_that_pyarrow_reads) {
  const std::filesystem::path folder = test::shared_data("kernels/parquet");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "data not found: " << folder;
  const auto python = test::python_with("pyarrow");
  if (!python) GTEST_SKIP() << "no Python with pyarrow";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".parquet") continue;
    ++files;
    EXPECT_TRUE(by_us(entry.path().string()) == by_peer(*python, "pyarrow", entry.path().string()))
        << entry.path();
  }
  EXPECT_GT(files, 0u);
}

void write_formulas(const std::string& path, const ParquetOptions& options) {
  std::string out;
  ParquetWriter writer(
      {{"small", ParquetKind::integer, false},
       {"real", ParquetKind::real, false},
       {"name", ParquetKind::text, false},
       {"gap", ParquetKind::integer, true},
       {"note", ParquetKind::text, true}},
      [&out](std::string_view bytes) { out += bytes; }, options);
  for (std::int64_t k = 0; k < test::formula_rows; ++k) {
    const std::vector<std::string> row = test::formula_row(k);
    std::vector<ParquetCell> cells{
        k * 7 - 100, static_cast<double>(k) / 7, std::string_view(row[5]), {}, {}};
    if (!row[6].empty()) cells[3] = k;
    if (!row[7].empty()) cells[4] = std::string_view(row[7]);
    writer.add(cells);
  }
  writer.finish();
  test::write_file(path, out);
}

TEST(ParquetPeers, what_the_writer_writes_is_read_by_duckdb_and_pyarrow) {
  const test::ScratchFolder folder;
  std::string expected = "small\x1freal\x1fname\x1fgap\x1fnote\x1f\n";
  for (std::int64_t k = 0; k < test::formula_rows; ++k) {
    const std::vector<std::string> row = test::formula_row(k);
    append_line(expected, {row[1], row[4], row[5], row[6], row[7]});
  }
  std::size_t compared = 0;
  for (const std::string peer : {"duckdb", "pyarrow"}) {
    const auto python = test::python_with(peer);
    if (!python) continue;
    for (const ParquetCodec codec :
         {ParquetCodec::none, ParquetCodec::snappy, ParquetCodec::gzip, ParquetCodec::zstd}) {
      for (const bool is_v2 : {false, true}) {
        if (!has_codec(codec)) continue;
        write_formulas(folder / "t.parquet",
                       {.codec = codec, .rows_per_group = 128, .is_page_v2 = is_v2});
        EXPECT_EQ(by_peer(*python, peer, folder / "t.parquet"), expected)
            << peer << ' ' << codec_name(static_cast<std::int32_t>(codec)) << " v" << 1 + is_v2;
        ++compared;
      }
    }
  }
  if (compared == 0) GTEST_SKIP() << "no Python with duckdb or pyarrow";
}

}  // namespace
}  // namespace halmark
