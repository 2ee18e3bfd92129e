// Flat tables as Parquet: PLAIN numbers, texts by dictionary where that is shorter, one data page
// per column and row group, readable by any reader of format version 1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "parquet/parquet_codec.hpp"
#include "parquet/parquet_reader.hpp"

namespace halmark {

// monostate is a null. The alternative follows the column's kind: integer (and boolean, natural),
// real, text.
using ParquetCell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

struct ParquetOptions {
  ParquetCodec codec = best_parquet_codec();
  std::size_t rows_per_group = std::size_t{1} << 16;
  bool is_page_v2 = false;
};

class ParquetWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  // Bytes go to `sink` in order, a row group at a time. Kinds are boolean, integer, real and text.
  ParquetWriter(std::vector<ParquetColumn> columns, Sink sink, const ParquetOptions& options = {});
  ~ParquetWriter();
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;

  // Throws std::logic_error for another number of cells, another kind, or a null where none may be.
  void add(std::span<const ParquetCell> row);
  void end_group();  // the next row begins another one
  void finish();     // the last group and the footer; without it the bytes are no file

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halmark
