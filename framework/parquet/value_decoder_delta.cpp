// DELTA_BINARY_PACKED: blocks of differences, each with its least one and packed remainders.
#include <algorithm>

#include "core/lists.hpp"
#include "parquet/level_decoder.hpp"
#include "parquet/thrift_reader.hpp"
#include "parquet/value_decoder.hpp"

namespace halmark::parquet {
namespace {

constexpr std::uint64_t block_values_max = std::uint64_t{1} << 16;

class DeltaNumbers {
 public:
  DeltaNumbers(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {
    const std::uint64_t block = varint(), miniblocks = varint();
    left_ = varint();
    value_ = zigzag();
    if (block == 0 || block > block_values_max || miniblocks == 0 || block % miniblocks != 0 ||
        (block / miniblocks) % 32 != 0) {
      fail("a block of differences has an impossible size");
    }
    miniblocks_ = miniblocks;
    miniblock_values_ = block / miniblocks;
  }

  // The values modulo 2^64, as the format has it.
  std::uint64_t next() {
    if (left_ == 0) fail("a page has fewer values than it states");
    --left_;
    const std::uint64_t out = value_;
    if (left_ > 0) value_ += difference();
    return out;
  }
  std::uint64_t left() const { return left_; }
  // What stands behind all values; asked for before the first of them is taken.
  std::string_view rest() {
    DeltaNumbers copy = *this;
    while (copy.left_ > 0) copy.next();
    copy.leave_block();
    return copy.bytes_;
  }

 private:
  [[noreturn]] void fail(const char* why) const { throw damaged_parquet(why, where_); }

  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto next = static_cast<std::uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      out |= std::uint64_t{next & 0x7fu} << shift;
      if ((next & 0x80u) == 0) return out;
    }
    fail("a block of differences ends too early");
  }
  std::uint64_t zigzag() {
    const std::uint64_t bits = varint();
    return (bits >> 1) ^ (0 - (bits & 1));
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail("a block of differences ends too early");
    const std::string_view out = bytes_.substr(0, as_size(size));
    bytes_.remove_prefix(out.size());
    return out;
  }

  std::uint64_t difference() {
    if (in_miniblock_ == 0) next_miniblock();
    --in_miniblock_;
    // Two halves, since more than 57 bits may begin inside a byte.
    const unsigned low_width = std::min(width_, 32u);
    std::uint64_t out = bits_at(packed_, bit_, low_width);
    if (width_ > 32) out |= bits_at(packed_, bit_ + 32, width_ - 32) << 32;
    bit_ += width_;
    return least_ + out;
  }
  void next_miniblock() {
    if (widths_.empty()) {
      least_ = zigzag();
      widths_ = take(miniblocks_);
    }
    width_ = static_cast<std::uint8_t>(widths_.front());
    widths_.remove_prefix(1);
    if (width_ > 64) fail("differences of more than 64 bits");
    packed_ = take(miniblock_values_ / 8 * width_);
    bit_ = 0;
    in_miniblock_ = miniblock_values_;
  }
  // Miniblocks behind the last value have no bytes, whatever width they state.
  void leave_block() { widths_ = {}; }

  std::string_view bytes_;
  const std::string& where_;
  std::uint64_t miniblocks_ = 0, miniblock_values_ = 0, left_ = 0, value_ = 0, least_ = 0;
  std::uint64_t in_miniblock_ = 0, bit_ = 0;
  unsigned width_ = 0;
  std::string_view widths_, packed_;
};

class DeltaIntegers final : public ValueDecoder {
 public:
  DeltaIntegers(const Stored& stored, std::string_view bytes, const std::string& where)
      : stored_(stored), numbers_(bytes, where) {}
  void read(std::size_t n, ParquetValues& out) override {
    for (std::size_t i = 0; i < n; ++i) out.integers.push_back(narrowed(numbers_.next()));
  }

 private:
  std::int64_t narrowed(std::uint64_t bits) const {
    if (stored_.physical == Physical::int64) return as_int64(bits);
    const auto low = as_uint32(bits);
    return stored_.sign_extends ? std::int64_t{as_int(low)} : std::int64_t{low};
  }
  Stored stored_;
  DeltaNumbers numbers_;
};

// The lengths of all texts as differences, then all texts.
class DeltaLengthTexts final : public ValueDecoder {
 public:
  DeltaLengthTexts(std::string_view bytes, const std::string& where)
      : where_(where), lengths_(bytes, where), texts_(lengths_.rest()) {}
  void read(std::size_t n, ParquetValues& out) override {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t length = lengths_.next();
      if (length > texts_.size()) {
        throw damaged_parquet("a page has fewer values than it states", where_);
      }
      const std::string_view text = texts_.substr(0, as_size(length));
      require_cell(text, where_);
      out.texts.push_back(text);
      texts_.remove_prefix(text.size());
    }
  }

 private:
  const std::string& where_;
  DeltaNumbers lengths_;
  std::string_view texts_;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_delta_decoder(const Stored& stored, std::string_view bytes,
                                                 const std::string& where) {
  return std::make_unique<DeltaIntegers>(stored, bytes, where);
}

std::unique_ptr<ValueDecoder> make_delta_length_decoder(std::string_view bytes,
                                                        const std::string& where) {
  return std::make_unique<DeltaLengthTexts>(bytes, where);
}

}  // namespace halmark::parquet
