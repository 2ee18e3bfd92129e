// Rows of a Parquet file as CSV would state them: numbers in the fewest digits that give the same
// value again, a null as an empty cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parquet/parquet_reader.hpp"

namespace halmark {

class ParquetCells {
 public:
  // `columns` and `groups` as of ParquetRows. The reader outlives it.
  explicit ParquetCells(const ParquetReader& reader, std::vector<std::size_t> columns = {},
                        std::vector<std::size_t> groups = {});

  // The next row; false behind the last. Throws as ParquetRows::next does.
  bool next();
  // Valid until the next call of next().
  const std::vector<std::string_view>& row() const { return row_; }
  std::uint64_t number() const { return rows_.first_row() + at_ - 1; }  // of the row, from 0
  const std::vector<std::string_view>& header() const { return header_; }

 private:
  void format_batch();

  std::vector<ParquetKind> kinds_;
  std::vector<std::string_view> header_, row_;
  ParquetRows rows_;
  std::size_t at_ = 0;
  std::string text_;               // of the numbers of a batch
  std::vector<std::size_t> ends_;  // of each in `text_`
  std::vector<std::string_view> cells_;
};

}  // namespace halmark
