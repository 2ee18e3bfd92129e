// What the footer and the headers of pages say, checked: of a file that passes here every chunk
// lies inside the file, every column is flat and of a type that is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parquet/parquet_reader.hpp"

namespace halmark::parquet {

enum class Physical {
  boolean = 0,
  int32 = 1,
  int64 = 2,
  real32 = 4,
  real64 = 5,
  bytes = 6,
  fixed = 7
};

enum class Encoding {
  plain = 0,
  plain_dictionary = 2,
  rle = 3,
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  rle_dictionary = 8,
  byte_stream_split = 9,
};

// One column as it is stored.
struct Stored {
  Physical physical = Physical::int64;
  std::size_t fixed_bytes = 0;  // of `fixed`
  bool sign_extends = true;     // an unsigned INT32 does not
};

struct Chunk {
  std::int32_t codec = 0;
  std::uint64_t begin = 0, end = 0;  // in the file: all pages, that of the dictionary first
};

struct RowGroup {
  std::uint64_t rows = 0;
  std::vector<Chunk> chunks;  // one per column
};

struct Metadata {
  std::vector<ParquetColumn> columns;
  std::vector<Stored> stored;
  std::vector<RowGroup> groups;
  std::uint64_t rows = 0;
};

// `file_bytes`: of the whole file; data ends before `data_end`, where the footer begins.
Metadata read_metadata(std::string_view footer, std::uint64_t data_end, std::uint64_t file_bytes,
                       const std::string& name);

enum class PageType { data = 0, index = 1, dictionary = 2, data_v2 = 3 };

struct PageHeader {
  PageType type = PageType::data;
  std::size_t header_bytes = 0;
  std::size_t packed_bytes = 0, unpacked_bytes = 0;
  std::uint32_t values = 0;  // nulls included
  std::int64_t encoding = 0, level_encoding = 3;
  // Of version 2: levels stand before the packed bytes.
  std::size_t repetition_bytes = 0, definition_bytes = 0;
  bool is_packed = true;
};

PageHeader read_page_header(std::string_view bytes, const std::string& where);

}  // namespace halmark::parquet
