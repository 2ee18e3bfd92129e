// The pages of one column of one row group after another, one page in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "parquet/file_bytes.hpp"
#include "parquet/level_decoder.hpp"
#include "parquet/metadata.hpp"
#include "parquet/value_decoder.hpp"

namespace halmark::parquet {

// What all pages of a file may have, packed and unpacked, however often groups share them. Throws
// Error (exit 2) when there is no more.
class UnpackBudget {
 public:
  explicit UnpackBudget(const FileBytes& file);
  void spend(std::uint64_t bytes);

 private:
  std::string name_;
  std::uint64_t file_bytes_, left_;
};

class ColumnReader {
 public:
  // All outlive the reader.
  ColumnReader(const FileBytes& file, const ParquetColumn& column, const Stored& stored,
               UnpackBudget& budget);

  void begin(const Chunk& chunk, std::uint64_t rows);
  // Rows that can be read from the page at hand; more than 0 until all rows were read. Texts of the
  // page before are gone afterwards.
  std::size_t ready();
  void read(std::size_t rows, ParquetValues& out);

 private:
  PageHeader next_header();
  void load_page();
  void load_dictionary(const PageHeader& header);
  void load_data(const PageHeader& header);
  void load_data_v2(const PageHeader& header);
  std::string_view packed_page(const PageHeader& header);
  std::string_view unpacked(std::string_view packed, std::size_t bytes, std::string& into);
  void begin_page(const PageHeader& header, std::string_view values);

  const FileBytes& file_;
  const ParquetColumn& column_;
  Stored stored_;
  UnpackBudget& budget_;
  std::string where_;

  Chunk chunk_;
  std::uint64_t at_ = 0, rows_left_ = 0;  // of the chunk, behind the page at hand
  std::string header_bytes_, packed_, unpacked_, dictionary_packed_, dictionary_bytes_;
  ParquetValues dictionary_;
  bool has_dictionary_ = false;
  std::size_t ready_ = 0;
  LevelDecoder levels_;
  std::vector<std::uint32_t> is_there_;
  std::unique_ptr<ValueDecoder> values_;
};

}  // namespace halmark::parquet
