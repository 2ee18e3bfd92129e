// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3: counts, facts,
// tensors, data at aligned offsets without holes.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

namespace {

constexpr std::uint64_t header_max = 64u << 20;
constexpr std::uint64_t facts_max = 65'536, text_max = 4u << 20, listed_max = 4096;

struct TypeRow {
  std::uint32_t number;
  std::string_view name;
  GgufBlock block;
};
// ggml_type; `block_size` and `type_size` of each.
constexpr std::array types = {TypeRow{0, "F32", {1, 4}},         TypeRow{1, "F16", {1, 2}},
                              TypeRow{2, "Q4_0", {32, 18}},      TypeRow{3, "Q4_1", {32, 20}},
                              TypeRow{6, "Q5_0", {32, 22}},      TypeRow{7, "Q5_1", {32, 24}},
                              TypeRow{8, "Q8_0", {32, 34}},      TypeRow{9, "Q8_1", {32, 40}},
                              TypeRow{10, "Q2_K", {256, 84}},    TypeRow{11, "Q3_K", {256, 110}},
                              TypeRow{12, "Q4_K", {256, 144}},   TypeRow{13, "Q5_K", {256, 176}},
                              TypeRow{14, "Q6_K", {256, 210}},   TypeRow{15, "Q8_K", {256, 292}},
                              TypeRow{16, "IQ2_XXS", {256, 66}}, TypeRow{17, "IQ2_XS", {256, 74}},
                              TypeRow{18, "IQ3_XXS", {256, 98}}, TypeRow{19, "IQ1_S", {256, 50}},
                              TypeRow{20, "IQ4_NL", {32, 18}},   TypeRow{21, "IQ3_S", {256, 110}},
                              TypeRow{22, "IQ2_S", {256, 82}},   TypeRow{23, "IQ4_XS", {256, 136}},
                              TypeRow{24, "I8", {1, 1}},         TypeRow{25, "I16", {1, 2}},
                              TypeRow{26, "I32", {1, 4}},        TypeRow{27, "I64", {1, 8}},
                              TypeRow{28, "F64", {1, 8}},        TypeRow{29, "IQ1_M", {256, 56}},
                              TypeRow{30, "BF16", {1, 2}},       TypeRow{34, "TQ1_0", {256, 54}},
                              TypeRow{35, "TQ2_0", {256, 66}},   TypeRow{39, "MXFP4", {32, 17}},
                              TypeRow{40, "NVFP4", {64, 36}}};

// By gguf_metadata_value_type; texts and lists have no size of their own.
constexpr std::array<std::uint64_t, 13> value_bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint32_t f32_value = 6, text_value = 8, list_value = 9, f64_value = 12;

// Reads on from a place of the file, a window of it at a time.
class Cursor {
 public:
  explicit Cursor(const InputFile& file) : file_(file) {}

