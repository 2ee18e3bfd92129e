// What each method of quantization_config means for one model. A row per method: a new one is a
// function and a line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/config_reader.hpp"
#include "model/spec/quantization.hpp"

namespace halmark::quantization {

// What is read of a quantization_config before its kinds are settled.
struct Stated {
  Quantization what;
  std::vector<std::string> kept;     // patterns of modules in 16 bits
  std::vector<std::string> targets;  // patterns of those that are not; empty = all linears
  bool packs_experts_alone = false;
  bool packs_head = false;
  bool has_scheme = true;  // false: the method is named, and not what it did
};

struct Method {
  std::string_view name;  // begins quant_method
  void (*read)(const ConfigReader& config, Stated& out);
};
std::span<const Method> methods();

// Of libraries whose statements are long.
void read_compressed_tensors(const ConfigReader& config, Stated& out);
void read_modelopt(const ConfigReader& config, Stated& out);
void read_quark(const ConfigReader& config, Stated& out);

// Formats, and how they are spelled everywhere.
inline constexpr std::int64_t f16_bits = 16, f32_bits = 32;
Quantization mxfp4();
Quantization nvfp4();
// What a library writes by its defaults where a precision names the format: nvfp4 with inputs of
// its own type and a cache of 8 bits (ModelOpt), integers in groups of 128. Nothing for as_stated.
std::optional<Quantization> published_recipe(PackedWeights format);
// 8 bits with a scale per row, read by inputs of the same type.
Quantization per_row(std::string method, Dtype dtype);
// s2, s4 or s8; refuses other widths.
Dtype integer_of(const ConfigReader& config, const std::string& where, std::int64_t bits);
// Groups of a row; libraries write -1 for the whole of it, which is 0 here.
std::int64_t group_size(const ConfigReader& config, const std::string& where,
                        std::int64_t fallback);
// Refuses a size that is not the format's.
void check_block(const ConfigReader& config, const std::string& where, const Quantization& format);

// "quantization_config." + name.
std::string field(std::string_view name);
// One line for a value that is not read here: "field 'F' is 'V': known are K".
[[noreturn]] void refuse_value(const ConfigReader& config, const std::string& field,
                               const std::string& value, std::string_view known);

}  // namespace halmark::quantization
