// A GGUF file, version 3, with weights that nobody trained: enough for an engine's speed, which
// does not depend on their values. Layout: ggml/include/gguf.h of llama.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace halmark::deploy {

// Numbers of ggml_type.
enum class GgufType : std::uint32_t { f32 = 0, f16 = 1, q8_0 = 8, bf16 = 30 };
// Of "BF16", "Q8_0", ... as the names of files have it; throws Error (exit 2) for others.
GgufType gguf_type(const std::string& word);

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // the contiguous dimension first
  GgufType type = GgufType::f32;
  bool is_gain = false;  // ones instead of random values: of norms
};

using GgufValue = std::variant<std::uint32_t, float, std::string, std::vector<std::string>,
                               std::vector<float>, std::vector<std::int32_t>>;

struct GgufFile {
  std::vector<std::pair<std::string, GgufValue>> facts;
  std::vector<GgufTensor> tensors;
};

// Of the file's weights. A row of Q8_0 is whole blocks of 32 values.
std::uint64_t tensor_bytes(const GgufTensor& tensor);

// Values are uniform, of a size at which activations neither grow nor vanish; the same seed gives
// the same file. Throws Error (exit 1) where it cannot be written; nothing is left of it then.
void write_gguf(const GgufFile& file, const std::string& path, std::uint64_t seed);

}  // namespace halmark::deploy