  const std::string& where() const { return file_.name(); }
  std::uint64_t at() const { return at_; }
  template <class T>
  T number() {
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), view(sizeof(T)), sizeof(T));
    skip(sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  std::string text() {
    const std::uint64_t length = bounded_length();
    std::string out(view(length), length);
    skip(length);
    return out;
  }
  void skip_text() { skip(bounded_length()); }
  void skip(std::uint64_t bytes) {
    const std::uint64_t end = std::min(header_max, file_.bytes());
    if (bytes > end - at_) {
      throw refused(end == header_max
                        ? "has a header of more than " + std::to_string(header_max) + " bytes"
                        : "ends within its header",
                    where(), "name a GGUF file that is whole");
    }
    at_ += bytes;
  }

 private:
  std::uint64_t bounded_length() {
    const auto length = number<std::uint64_t>();
    if (length > text_max) {
      throw refused("states a text of " + std::to_string(length) + " bytes; the limit is " +
                        std::to_string(text_max),
                    where());
    }
    return length;
  }
  const char* view(std::uint64_t bytes) {
    const std::uint64_t from = at_;
    skip(bytes);  // refuses what is not there
    at_ = from;
    if (from < begin_ || from + bytes > begin_ + window_.size()) {
      begin_ = from;
      window_.resize(std::min(std::max(bytes, std::uint64_t{1} << 20), file_.bytes() - from));
      file_.read_at(begin_, window_);
    }
    return window_.data() + (from - begin_);
  }

  const InputFile& file_;
  std::uint64_t at_ = 0, begin_ = 0;
  std::string window_;
};

std::optional<std::int64_t> integer(Cursor& in, std::uint32_t type) {
  switch (type) {
    case 0:
    case 7:
      return in.number<std::uint8_t>();
    case 1:
      return in.number<std::int8_t>();
    case 2:
      return in.number<std::uint16_t>();
    case 3:
      return in.number<std::int16_t>();
    case 4:
      return in.number<std::uint32_t>();
    case 5:
      return in.number<std::int32_t>();
    case 10:
    case 11:
      return in.number<std::int64_t>();
    default:
      in.skip(value_bytes.at(type));
      return std::nullopt;
  }
}

void require_type(std::uint32_t type, bool is_item, const std::string& key, const Cursor& in) {
  if (type < value_bytes.size() && !(is_item && type == list_value)) return;
  throw refused("fact '" + printable(key) + "' has a value of type " + std::to_string(type) +
                    (is_item ? " in a list" : "") + ", which is none",
                in.where());
}

void read_list(Cursor& in, const std::string& key, WeightsHeader& out) {
  const auto type = in.number<std::uint32_t>();
  require_type(type, true, key, in);
  const auto count = in.number<std::uint64_t>();
  if (type == text_value) {
    for (std::uint64_t i = 0; i < count; ++i) in.skip_text();
    return;
  }
  const std::uint64_t width = value_bytes[type];
  if (count > header_max / width) throw refused("lists more values than it has bytes", in.where());
  if (count > listed_max || type == f32_value || type == f64_value) return in.skip(count * width);
  std::vector<std::int64_t>& values = out.numbers[key];
  values.clear();
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(*integer(in, type));
}

void read_fact(Cursor& in, WeightsHeader& out) {
  const std::string key = in.text();
  const auto type = in.number<std::uint32_t>();
  require_type(type, false, key, in);
  if (type == list_value) return read_list(in, key, out);
  constexpr std::size_t shown_max = 256;  // no template of a chat
  if (type == text_value) {
    std::string text = in.text();
    if (text.size() <= shown_max) out.texts[key] = std::move(text);
  } else if (const auto value = integer(in, type)) {
    out.numbers[key] = {*value};
  }
}

const TypeRow& type_of(std::uint32_t number, const std::string& tensor, const Cursor& in) {
  const auto it = std::ranges::find(types, number, &TypeRow::number);
  if (it != types.end()) return *it;
  throw refused("tensor '" + printable(tensor) + "' is of ggml type " + std::to_string(number) +
                    ", whose size is not known",
                in.where());
}

// And where its data begins.
std::pair<StoredTensor, std::uint64_t> read_tensor(Cursor& in) {
  StoredTensor out{.name = in.text()};
  const auto dimensions = in.number<std::uint32_t>();
  if (dimensions > 8) {
    throw refused(
        "tensor '" + printable(out.name) + "' has " + std::to_string(dimensions) + " dimensions",
        in.where());
  }
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    out.shape.insert(out.shape.begin(), in.number<std::int64_t>());
  }
  const TypeRow& type = type_of(in.number<std::uint32_t>(), out.name, in);
  out.type = type.name;
  require_values(out, in.where());
  if (!out.shape.empty() && out.shape.back() % type.block.values != 0) {
    throw refused("tensor '" + printable(out.name) + "' has rows of " +
                      std::to_string(out.shape.back()) + " values, no whole blocks of " + out.type,
                  in.where());
  }
  out.bytes = out.values() / type.block.values * type.block.bytes;
  return {std::move(out), in.number<std::uint64_t>()};
}

}  // namespace

GgufBlock gguf_block(std::string_view type) {
  const auto it = std::ranges::find(types, type, &TypeRow::name);
  return it == types.end() ? GgufBlock{} : it->block;
}

void read_gguf(const InputFile& file, WeightsHeader& out) {
  Cursor in(file);
  const std::string& where = in.where();
  if (in.number<std::uint32_t>() != 0x46554747) throw refused("is no GGUF file", where);
  const auto version = in.number<std::uint32_t>();
  if (version != 2 && version != 3) {
    throw refused("is GGUF of version " + std::to_string(version) + "; 2 and 3 are read", where,
                  "convert it again with llama.cpp");
  }
  const auto tensors = in.number<std::uint64_t>(), facts = in.number<std::uint64_t>();
  if (tensors > weights_tensors_max - out.tensors.size() || facts > facts_max) {
    throw refused("states " + std::to_string(tensors) + " tensors and " + std::to_string(facts) +
                      " facts; the limits are " + std::to_string(weights_tensors_max) + " and " +
                      std::to_string(facts_max),
                  where);
  }
  out.numbers.erase("general.alignment");  // of the part before
  for (std::uint64_t i = 0; i < facts; ++i) read_fact(in, out);
  const auto stated = out.numbers.find("general.alignment");
  const std::int64_t alignment =
      stated == out.numbers.end() || stated->second.empty() ? 32 : stated->second.front();
  if (alignment < 1 || alignment > 1 << 20) throw refused("states no alignment", where);
  const auto aligned = [&](std::int64_t n) { return (n + alignment - 1) / alignment * alignment; };
  std::int64_t next = 0, last = 0;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    auto [tensor, offset] = read_tensor(in);
    if (offset != static_cast<std::uint64_t>(next)) {
      throw refused("tensor '" + printable(tensor.name) + "' begins at " + std::to_string(offset) +
                        " where " + std::to_string(next) +
                        " is next: tensors overlap or leave a "
                        "hole",
                    where);
    }
    last = next + tensor.bytes;
    next += aligned(tensor.bytes);
    if (next > weights_bytes_max) throw refused("states more bytes than any file has", where);
    out.tensors.push_back(std::move(tensor));
  }
  const std::int64_t end = aligned(static_cast<std::int64_t>(in.at())) + last;
  out.absent_bytes += std::max<std::int64_t>(0, end - static_cast<std::int64_t>(file.bytes()));
  out.is_gguf = true;
}

}  // namespace halmark
