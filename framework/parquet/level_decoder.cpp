#include "parquet/level_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/numeric/cast.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet is little-endian");

std::uint64_t read_varint(std::string_view& bytes, const std::string& where) {
  std::uint64_t out = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto next = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    out |= std::uint64_t{next & 0x7fu} << shift;
    if ((next & 0x80u) == 0) return out;
  }
  throw damaged_parquet("a run ends too early", where);
}

}  // namespace

std::uint64_t bits_at(std::string_view bytes, std::uint64_t at, unsigned width) {
  const auto from = as_size(at / 8);
  if (width == 0 || from >= bytes.size()) return 0;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + from, std::min<std::size_t>(sizeof word, bytes.size() - from));
  return (word >> (at % 8)) & ((std::uint64_t{1} << width) - 1);
}

void LevelDecoder::begin_run(const std::string& where) {
  const std::uint64_t head = read_varint(bytes_, where);
  if ((head & 1) == 0) {
    const std::size_t size = (width_ + 7) / 8;
    if (size > bytes_.size()) throw damaged_parquet("a run ends too early", where);
    value_ = static_cast<std::uint32_t>(bits_at(bytes_.substr(0, size), 0, width_));
    bytes_.remove_prefix(size);
    repeats_ = head >> 1;
    return;
  }
  // Groups of 8; some writers cut the last one off where its values end.
  const std::uint64_t groups = head >> 1;
  const std::uint64_t size = std::min<std::uint64_t>(groups * width_, bytes_.size());
  group_ = bytes_.substr(0, as_size(size));
  bytes_.remove_prefix(group_.size());
  packed_ = width_ == 0 ? groups * 8 : std::min(groups * 8, size * 8 / width_);
  if (packed_ == 0 && groups > 0) throw damaged_parquet("a run ends too early", where);
  bit_ = 0;
}

std::uint32_t LevelDecoder::unpack_one() {
  const auto out = static_cast<std::uint32_t>(bits_at(group_, bit_, width_));
  bit_ += width_;
  return out;
}

void LevelDecoder::read(std::span<std::uint32_t> out, const std::string& where) {
  while (!out.empty()) {
    while (repeats_ == 0 && packed_ == 0) begin_run(where);
    const auto n = as_size(std::min<std::uint64_t>(out.size(), repeats_ > 0 ? repeats_ : packed_));
    if (repeats_ > 0) {
      std::fill_n(out.begin(), n, value_);
      repeats_ -= n;
    } else {
      std::generate_n(out.begin(), n, [this] { return unpack_one(); });
      packed_ -= n;
    }
    out = out.subspan(n);
  }
}

}  // namespace halmark::parquet
