// Parameters as formulas of the sizes that a configuration states.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json/json.hpp"

namespace halmark::family_counts {

// Sizes of a configuration by name, of the language tower where there is one.
class Sizes {
 public:
  explicit Sizes(const Json& config)
      : config_(config.contains("text_config") ? config.at("text_config") : config) {}
  std::int64_t operator()(const char* field) const {
    const Json& value = config_.at(field);
    return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<std::int64_t>();
  }
  const Json& json(const char* field) const { return config_.at(field); }

 private:
  const Json& config_;
};

// Projections of attention without biases: q and o over all heads, k and v over those of their own.
inline std::int64_t attention(std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
                              std::int64_t width) {
  return hidden * width * (2 * heads + 2 * kv_heads);
}
inline std::int64_t gated(std::int64_t hidden, std::int64_t width) { return 3 * hidden * width; }

using Formula = std::int64_t (*)(const Sizes&);
const std::map<std::string, Formula>& earlier_formulas();

}  // namespace halmark::family_counts
