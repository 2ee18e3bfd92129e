// A table with a header as text fields: CSV (RFC 4180 without quoting), plain or gzip, or Parquet,
// by content. A field that repeats in its column is kept once, so that a row costs four bytes per
// column and the digits that are its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

class ParquetReader;

class CsvTable {
 public:
  // The fields of a row; valid as long as its table is neither moved nor gone.
  class Row {
   public:
    using value_type = std::string_view;
    class const_iterator {
     public:
      using value_type = std::string_view;
      using difference_type = std::ptrdiff_t;
      const_iterator() = default;
      const_iterator(const Row* row, std::size_t at) : row_(row), at_(at) {}
      std::string_view operator*() const { return (*row_)[at_]; }
      const_iterator& operator++() {
        ++at_;
        return *this;
      }
      const_iterator operator++(int) { return {row_, at_++}; }
      bool operator==(const const_iterator&) const = default;

     private:
      const Row* row_ = nullptr;
      std::size_t at_ = 0;
    };

    std::size_t size() const { return table_.header_.size(); }
    std::string_view operator[](std::size_t column) const { return table_.field(index_, column); }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

   private:
    friend class CsvTable;
    Row(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}
    const CsvTable& table_;
    std::size_t index_;
  };

  CsvTable(CsvTable&&) = default;
  CsvTable(const CsvTable&) = delete;
  CsvTable& operator=(CsvTable&&) = default;
  CsvTable& operator=(const CsvTable&) = delete;

  // Throws when the header is none that the caller can use.
  using CheckHead = std::function<void(const CsvTable&)>;
  // Throws Error (exit 2) with file:line for a file that cannot be read, is empty, too large, cut
  // off, quoted, has a column twice, or a row of another width than its header; for Parquet as
  // ParquetReader does. `check` sees the first MiB of a text (of Parquet the header alone) before
  // the rest is read, and then the whole of it.
  static CsvTable read(const std::string& path, const CheckHead& check = {});
  static CsvTable parse(std::string_view text, std::string name);
  // Rows whose field in `column` is taken; a table without the column has all of them.
  struct RowChoice {
    std::string column;
    std::function<bool(std::string_view)> takes;
  };
  // The chosen rows of some groups of rows, with the wanted columns alone. It may have none.
  static CsvTable of_groups(const ParquetReader& reader, std::vector<std::size_t> groups,
                            const std::set<std::string>& wanted,
                            std::span<const RowChoice> choices);

  const std::string& name() const { return name_; }
  std::span<const std::string> header() const { return header_; }
  std::size_t rows() const { return rows_; }
  Row row(std::size_t index) const { return {*this, index}; }
  std::string_view field(std::size_t row, std::size_t column) const {
    return text_.data() + fields_[row * header_.size() + column];
  }
  // "file:line" of a row, for refusals; of Parquet "file, row 1" for the first.
  std::string where(std::size_t row) const;
  // Position of a column. Throws Error (exit 2) with the nearest name.
  std::size_t column(std::string_view name) const;
  bool has(std::string_view name) const;

 private:
  explicit CsvTable(std::string name) : name_(std::move(name)) {}
  friend class CsvLines;
  static CsvTable read_parquet(ParquetReader reader, const CheckHead& check);
  void set_header(std::vector<std::string> names, const std::string& where);
  void add_field(std::size_t column, std::string_view field);
  void end_row(std::size_t line);
  void require_rows() const;

  // Rows whose line is not the one behind the line of the row before.
  struct Jump {
    std::size_t row = 0, line = 0;
  };

  std::string name_;
  bool has_lines_ = true;
  std::vector<std::string> header_;
  std::size_t rows_ = 0;
  std::string text_ = std::string(1, '\0');  // distinct fields, each with a NUL behind it
  std::deque<std::uint32_t> fields_;         // where in `text_`, row by row
  std::vector<Jump> jumps_;
  // Of each column the place of the last field per hash; what was pushed out is kept again.
  std::vector<std::vector<std::uint32_t>> recent_;
};

}  // namespace halmark
