// What stands behind the last layer, by the architecture's name: the LM head, a head of few rows in
// its place, or none; and whether tokens see those behind them.
#pragma once

namespace halmark {

class ConfigReader;
struct ModelSpec;

// Throws Error (exit 2) naming the field: a head that is not modelled.
void read_head(ConfigReader& config, ModelSpec& spec);

}  // namespace halmark
