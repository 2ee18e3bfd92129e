#include "parquet/metadata.hpp"

#include "core/lists.hpp"
#include "parquet/parquet_limits.hpp"
#include "parquet/schema.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {
namespace {

using Field = ThriftReader::Field;
using Type = ThriftReader::Type;

// A ColumnChunk with its ColumnMetaData, as stated.
struct StatedChunk {
  bool has_metadata = false, is_encrypted = false, is_external = false;
  std::int64_t physical = -1, codec = -1, values = -1, packed_bytes = -1;
  std::int64_t data_page = -1, dictionary_page = 0;
};

class FooterReader {
 public:
  FooterReader(std::string_view footer, std::uint64_t data_end, std::uint64_t file_bytes,
               const std::string& name)
      : from_(footer, name), data_end_(data_end), file_bytes_(file_bytes), name_(name) {}

  Metadata read() {
    std::int64_t rows = -1;
    from_.structure([&](const Field& field) { return read_field(field, rows); });
    if (out_.columns.empty()) from_.fail("it has no schema");
    std::uint64_t sum = 0;
    for (const RowGroup& group : out_.groups) sum += group.rows;
    if (rows < 0 || sum != as_uint64(rows)) {
      from_.fail("its row groups have " + std::to_string(sum) + " rows, but it states " +
                 std::to_string(rows));
    }
    out_.rows = sum;
    return std::move(out_);
  }

 private:
  bool read_field(const Field& field, std::int64_t& rows) {
    switch (field.id) {
      case 2:
        if (!out_.columns.empty()) from_.fail("it has two schemas");
        read_schema(from_, field, out_, name_);
        return true;
      case 3:
        rows = from_.integer(field);
        return true;
      case 4:
        // Its column chunks are told by the schema, which every writer puts before them.
        if (out_.columns.empty()) from_.fail("row groups before the schema");
        from_.list(field, Type::structure, [&](std::uint64_t) { add_group(); });
        return true;
      case 8:
        throw refused("is encrypted, which is not read", name_, "decrypt it first");
      default:
        return false;
    }
  }

  void add_group() {
    RowGroup group;
    std::vector<StatedChunk> chunks;
    std::int64_t rows = -1;
    from_.structure([&](const Field& field) {
      if (field.id == 1) {
        from_.list(field, Type::structure, [&](std::uint64_t) {
          if (chunks.size() == out_.columns.size()) from_.fail("a row group has too many columns");
          chunks.push_back(read_chunk());
        });
      }
      if (field.id == 3) rows = from_.integer(field);
      return field.id == 1 || field.id == 3;
    });
    if (chunks.size() != out_.columns.size()) from_.fail("a row group has too few columns");
    if (rows < 0) from_.fail("a row group states no rows");
    group.rows = as_uint64(rows);
    require_affordable(group.rows);
    for (std::size_t i = 0; i < chunks.size(); ++i)
      group.chunks.push_back(checked(chunks[i], i, rows));
    out_.groups.push_back(std::move(group));
  }

  // Rows cost their consumer memory, and values time, however few bytes state them.
  void require_affordable(std::uint64_t rows) {
    const std::uint64_t most = (parquet_values_min + parquet_values_per_byte * file_bytes_) /
                               as_uint64(out_.columns.size());
    if (rows <= most - rows_) {
      rows_ += rows;
      return;
    }
    throw refused("states more than " + std::to_string(most) +
                      " rows, which is out of proportion to its " + std::to_string(file_bytes_) +
                      " bytes",
                  name_, "write it as CSV if it can be trusted");
  }

  StatedChunk read_chunk() {
    StatedChunk out;
    from_.structure([&](const Field& field) {
      if (field.id == 1) out.is_external = !from_.binary(field).empty();
      if (field.id == 8 || field.id == 9) out.is_encrypted = true;
      if (field.id == 3) {
        from_.require(field, Type::structure);
        read_column(out);
      }
      return field.id == 1 || field.id == 3;
    });
    return out;
  }

  void read_column(StatedChunk& out) {
    out.has_metadata = true;
    from_.structure([&](const Field& field) {
      std::int64_t* into = nullptr;
      if (field.id == 1) into = &out.physical;
      if (field.id == 4) into = &out.codec;
      if (field.id == 5) into = &out.values;
      if (field.id == 7) into = &out.packed_bytes;
      if (field.id == 9) into = &out.data_page;
      if (field.id == 11) into = &out.dictionary_page;
      if (into != nullptr) *into = from_.integer(field);
      return into != nullptr;
    });
  }

  Chunk checked(const StatedChunk& stated, std::size_t index, std::int64_t rows) const {
    const std::string column = named(out_.columns[index]);
    if (stated.is_encrypted) throw refused(column + " is encrypted, which is not read", name_);
    if (stated.is_external) throw refused(column + " is in another file, which is not read", name_);
    if (!stated.has_metadata) from_.fail(column + " has no metadata");
    if (stated.physical != as_int64(out_.stored[index].physical)) {
      from_.fail(column + " has another type than its schema says");
    }
    if (stated.values != rows) {
      from_.fail(column + " has " + std::to_string(stated.values) + " values for " +
                 std::to_string(rows) + " rows");
    }
    if (stated.codec < 0 || stated.codec > INT32_MAX) from_.fail(column + " has no codec");
    // Some writers state 0 where there is no page of a dictionary.
    const bool has_dictionary =
        stated.dictionary_page > 0 && stated.dictionary_page < stated.data_page;
    const std::int64_t begin = has_dictionary ? stated.dictionary_page : stated.data_page;
    constexpr auto magic_bytes = std::ssize(parquet_magic);
    const auto end = as_int64(data_end_);
    if (rows == 0) return {};  // nothing of it is read
    if (begin < magic_bytes || begin > end || stated.packed_bytes < 0 ||
        stated.packed_bytes > end - begin) {
      from_.fail(column + " does not lie inside the file");
    }
    return {as_int(stated.codec), as_uint64(begin), as_uint64(begin + stated.packed_bytes)};
  }

  ThriftReader from_;
  std::uint64_t data_end_, file_bytes_;
  const std::string& name_;
  Metadata out_;
  std::uint64_t rows_ = 0;
};

}  // namespace

Metadata read_metadata(std::string_view footer, std::uint64_t data_end, std::uint64_t file_bytes,
                       const std::string& name) {
  return FooterReader(footer, data_end, file_bytes, name).read();
}

}  // namespace halmark::parquet
