#include "parquet/parquet_reader.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/input/input_kind.hpp"
#include "parquet/column_reader.hpp"
#include "parquet/file_bytes.hpp"
#include "parquet/metadata.hpp"
#include "parquet/parquet_limits.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark {

using parquet::ColumnReader;
using parquet::FileBytes;
using parquet::Metadata;

struct ParquetReader::File {
  FileBytes bytes;
  Metadata metadata;
};

namespace {

// The file ends with the footer, its length in four bytes, and the magic.
Metadata read_footer(const FileBytes& file) {
  constexpr std::size_t tail_bytes = 8;
  std::string buffer;
  if (file.size() < parquet_magic.size() + tail_bytes ||
      file.at(0, parquet_magic.size(), buffer) != parquet_magic) {
    throw refused("is no Parquet file", file.name());
  }
  const std::string tail(file.at(file.size() - tail_bytes, tail_bytes, buffer));
  if (tail.ends_with("PARE")) {
    throw refused("is encrypted, which is not read", file.name(), "decrypt it first");
  }
  if (!tail.ends_with(parquet_magic)) {
    throw damaged_parquet("it does not end with PAR1, so it is cut off", file.name());
  }
  std::uint32_t size = 0;
  std::memcpy(&size, tail.data(), sizeof size);
  const std::uint64_t room = file.size() - tail_bytes - parquet_magic.size();
  if (size > room) throw damaged_parquet("its footer is longer than the file", file.name());
  if (size > parquet_footer_bytes_max) {
    throw refused("its footer has " + std::to_string(size) + " bytes; the limit is " +
                      std::to_string(parquet_footer_bytes_max),
                  file.name());
  }
  const std::uint64_t begin = file.size() - tail_bytes - size;
  return parquet::read_metadata(file.at(begin, size, buffer), begin, file.size(), file.name());
}

}  // namespace

ParquetReader::ParquetReader(InputFile file) {
  if (file.is_pipe()) {
    std::string name = file.name();
    file_ = std::make_unique<File>(File{FileBytes(file.read_rest(), std::move(name)), {}});
  } else {
    file_ = std::make_unique<File>(File{FileBytes(std::move(file)), {}});
  }
  file_->metadata = read_footer(file_->bytes);
}

ParquetReader::ParquetReader(std::string bytes, std::string name)
    : file_(std::make_unique<File>(File{FileBytes(std::move(bytes), std::move(name)), {}})) {
  file_->metadata = read_footer(file_->bytes);
}

ParquetReader::~ParquetReader() = default;
ParquetReader::ParquetReader(ParquetReader&&) noexcept = default;

const std::string& ParquetReader::name() const { return file_->bytes.name(); }
std::span<const ParquetColumn> ParquetReader::columns() const { return file_->metadata.columns; }
std::uint64_t ParquetReader::rows() const { return file_->metadata.rows; }
std::size_t ParquetReader::row_groups() const { return file_->metadata.groups.size(); }
std::uint64_t ParquetReader::rows_of_group(std::size_t group) const {
  return file_->metadata.groups.at(group).rows;
}

struct ParquetRows::Columns {
  struct Column {
    std::size_t position;  // in the file
    ColumnReader reader;
    ParquetValues values;
  };
  parquet::UnpackBudget budget;
  std::vector<Column> columns;
};

ParquetRows::ParquetRows(const ParquetReader& reader, std::vector<std::size_t> columns,
                         std::vector<std::size_t> groups)
    : reader_(reader),
      columns_(std::make_unique<Columns>(Columns{parquet::UnpackBudget(reader.file_->bytes), {}})),
      groups_(std::move(groups)) {
  const Metadata& metadata = reader.file_->metadata;
  const auto all_of = [](std::vector<std::size_t>& positions, std::size_t count) {
    if (!positions.empty()) return;
    positions.resize(count);
    std::iota(positions.begin(), positions.end(), std::size_t{0});
  };
  all_of(columns, metadata.columns.size());
  all_of(groups_, metadata.groups.size());
  for (const std::size_t position : columns) {
    columns_->columns.push_back({position,
                                 ColumnReader(reader.file_->bytes, metadata.columns.at(position),
                                              metadata.stored.at(position), columns_->budget),
                                 {}});
  }
}

ParquetRows::~ParquetRows() = default;

bool ParquetRows::begin_group() {
  const auto& groups = reader_.file_->metadata.groups;
  while (rows_left_ == 0) {
    if (group_ == groups_.size()) return false;
    const parquet::RowGroup& group = groups.at(groups_[group_++]);
    rows_left_ = group.rows;
    for (auto& column : columns_->columns) {
      column.reader.begin(group.chunks[column.position], group.rows);
    }
  }
  return true;
}

bool ParquetRows::next() {
  first_row_ += batch_rows_;
  batch_rows_ = 0;
  if (!begin_group()) return false;
  // As far as the page of every column goes, so that no text of the batch loses its page.
  auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows_left_, parquet_batch_rows));
  for (auto& column : columns_->columns) rows = std::min(rows, column.reader.ready());
  for (auto& column : columns_->columns) column.reader.read(rows, column.values);
  rows_left_ -= rows;
  batch_rows_ = rows;
  return true;
}

const ParquetValues& ParquetRows::values(std::size_t position) const {
  return columns_->columns.at(position).values;
}

}  // namespace halmark
