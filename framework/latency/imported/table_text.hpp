// The text of a table in order, plain or gzip, or the table that is Parquet: told by content.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "parquet/parquet_reader.hpp"

namespace halmark {

class TableText {
 public:
  // Throws Error (exit 2) as InputFile does ("-" is a pipe), and for gzip in a build without zlib.
  explicit TableText(const std::string& path);
  ~TableText();
  TableText(const TableText&) = delete;
  TableText& operator=(const TableText&) = delete;

  const std::string& name() const;  // for messages
  bool is_parquet() const { return is_parquet_; }
  // Instead of reading text, once. Throws Error (exit 2) as ParquetReader does.
  ParquetReader parquet();
  // Fills `out` from its front; fewer bytes only at the end. Throws Error (exit 2) for a file that
  // changes while it is read, damaged gzip, and text beyond the limit of tables or of their ratio.
  std::size_t read(std::span<char> out);

  class Source;

 private:
  std::unique_ptr<Source> source_;
  std::string front_;  // of what was unpacked: read to see what it is
  std::size_t front_at_ = 0;
  bool is_parquet_ = false;
};

}  // namespace halmark
