// Flat Parquet files as batches of rows. One page per column is in memory at a time, whatever the
// file holds: a consumer pays for what it keeps. Nested, repeated and encrypted columns are
// refused.
//
//   ParquetReader reader(InputFile(path, table_input));
//   ParquetCells cells(reader);                  // parquet_cells.hpp: rows as text, as CSV has
//   them while (cells.next()) use(cells.row());
//
//   ParquetRows rows(reader, {0, 3});            // or typed values of some columns
//   while (rows.next()) use(rows.values(0).integers, rows.values(1).texts);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/input_file.hpp"

namespace halmark {

inline constexpr std::string_view parquet_magic = "PAR1";  // the first and the last four bytes

enum class ParquetKind {
  boolean,
  integer,  // INT32 and INT64, signed
  natural,  // the same, unsigned: the bits of a std::uint64_t
  single,   // FLOAT: a double that states itself with the digits of a float
  real,     // DOUBLE
  text,     // BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
};

struct ParquetColumn {
  std::string name;
  ParquetKind kind = ParquetKind::integer;
  bool is_nullable = false;
  bool operator==(const ParquetColumn&) const = default;
};

// Values of one column, in step with its rows. Which of the lists is filled follows from the kind.
struct ParquetValues {
  std::vector<std::int64_t> integers;   // boolean, integer, natural
  std::vector<double> reals;            // single, real
  std::vector<std::string_view> texts;  // text; valid until the next batch
  std::vector<std::uint8_t> is_null;    // empty where nothing is; a null's value is 0 or ""
};

class ParquetReader {
 public:
  // Reads the footer. Throws Error (exit 2), one line with the file's name, for what is damaged,
  // encrypted, beyond a limit (rows, columns, pages: `parquet_limits.hpp`), has a column twice, or
  // a column that is not flat or of a type that has no text, naming the column.
  explicit ParquetReader(InputFile file);
  // The same over bytes in memory, for a pipe; `name` names them in errors.
  ParquetReader(std::string bytes, std::string name);
  ~ParquetReader();
  ParquetReader(ParquetReader&&) noexcept;

  const std::string& name() const;
  std::span<const ParquetColumn> columns() const;
  std::uint64_t rows() const;
  std::size_t row_groups() const;
  std::uint64_t rows_of_group(std::size_t group) const;

 private:
  friend class ParquetRows;
  struct File;
  std::unique_ptr<File> file_;
};

// A cursor over all rows, batch by batch. The reader outlives it. One thread.
class ParquetRows {
 public:
  // `columns`, `groups`: positions of those to read, groups of rows in this order; the others cost
  // nothing. Empty: all of them.
  explicit ParquetRows(const ParquetReader& reader, std::vector<std::size_t> columns = {},
                       std::vector<std::size_t> groups = {});
  ~ParquetRows();
  ParquetRows(const ParquetRows&) = delete;
  ParquetRows& operator=(const ParquetRows&) = delete;

  // The next batch of at most `parquet_batch_rows` rows; false behind the last. Throws Error
  // (exit 2) for damaged pages, and for an encoding or codec that is not read, naming the column.
  bool next();
  std::size_t batch_rows() const { return batch_rows_; }
  // Of the batch, from 0, among the rows that are read.
  std::uint64_t first_row() const { return first_row_; }
  const ParquetValues& values(std::size_t position) const;

 private:
  struct Columns;
  bool begin_group();

  const ParquetReader& reader_;
  std::unique_ptr<Columns> columns_;
  std::vector<std::size_t> groups_;
  std::size_t group_ = 0;  // into groups_
  std::uint64_t rows_left_ = 0, first_row_ = 0;
  std::size_t batch_rows_ = 0;
};

}  // namespace halmark
