#include "parquet/value_decoder.hpp"

#include <array>
#include <cstring>

#include "core/input/input_kind.hpp"
#include "core/lists.hpp"
#include "parquet/level_decoder.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {
namespace {

template <class T>
T load(const char* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

std::size_t bytes_per_value(const Stored& stored) {
  switch (stored.physical) {
    case Physical::boolean:
    case Physical::bytes:
      return 0;
    case Physical::int32:
    case Physical::real32:
      return 4;
    case Physical::int64:
    case Physical::real64:
      return 8;
    case Physical::fixed:
      break;
  }
  return stored.fixed_bytes;
}

// One number of a fixed size, from its bytes in order.
void append_number(const Stored& stored, const char* from, ParquetValues& out) {
  switch (stored.physical) {
    case Physical::int32:
      out.integers.push_back(stored.sign_extends ? std::int64_t{load<std::int32_t>(from)}
                                                 : std::int64_t{load<std::uint32_t>(from)});
      break;
    case Physical::int64:
      out.integers.push_back(load<std::int64_t>(from));
      break;
    case Physical::real32:
      out.reals.push_back(load<float>(from));
      break;
    case Physical::real64:
      out.reals.push_back(load<double>(from));
      break;
    case Physical::boolean:
    case Physical::bytes:
    case Physical::fixed:
      break;
  }
}

class Decoder : public ValueDecoder {
 protected:
  Decoder(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}
  [[noreturn]] void fail_short() const {
    throw damaged_parquet("a page has fewer values than it states", where_);
  }

  std::string_view bytes_;
  const std::string& where_;
};

class PlainNumbers final : public Decoder {
 public:
  PlainNumbers(const Stored& stored, std::string_view bytes, const std::string& where)
      : Decoder(bytes, where), stored_(stored), size_(bytes_per_value(stored)) {}
  void read(std::size_t n, ParquetValues& out) override {
    if (n > bytes_.size() / size_) fail_short();
    for (const auto i : indices(n)) append_number(stored_, bytes_.data() + i * size_, out);
    bytes_.remove_prefix(n * size_);
  }

 private:
  Stored stored_;
  std::size_t size_;
};

class PlainTexts final : public Decoder {
 public:
  PlainTexts(std::size_t fixed_bytes, std::string_view bytes, const std::string& where)
      : Decoder(bytes, where), fixed_bytes_(fixed_bytes) {}
  void read(std::size_t n, ParquetValues& out) override {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t size = fixed_bytes_ > 0 ? fixed_bytes_ : take_size();
      if (size > bytes_.size()) fail_short();
      require_cell(bytes_.substr(0, size), where_);
      out.texts.push_back(bytes_.substr(0, size));
      bytes_.remove_prefix(size);
    }
  }

 private:
  std::size_t take_size() {
    if (bytes_.size() < 4) fail_short();
    const auto size = load<std::uint32_t>(bytes_.data());
    bytes_.remove_prefix(4);
    return size;
  }
  std::size_t fixed_bytes_;  // 0: each states its own
};

class PlainBooleans final : public Decoder {
 public:
  using Decoder::Decoder;
  PlainBooleans(std::string_view bytes, const std::string& where) : Decoder(bytes, where) {}
  void read(std::size_t n, ParquetValues& out) override {
    if (n > bytes_.size() * 8 - at_) fail_short();
    for (std::size_t i = 0; i < n; ++i) {
      out.integers.push_back(as_int64(bits_at(bytes_, at_++, 1)));
    }
  }

 private:
  std::size_t at_ = 0;
};

class RunBooleans final : public Decoder {
 public:
  RunBooleans(std::string_view bytes, const std::string& where) : Decoder(bytes, where) {
    if (bytes_.size() < 4 || load<std::uint32_t>(bytes_.data()) > bytes_.size() - 4) fail_short();
    levels_ = LevelDecoder(bytes_.substr(4, load<std::uint32_t>(bytes_.data())), 1);
  }
  void read(std::size_t n, ParquetValues& out) override {
    numbers_.resize(n);
    levels_.read(numbers_, where_);
    append_all(out.integers, numbers_);
  }

 private:
  LevelDecoder levels_;
  std::vector<std::uint32_t> numbers_;
};

class FromDictionary final : public Decoder {
 public:
  FromDictionary(std::string_view bytes, const ParquetValues& dictionary, const std::string& where)
      : Decoder(bytes, where), dictionary_(dictionary) {
    if (bytes_.empty()) return;  // a page of nulls alone
    const auto width = static_cast<std::uint8_t>(bytes_.front());
    if (width > 32) throw damaged_parquet("positions of more than 32 bits", where);
    positions_ = LevelDecoder(bytes_.substr(1), width);
  }
  void read(std::size_t n, ParquetValues& out) override {
    numbers_.resize(n);
    positions_.read(numbers_, where_);
    gather(dictionary_.integers, out.integers);
    gather(dictionary_.reals, out.reals);
    gather(dictionary_.texts, out.texts);
  }

