#include "parquet/page_writer.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "core/lists.hpp"
#include "parquet/parquet_codec.hpp"
#include "parquet/thrift_writer.hpp"

namespace halmark::parquet {
namespace {

template <class T>
void append(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// One group of numbers packed into `width` bits each, filled up with zeros to a multiple of 8.
std::string packed_run(const std::vector<std::uint32_t>& numbers, unsigned width) {
  std::string out;
  const std::size_t groups = (numbers.size() + 7) / 8;
  for (std::uint64_t head = groups << 1 | 1; head > 0 || out.empty(); head >>= 7) {
    out += static_cast<char>((head & 0x7f) | (head >> 7 > 0 ? 0x80 : 0));
  }
  std::uint64_t bits = 0;
  unsigned have = 0;
  for (const auto i : indices(groups * 8)) {
    bits |= std::uint64_t{i < numbers.size() ? numbers[i] : 0} << have;
    for (have += width; have >= 8; have -= 8, bits >>= 8) out += static_cast<char>(bits);
  }
  return out;
}

}  // namespace

Physical physical_of(ParquetKind kind) {
  switch (kind) {
    case ParquetKind::boolean:
      return Physical::boolean;
    case ParquetKind::integer:
    case ParquetKind::natural:
      return Physical::int64;
    case ParquetKind::single:
      return Physical::real32;
    case ParquetKind::real:
      return Physical::real64;
    case ParquetKind::text:
      break;
  }
  return Physical::bytes;
}

void PageWriter::add(const ParquetCell& cell) {
  const bool is_null = std::holds_alternative<std::monostate>(cell);
  if (is_null && !column_.is_nullable) throw std::logic_error("a null in " + column_.name);
  is_there_.push_back(!is_null);
  if (is_null) return;
  if (column_.kind == ParquetKind::text) return add_text(std::get<std::string_view>(cell));
  if (column_.kind == ParquetKind::real) return append(plain_, std::get<double>(cell));
  if (column_.kind == ParquetKind::single) {
    return append(plain_, static_cast<float>(std::get<double>(cell)));
  }
  const std::int64_t number = std::get<std::int64_t>(cell);
  if (column_.kind != ParquetKind::boolean) return append(plain_, number);
  if (bits_ % 8 == 0) plain_ += '\0';
  plain_.back() = static_cast<char>(plain_.back() | (number != 0) << (bits_++ % 8));
}

void PageWriter::add_text(std::string_view text) {
  const auto [at, is_new] = positions_.try_emplace(std::string(text), as_uint32(positions_.size()));
  const auto append_text = [text](std::string& to) {
    append(to, as_uint32(text.size()));
    to += text;
  };
  append_text(plain_);
  if (is_new) append_text(dictionary_);
  numbers_.push_back(at->second);
}

// Of version 1, with its length before it; of version 2 that is in the header.
std::string PageWriter::levels() const {
  if (!column_.is_nullable) return {};
  const std::string run = packed_run({is_there_.begin(), is_there_.end()}, 1);
  std::string out;
  if (!options_.is_page_v2) append(out, as_uint32(run.size()));
  return out + run;
}

std::string PageWriter::dictionary_page_values() {
  const auto width = static_cast<unsigned>(std::bit_width(positions_.size() - 1));
  return static_cast<char>(width) + packed_run(numbers_, width);
}

void PageWriter::append_page(WrittenChunk& out, std::string_view levels, std::string_view values,
                             bool is_dictionary, bool has_dictionary) const {
  const bool is_v2 = options_.is_page_v2 && !is_dictionary;
  const std::size_t bytes = levels.size() + values.size();
  const std::string packed = is_v2 ? std::string(levels) + pack(options_.codec, values)
                                   : pack(options_.codec, std::string(levels).append(values));
  const auto rows = as_int(is_there_.size());
  const int encoding = has_dictionary ? 8 : 0;
  ThriftWriter header;
  header.integer(1, is_dictionary ? 2 : is_v2 ? 3 : 0);
  header.integer(2, as_int(bytes));
  header.integer(3, as_int(packed.size()));
  if (is_dictionary) {
    header.structure(7, [&] {
      header.integer(1, as_int(positions_.size()));
      header.integer(2, 0);
    });
  } else if (is_v2) {
    header.structure(8, [&] {
      std::int32_t nulls = 0;
      for (const bool is_there : is_there_) nulls += is_there ? 0 : 1;
      header.integer(1, rows);
      header.integer(2, nulls);
      header.integer(3, rows);
      header.integer(4, encoding);
      header.integer(5, as_int(levels.size()));
      header.integer(6, 0);
      header.boolean(7, options_.codec != ParquetCodec::none);
    });
  } else {
    header.structure(5, [&] {
      header.integer(1, rows);
      header.integer(2, encoding);
      header.integer(3, 3);
      header.integer(4, 3);
    });
  }
  const std::string head = header.finish();
  out.pages += head;
  out.pages += packed;
  out.unpacked_bytes += as_int64(head.size() + bytes);
}

WrittenChunk PageWriter::finish() {
  WrittenChunk out;
  out.values = std::ssize(is_there_);
  const std::string numbers = numbers_.empty() ? "" : dictionary_page_values();
  const bool has_dictionary =
      !numbers.empty() && dictionary_.size() + numbers.size() < plain_.size();
  if (has_dictionary) {
    append_page(out, {}, dictionary_, true, false);
    out.dictionary_bytes = std::ssize(out.pages);
  }
  append_page(out, levels(), has_dictionary ? numbers : plain_, false, has_dictionary);
  is_there_.clear();
  plain_.clear();
  bits_ = 0;
  dictionary_.clear();
  positions_.clear();
  numbers_.clear();
  return out;
}

}  // namespace halmark::parquet
