#include "deploy/engine/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark::deploy {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr std::uint64_t alignment = 32, block_values = 32, block_bytes = 34;
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
// Numbers of gguf_type, in the order of GgufValue; 9 = a list, followed by the type of its items.
enum : std::uint32_t {
  uint32_value = 4,
  int32_value = 5,
  float_value = 6,
  string_value = 8,
  list_value = 9
};

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

template <class T>
void put(std::string& out, T value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  out.append(bytes.data(), bytes.size());
}
void put(std::string& out, const std::string& text) {
  put(out, std::uint64_t{text.size()});
  out += text;
}

template <class T>
void put_list(std::string& out, std::uint32_t type, const std::vector<T>& items) {
  put(out, std::uint32_t{list_value});
  put(out, type);
  put(out, std::uint64_t{items.size()});
  for (const T& item : items) put(out, item);
}

struct FactWriter {
  std::string& out;
  void operator()(std::uint32_t v) const { put(out, std::uint32_t{uint32_value}), put(out, v); }
  void operator()(float v) const { put(out, std::uint32_t{float_value}), put(out, v); }
  void operator()(const std::string& v) const {
    put(out, std::uint32_t{string_value}), put(out, v);
  }
  void operator()(const std::vector<std::string>& v) const { put_list(out, string_value, v); }
  void operator()(const std::vector<float>& v) const { put_list(out, float_value, v); }
  void operator()(const std::vector<std::int32_t>& v) const { put_list(out, int32_value, v); }
};

std::string header_of(const GgufFile& file) {
  std::string out = "GGUF";
  put(out, std::uint32_t{3});
  put(out, std::uint64_t{file.tensors.size()});
  put(out, std::uint64_t{file.facts.size()});
  for (const auto& [key, value] : file.facts) {
    put(out, key);
    std::visit(FactWriter{out}, value);
  }
  std::uint64_t offset = 0;
  for (const GgufTensor& t : file.tensors) {
    put(out, t.name);
    put(out, as_uint32(t.shape.size()));
    for (const std::int64_t n : t.shape) put(out, as_uint64(n));
    put(out, as_uint32(t.type));
    put(out, offset);
    offset += aligned(tensor_bytes(t));
  }
  out.resize(aligned(out.size()), '\0');
  return out;
}

// 16 random bits as a float of +-2^-6 to 2^-5: a sign, a fixed exponent, the mantissa. Of 8-bit
// blocks the scale is 2^-12, so that their values reach 2^-5 too.
std::uint16_t bf16_bits(std::uint64_t r) {
  return static_cast<std::uint16_t>((r & 0x807f) | 0x3c80);
}
std::uint16_t f16_bits(std::uint64_t r) {
  return static_cast<std::uint16_t>((r & 0x83ff) | 0x2400);
}
constexpr std::uint16_t block_scale = 0x0c00;

// The next bytes of a tensor's values, at least `wanted` of them, whole values or blocks.
void add_values(std::string& out, GgufType type, bool is_gain, std::uint64_t seed,
                std::uint64_t& counter) {
  const std::uint64_t r = hash_u64(seed, counter++);
  switch (type) {
    case GgufType::f32:
      put(out, is_gain ? 1.0F : std::bit_cast<float>(std::uint32_t{bf16_bits(r)} << 16));
      return;
    case GgufType::bf16:
      for (const int i : below(4)) put(out, bf16_bits(r >> (16 * i)));
      return;
    case GgufType::f16:
      for (const int i : below(4)) put(out, f16_bits(r >> (16 * i)));
      return;
    case GgufType::q8_0:
      put(out, block_scale);
      put(out, r);
      for (int i = 0; i < 3; ++i) put(out, hash_u64(seed, counter++));
  }
}

void write_tensor(std::ofstream& out, const GgufTensor& t, std::uint64_t seed) {
  const std::uint64_t bytes = tensor_bytes(t);
  std::uint64_t counter = 0;
  std::string buffer;
  for (std::uint64_t left = bytes; left > 0;) {
    buffer.clear();
    while (buffer.size() < std::min<std::uint64_t>(left, buffer_bytes)) {
      add_values(buffer, t.type, t.is_gain, seed, counter);
    }
    buffer.resize(std::min<std::uint64_t>(left, buffer.size()));
    out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    left -= buffer.size();
  }
  const std::string padding(aligned(bytes) - bytes, '\0');
  out.write(padding.data(), static_cast<std::streamsize>(padding.size()));
}

}  // namespace

GgufType gguf_type(const std::string& word) {
  if (word == "F32") return GgufType::f32;
  if (word == "F16") return GgufType::f16;
  if (word == "BF16") return GgufType::bf16;
  if (word == "Q8_0") return GgufType::q8_0;
  throw refused("weights of type '" + printable(word) + "' are not written", {},
                "known: F32, F16, BF16, Q8_0");
}

std::uint64_t tensor_bytes(const GgufTensor& t) {
  std::uint64_t values = 1;
  for (const std::int64_t n : t.shape) values *= as_uint64(n);
  if (t.type == GgufType::q8_0) return values / block_values * block_bytes;
  return values * (t.type == GgufType::f32 ? 4 : 2);
}

void write_gguf(const GgufFile& file, const std::string& path, std::uint64_t seed) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  const std::string header = header_of(file);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (std::size_t i = 0; out && i < file.tensors.size(); ++i) {
    write_tensor(out, file.tensors[i], hash_combine(seed, i));
  }
  out.close();
  if (out) return;
  std::error_code ignored;  // never what is no file of ours, a device say
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  throw Error(ExitCode::error, "the weights cannot be written", path, "is the disk full?");
}

}  // namespace halmark::deploy
