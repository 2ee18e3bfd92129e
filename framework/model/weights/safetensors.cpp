// https://github.com/huggingface/safetensors: eight bytes of length, a JSON object of tensors, data
// without holes.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

namespace {

using TypeBits = std::pair<std::string_view, int>;
constexpr std::array type_bits = {
    TypeBits{"BOOL", 8},    TypeBits{"U8", 8},          TypeBits{"I8", 8},
    TypeBits{"F4", 4},      TypeBits{"F6_E2M3", 6},     TypeBits{"F6_E3M2", 6},
    TypeBits{"F8_E4M3", 8}, TypeBits{"F8_E5M2", 8},     TypeBits{"F8_E8M0", 8},
    TypeBits{"I16", 16},    TypeBits{"F8_E4M3FNUZ", 8}, TypeBits{"F8_E5M2FNUZ", 8},
    TypeBits{"U16", 16},    TypeBits{"F16", 16},        TypeBits{"BF16", 16},
    TypeBits{"I32", 32},    TypeBits{"U32", 32},        TypeBits{"F32", 32},
    TypeBits{"C64", 64},    TypeBits{"F64", 64},        TypeBits{"I64", 64},
    TypeBits{"U64", 64}};

// Where a tensor's bytes lie behind the header.
struct TensorRange {
  std::int64_t begin = 0, end = 0;
  std::string name;
};

std::int64_t whole_offset(const Json& value, const std::string& tensor, const std::string& where) {
  if (value.is_number_integer() && value >= 0 && value <= weights_bytes_max)
    return value.get<std::int64_t>();
  throw refused("tensor '" + printable(tensor) + "' has a size or offset that is none: " +
                    printable(value.dump(-1, ' ', true, Json::error_handler_t::replace)),
                where);
}

const Json& entry_field(const Json& entry, const char* field, const std::string& tensor,
                        const std::string& where) {
  const auto it = entry.is_object() ? entry.find(field) : entry.end();
  const bool is_text = std::string_view(field) == "dtype";
  if (entry.is_object() && it != entry.end() && (is_text ? it->is_string() : it->is_array())) {
    return *it;
  }
  throw refused("tensor '" + printable(tensor) + "' has no " + field, where);
}

StoredTensor tensor_of(const std::string& name, const Json& entry, TensorRange& range,
                       const std::string& where) {
  StoredTensor out{.name = name, .type = entry_field(entry, "dtype", name, where)};
  for (const Json& size : entry_field(entry, "shape", name, where)) {
    out.shape.push_back(whole_offset(size, name, where));
  }
  require_values(out, where);
  const Json& offsets = entry_field(entry, "data_offsets", name, where);
  if (offsets.size() != 2) throw refused("tensor '" + printable(name) + "' has no range", where);
  range = {whole_offset(offsets[0], name, where), whole_offset(offsets[1], name, where), name};
  out.bytes = range.end - range.begin;
  const int bits = safetensors_bits(out.type);
  if (out.bytes < 0 || (bits > 0 && out.bytes != (out.values() * bits + 7) / 8)) {
    throw refused("tensor '" + printable(name) + "' has " + std::to_string(out.bytes) +
                      " bytes, which its shape and type do not fill",
                  where);
  }
  return out;
}

// Their end. Overlaps and holes are refused, as the format does.
std::int64_t require_adjacent(std::vector<TensorRange>& ranges, const std::string& where) {
  std::ranges::sort(ranges, {}, [](const TensorRange& r) { return std::pair(r.begin, r.end); });
  std::int64_t at = 0;
  for (const TensorRange& range : ranges) {
    if (range.begin != at) {
      throw refused("tensor '" + printable(range.name) + "' begins at " +
                        std::to_string(range.begin) + " where " + std::to_string(at) +
                        " is next: tensors overlap or leave a hole",
                    where);
    }
    at = range.end;
  }
  return at;
}

}  // namespace

int safetensors_bits(std::string_view type) {
  const auto it = std::ranges::find(type_bits, type, &TypeBits::first);
  return it == type_bits.end() ? 0 : it->second;
}

void read_safetensors(const InputFile& file, WeightsHeader& out) {
  static_assert(std::endian::native == std::endian::little);
  const std::string& where = file.name();
  std::array<char, 8> length{};
  if (file.bytes() < length.size()) throw refused("is no safetensors file: it is too short", where);
  file.read_at(0, length);
  const auto header = std::bit_cast<std::uint64_t>(length);
  if (header > std::min<std::uint64_t>(json_bytes_max, file.bytes() - length.size())) {
    throw refused("states a header of " + std::to_string(header) + " bytes; the file has " +
                      std::to_string(file.bytes()) + ", and the limit is " +
                      std::to_string(json_bytes_max),
                  where, "name a safetensors file that is whole");
  }
  std::string text(header, '\0');
  file.read_at(length.size(), text);
  const Json tensors = parse_json(text, where);
  if (!tensors.is_object()) throw refused("has a header that is no JSON object", where);
  std::vector<TensorRange> ranges;
  for (const auto& [name, entry] : tensors.items()) {
    if (name == "__metadata__") continue;
    if (out.tensors.size() == weights_tensors_max) {
      throw refused("lists more than " + std::to_string(weights_tensors_max) + " tensors", where);
    }
    out.tensors.push_back(tensor_of(name, entry, ranges.emplace_back(), where));
  }
  const std::int64_t end = require_adjacent(ranges, where);
  const auto there = static_cast<std::int64_t>(file.bytes() - length.size() - header);
  if (there > end) {
    throw refused("has " + std::to_string(there - end) + " bytes that its header does not state",
                  where);
  }
  out.absent_bytes += end - there;
}

}  // namespace halmark
