// What each method of quantization_config means for one model. A row per method: a new one is a
// function and a line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/config_reader.hpp"
#include "model/spec/kept_modules.hpp"
#include "model/spec/quantization.hpp"

namespace halmark::quantization {

// Modules that are stored in one way.
struct Rule {
  ModulePatterns modules;
  std::optional<Quantization> format;  // nothing: they are not quantised
  bool is_packed() const { return format.has_value(); }
};

// What is read of a quantization_config before its kinds are settled.
struct Stated {
  Quantization what;
  std::vector<Rule> rules;  // the first that names a module says how it is stored
  bool is_listed = false;   // what no rule names is not quantised; else it is, as `what` says
  std::vector<ModulePatterns> within;  // nor is what does not stand in each of these
  bool packs_experts_alone = false;
  bool packs_head = false;
  bool has_scheme = true;  // false: the method is named, and not what it did
};

struct Method {
  std::string_view name;  // begins quant_method
  void (*read)(const ConfigReader& config, Stated& out);
};
std::span<const Method> methods();

// Modules whose format differs from `out.what`, as these libraries list them.
void read_dynamic(const ConfigReader& config, Stated& out);       // GPTQModel
void read_extra_config(const ConfigReader& config, Stated& out);  // AutoRound
void read_blocks(const ConfigReader& config, Stated& out);        // GPTQ, AutoRound: those alone

// An object whose keys are names of modules; nothing where it says nothing.
const Json* object_at(const ConfigReader& config, const std::string& where);
// Of the object that stands there under one name.
ConfigReader reader_of(const ConfigReader& config, const std::string& pattern, const Json& stated);
// Modules that `pattern` names are stored as `format`, unless a rule before names them.
void add_rule(const ConfigReader& config, const std::string& where, const std::string& pattern,
              std::optional<Quantization> format, Stated& out);

// A kind is of the method where any of its linears is; those that are not, or are in another
// format, are told apart layer by layer.
void settle_kinds(ConfigReader& config, ModelSpec& spec, Stated& stated);

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
// Refuses the other types that AutoRound writes under the same method.
void require_integers(const ConfigReader& config, const std::string& under);
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
