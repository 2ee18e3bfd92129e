#include "parquet/column_reader.hpp"

#include <algorithm>
#include <cstring>

#include "core/input/input_kind.hpp"
#include "core/lists.hpp"
#include "parquet/parquet_codec.hpp"
#include "parquet/parquet_limits.hpp"
#include "parquet/schema.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {
namespace {

constexpr std::int64_t run_levels = 3;  // the encoding RLE

// Values without nulls move to the rows that have one, from the back.
template <class T>
void spread(std::vector<T>& values, std::span<const std::uint32_t> is_there) {
  if (values.empty()) return;
  std::size_t from = values.size();
  values.resize(is_there.size());
  for (std::size_t row = is_there.size(); row-- > 0;) {
    values[row] = is_there[row] != 0 ? values[--from] : T{};
  }
}

void clear(ParquetValues& values) {
  values.integers.clear();
  values.reals.clear();
  values.texts.clear();
  values.is_null.clear();
}

// A batch of nulls alone has values as well.
void fill_nulls(ParquetKind kind, std::size_t rows, ParquetValues& out) {
  if (kind == ParquetKind::text) {
    out.texts.resize(rows);
  } else if (kind == ParquetKind::real || kind == ParquetKind::single) {
    out.reals.resize(rows);
  } else {
    out.integers.resize(rows);
  }
}

}  // namespace

UnpackBudget::UnpackBudget(const FileBytes& file)
    : name_(file.name()),
      file_bytes_(file.size()),
      left_(parquet_unpacked_min + as_uint64(unpacked_ratio_max) * file.size()) {}

void UnpackBudget::spend(std::uint64_t bytes) {
  if (bytes > left_) {
    throw refused("has pages of more than " + std::to_string(int(unpacked_ratio_max)) +
                      " times its " + std::to_string(file_bytes_) + " bytes",
                  name_, "write it again, or as CSV, if it can be trusted");
  }
  left_ -= bytes;
}

ColumnReader::ColumnReader(const FileBytes& file, const ParquetColumn& column, const Stored& stored,
                           UnpackBudget& budget)
    : file_(file),
      column_(column),
      stored_(stored),
      budget_(budget),
      where_(file.name() + ", " + named(column)) {}

void ColumnReader::begin(const Chunk& chunk, std::uint64_t rows) {
  chunk_ = chunk;
  at_ = chunk.begin;
  rows_left_ = rows;
  ready_ = 0;
  has_dictionary_ = false;
  values_.reset();
}

std::size_t ColumnReader::ready() {
  while (ready_ == 0 && rows_left_ > 0) load_page();
  return ready_;
}

PageHeader ColumnReader::next_header() {
  const std::uint64_t left = chunk_.end - at_;
  if (left == 0) throw damaged_parquet("its pages have fewer rows than their group", where_);
  const auto size = as_size(std::min<std::uint64_t>(left, parquet_header_bytes_max));
  budget_.spend(size);
  const PageHeader out = read_page_header(file_.at(at_, size, header_bytes_), where_);
  if (out.packed_bytes > left - out.header_bytes) {
    throw damaged_parquet("a page ends behind its column", where_);
  }
  return out;
}

void ColumnReader::load_page() {
  const PageHeader header = next_header();
  at_ += header.header_bytes;
  if (header.type == PageType::dictionary) load_dictionary(header);
  if (header.type == PageType::data) load_data(header);
  if (header.type == PageType::data_v2) load_data_v2(header);
  at_ += header.packed_bytes;
}

std::string_view ColumnReader::packed_page(const PageHeader& header) {
  budget_.spend(header.packed_bytes);
  return file_.at(at_, header.packed_bytes,
                  header.type == PageType::dictionary ? dictionary_packed_ : packed_);
}

