// A CSV file with a header as text fields: RFC 4180 without quoting, plain or gzip by content.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

inline constexpr std::size_t csv_bytes_max = std::size_t{1} << 30;  // after decompression

class CsvTable {
 public:
  // Throws Error (exit 2) with file:line for a file that cannot be read, is empty, too large, cut
  // off, quoted, or has a row of another width than its header. Parquet is refused with what to do.
  static CsvTable read(const std::string& path);
  static CsvTable parse(std::string text, std::string name);

  const std::string& name() const { return name_; }
  std::span<const std::string_view> header() const { return {fields_.data(), columns_}; }
  std::size_t rows() const { return lines_.size(); }
  std::span<const std::string_view> row(std::size_t index) const {
    return {fields_.data() + (index + 1) * columns_, columns_};
  }
  // "file:line" of a row, for refusals.
  std::string where(std::size_t row) const;
  // Position of a column. Throws Error (exit 2) with the nearest name.
  std::size_t column(std::string_view name) const;
  bool has(std::string_view name) const;

 private:
  CsvTable() = default;
  std::string name_;
  std::vector<char> text_;  // what the fields point into; a vector keeps its place when moved
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> lines_;
  std::size_t columns_ = 0;
};

}  // namespace halmark
