#include "parquet/parquet_cells.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "core/lists.hpp"

namespace halmark {
namespace {

template <class T>
void append_number(std::string& text, T value) {
  std::array<char, 40> digits;
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

void append_cell(std::string& text, ParquetKind kind, const ParquetValues& values,
                 std::size_t row) {
  switch (kind) {
    case ParquetKind::boolean:
      text += values.integers[row] != 0 ? "true" : "false";
      break;
    case ParquetKind::integer:
      append_number(text, values.integers[row]);
      break;
    case ParquetKind::natural:
      append_number(text, as_uint64(values.integers[row]));
      break;
    case ParquetKind::single:
      append_number(text, static_cast<float>(values.reals[row]));
      break;
    case ParquetKind::real:
      append_number(text, values.reals[row]);
      break;
    case ParquetKind::text:
      break;
  }
}

bool is_null(const ParquetValues& values, std::size_t row) {
  return !values.is_null.empty() && values.is_null[row] != 0;
}

}  // namespace

ParquetCells::ParquetCells(const ParquetReader& reader, std::vector<std::size_t> columns,
                           std::vector<std::size_t> groups)
    : rows_(reader, columns, std::move(groups)) {
  const auto add = [this](const ParquetColumn& column) {
    kinds_.push_back(column.kind);
    header_.push_back(column.name);
  };
  for (const std::size_t position : columns) add(reader.columns()[position]);
  if (columns.empty()) {
    for (const ParquetColumn& column : reader.columns()) add(column);
  }
  row_.resize(header_.size());
}

bool ParquetCells::next() {
  while (at_ == rows_.batch_rows()) {
    at_ = 0;
    if (!rows_.next()) return false;
    format_batch();
  }
  const std::size_t width = header_.size();
  for (const auto i : indices(width)) row_[i] = cells_[at_ * width + i];
  ++at_;
  return true;
}

// Numbers become one text first: it grows, and views into it would not stay.
void ParquetCells::format_batch() {
  const std::size_t width = header_.size(), rows = rows_.batch_rows();
  text_.clear();
  ends_.clear();
  for (const auto row : indices(rows)) {
    for (const auto i : indices(width)) {
      if (!is_null(rows_.values(i), row)) append_cell(text_, kinds_[i], rows_.values(i), row);
      ends_.push_back(text_.size());
    }
  }
  cells_.resize(ends_.size());
  std::size_t begin = 0;
  for (const auto cell : indices(cells_)) {
    const std::size_t column = cell % width;
    cells_[cell] = kinds_[column] == ParquetKind::text
                       ? rows_.values(column).texts[cell / width]
                       : std::string_view(text_).substr(begin, ends_[cell] - begin);
    begin = ends_[cell];
  }
}

}  // namespace halmark
