// What the header of a checkpoint says of its tensors: of safetensors files, alone or under an
// index, and of GGUF files. Their data is never read, so a terabyte costs what a kilobyte does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

class InputFile;

struct StoredTensor {
  std::string name;
  std::string type;                 // as the file calls it: "BF16", "F8_E4M3", "Q4_K"
  std::vector<std::int64_t> shape;  // the contiguous dimension last
  std::int64_t bytes = 0;
  std::int64_t values() const;  // product of the shape, at most weights_values_max
};

struct WeightsHeader {
  std::string place;  // what was named, for messages
  std::int64_t files = 0;
  bool is_gguf = false;
  std::vector<StoredTensor> tensors;
  // Of GGUF, without what describes the tokenizer: integers (lists too) and short texts.
  std::map<std::string, std::vector<std::int64_t>> numbers;
  std::map<std::string, std::string> texts;
  // Data that the files end before: of headers without their data, and of broken downloads.
  std::int64_t absent_bytes = 0;
};

inline constexpr std::size_t weights_tensors_max = 400'000;
// Of all tensors together, so that no sum of theirs overflows: 70 trillion, and a petabyte.
inline constexpr std::int64_t weights_values_max = std::int64_t{1} << 46;
inline constexpr std::int64_t weights_bytes_max = std::int64_t{1} << 50;

// Whether a path says by its name that it is one: FILE.gguf, FILE.safetensors or
// FILE.safetensors.index.json.
bool names_weights(std::string_view path);

// A file, an index, or a folder that holds one checkpoint. Throws Error (exit 2) for a header that
// contradicts itself or exceeds a limit, for files that an index names and that are absent, and for
// what is no such file.
WeightsHeader read_weights(const std::string& place);

// One file each; they append.
void read_safetensors(const InputFile& file, WeightsHeader& out);
void read_gguf(const InputFile& file, WeightsHeader& out);
// Bits of a value of a safetensors type; 0 of one that is not known.
int safetensors_bits(std::string_view type);
// Values and bytes of a block of a GGUF type, by its name; zeros for others.
struct GgufBlock {
  std::int64_t values = 0, bytes = 0;
};
GgufBlock gguf_block(std::string_view type);

// Throws Error (exit 2) for sizes whose product, zeros left out, is above weights_values_max.
void require_values(const StoredTensor& tensor, const std::string& where);

}  // namespace halmark