std::string_view ColumnReader::unpacked(std::string_view packed, std::size_t bytes,
                                        std::string& into) {
  if (chunk_.codec == as_int(ParquetCodec::none)) return packed;
  budget_.spend(bytes);
  into.resize(bytes);
  if (!unpack(chunk_.codec, packed, into, where_)) {
    throw damaged_parquet("a page does not unpack to the bytes that it states", where_);
  }
  return into;
}

void ColumnReader::load_dictionary(const PageHeader& header) {
  if (has_dictionary_ || values_) throw damaged_parquet("a dictionary in a wrong place", where_);
  const auto plain = as_int64(Encoding::plain);
  if (header.encoding != plain && header.encoding != as_int64(Encoding::plain_dictionary)) {
    throw damaged_parquet("a dictionary of unknown encoding", where_);
  }
  const std::string_view bytes =
      unpacked(packed_page(header), header.unpacked_bytes, dictionary_bytes_);
  // A value has at least one byte, but of a text without any; what it costs here is counted.
  if (header.values > bytes.size()) throw damaged_parquet("a dictionary is too short", where_);
  budget_.spend(std::uint64_t{header.values} * sizeof(std::string_view));
  clear(dictionary_);
  make_plain_decoder(stored_, bytes, where_)->read(header.values, dictionary_);
  has_dictionary_ = true;
}

void ColumnReader::load_data(const PageHeader& header) {
  std::string_view bytes = unpacked(packed_page(header), header.unpacked_bytes, unpacked_);
  if (column_.is_nullable) {
    if (header.level_encoding != run_levels) {
      throw refused("has levels in the encoding BIT_PACKED, which is not read", where_,
                    "write it with a newer library");
    }
    std::uint32_t size = 0;
    if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
    if (bytes.size() < sizeof size || size > bytes.size() - sizeof size) {
      throw damaged_parquet("levels end behind their page", where_);
    }
    levels_ = LevelDecoder(bytes.substr(sizeof size, size), 1);
    bytes.remove_prefix(sizeof size + size);
  }
  begin_page(header, bytes);
}

void ColumnReader::load_data_v2(const PageHeader& header) {
  std::string_view bytes = packed_page(header);
  const std::size_t levels = header.repetition_bytes + header.definition_bytes;
  if (levels > bytes.size() || levels > header.unpacked_bytes) {
    throw damaged_parquet("levels end behind their page", where_);
  }
  levels_ = LevelDecoder(bytes.substr(header.repetition_bytes, header.definition_bytes), 1);
  bytes.remove_prefix(levels);
  // A page of nulls alone may have no packed bytes at all.
  const std::size_t size = header.unpacked_bytes - levels;
  begin_page(header, header.is_packed && size > 0 ? unpacked(bytes, size, unpacked_) : bytes);
}

void ColumnReader::begin_page(const PageHeader& header, std::string_view values) {
  if (header.values > rows_left_) {
    throw damaged_parquet("its pages have more rows than their group", where_);
  }
  rows_left_ -= header.values;
  ready_ = header.values;
  values_ = make_decoder(header.encoding, stored_, values, has_dictionary_ ? &dictionary_ : nullptr,
                         where_);
}

void ColumnReader::read(std::size_t rows, ParquetValues& out) {
  clear(out);
  ready_ -= rows;
  if (!column_.is_nullable) return values_->read(rows, out);
  is_there_.resize(rows);
  levels_.read(is_there_, where_);
  const auto there = rows - as_size(std::ranges::count(is_there_, std::uint32_t{0}));
  if (there > 0) values_->read(there, out);
  if (there == rows) return;
  if (there == 0) fill_nulls(column_.kind, rows, out);
  spread(out.integers, is_there_);
  spread(out.reals, is_there_);
  spread(out.texts, is_there_);
  out.is_null.resize(rows);
  std::ranges::transform(is_there_, out.is_null.begin(),
                         [](std::uint32_t level) { return std::uint8_t{level == 0}; });
}

}  // namespace halmark::parquet