 private:
  // Of the three lists of a dictionary one is filled; an empty one has none of the positions.
  template <class T>
  void gather(const std::vector<T>& from, std::vector<T>& to) const {
    const bool is_this_kind = !from.empty() || is_empty();
    if (!is_this_kind) return;
    for (const std::uint32_t at : numbers_) {
      if (at >= from.size()) throw damaged_parquet("a position outside the dictionary", where_);
      to.push_back(from[at]);
    }
  }
  bool is_empty() const {
    return dictionary_.integers.empty() && dictionary_.reals.empty() && dictionary_.texts.empty();
  }

  const ParquetValues& dictionary_;
  LevelDecoder positions_;
  std::vector<std::uint32_t> numbers_;
};

// All first bytes of the page, then all second bytes, and so on.
class SplitNumbers final : public Decoder {
 public:
  SplitNumbers(const Stored& stored, std::string_view bytes, const std::string& where)
      : Decoder(bytes, where), stored_(stored), size_(bytes_per_value(stored)) {
    count_ = bytes_.size() / size_;
    if (bytes_.size() % size_ != 0) fail_short();
  }
  void read(std::size_t n, ParquetValues& out) override {
    if (n > count_ - at_) fail_short();
    std::array<char, 8> value{};
    for (std::size_t i = 0; i < n; ++i, ++at_) {
      for (const auto byte : indices(size_)) value[byte] = bytes_[byte * count_ + at_];
      append_number(stored_, value.data(), out);
    }
  }

 private:
  Stored stored_;
  std::size_t size_, count_ = 0, at_ = 0;
};

const char* encoding_name(std::int64_t encoding) {
  constexpr std::array names = {
      "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
      "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
      "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};
  const bool is_known = encoding >= 0 && encoding < std::ssize(names);
  return is_known ? names[as_size(encoding)] : "an unknown encoding";
}

bool is_number(Physical physical) {
  return physical != Physical::boolean && physical != Physical::bytes &&
         physical != Physical::fixed;
}

}  // namespace

void require_cell(std::string_view text, const std::string& where) {
  if (text.size() > csv_field_bytes_max) {
    throw refused("a text has more than " + std::to_string(csv_field_bytes_max) + " bytes", where);
  }
  if (text.find('\0') != std::string_view::npos) throw refused("is no text", where);
}

std::unique_ptr<ValueDecoder> make_plain_decoder(const Stored& stored, std::string_view bytes,
                                                 const std::string& where) {
  if (stored.physical == Physical::boolean) return std::make_unique<PlainBooleans>(bytes, where);
  if (is_number(stored.physical)) return std::make_unique<PlainNumbers>(stored, bytes, where);
  return std::make_unique<PlainTexts>(bytes_per_value(stored), bytes, where);
}

std::unique_ptr<ValueDecoder> make_decoder(std::int64_t encoding, const Stored& stored,
                                           std::string_view bytes, const ParquetValues* dictionary,
                                           const std::string& where) {
  const bool is_integer = stored.physical == Physical::int32 || stored.physical == Physical::int64;
  switch (static_cast<Encoding>(encoding)) {
    case Encoding::plain:
      return make_plain_decoder(stored, bytes, where);
    case Encoding::plain_dictionary:
    case Encoding::rle_dictionary:
      if (dictionary == nullptr) throw damaged_parquet("a page without its dictionary", where);
      return std::make_unique<FromDictionary>(bytes, *dictionary, where);
    case Encoding::rle:
      if (stored.physical != Physical::boolean) break;
      return std::make_unique<RunBooleans>(bytes, where);
    case Encoding::delta_binary_packed:
      if (!is_integer) break;
      return make_delta_decoder(stored, bytes, where);
    case Encoding::delta_length_byte_array:
      if (stored.physical != Physical::bytes) break;
      return make_delta_length_decoder(bytes, where);
    case Encoding::byte_stream_split:
      if (!is_number(stored.physical)) break;
      return std::make_unique<SplitNumbers>(stored, bytes, where);
  }
  throw refused(std::string("is encoded with ") + encoding_name(encoding) + ", which is not read",
                where, "write it with PLAIN or a dictionary");
}

}  // namespace halmark::parquet
