// What stands behind the last layer, by the architecture's name: the LM head, a head of few rows in
// its place, or none; and whether tokens see those behind them.
#pragma once

#include <string_view>

namespace halmark {

class ConfigReader;
struct ModelSpec;

// Throws Error (exit 2) naming the field: a head that is not modelled.
void read_head(ConfigReader& config, ModelSpec& spec);
// Whether the name of any of its architectures ends so.
bool names_architecture(const ConfigReader& config, std::string_view ending);

}  // namespace halmark
