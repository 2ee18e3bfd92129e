// One column of a row group, gathered row by row and written as its pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parquet/metadata.hpp"
#include "parquet/parquet_writer.hpp"

namespace halmark::parquet {

// How a kind of column is stored.
Physical physical_of(ParquetKind kind);

struct WrittenChunk {
  std::string pages;
  std::int64_t unpacked_bytes = 0;    // headers included, as ColumnMetaData counts
  std::int64_t dictionary_bytes = 0;  // of `pages`; 0: no dictionary
  std::int64_t values = 0;
};

class PageWriter {
 public:
  PageWriter(const ParquetColumn& column, const ParquetOptions& options)
      : column_(column), options_(options) {}

  void add(const ParquetCell& cell);
  WrittenChunk finish();  // and begins the next group

 private:
  void add_text(std::string_view text);
  std::string levels() const;
  std::string dictionary_page_values();
  void append_page(WrittenChunk& out, std::string_view levels, std::string_view values,
                   bool is_dictionary, bool has_dictionary) const;

  const ParquetColumn& column_;
  const ParquetOptions& options_;
  std::vector<bool> is_there_;
  std::string plain_;       // all values, PLAIN
  std::size_t bits_ = 0;    // of booleans, in `plain_`
  std::string dictionary_;  // distinct texts, PLAIN
  std::unordered_map<std::string, std::uint32_t> positions_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace halmark::parquet
