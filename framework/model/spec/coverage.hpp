// What a configuration states beside what its family reads: refused where it changes the operators
// of the decoder, else named, so that no figure is silently that of another model.
#pragma once

#include <string>
#include <vector>

namespace halmark {

class ConfigReader;
struct ModelSpec;

// Throws Error (exit 2) for encoder-decoders, attention to another sequence and layers that share
// keys and values, unless the family has read the field that says so.
void refuse_other_operators(const ConfigReader& config);

// Fills not_modelled and not_read, after the family has read. `has_prediction`: prediction modules
// of the model are modelled.
void name_the_rest(const ConfigReader& config, bool has_prediction, ModelSpec& spec);

// What a reader of any figure of the model should know: the note of its shipped file, what was
// assumed, what is not modelled and what was not read. One line each.
std::vector<std::string> model_notes(const ModelSpec& spec);
// The same beside lines of other subjects: "model: not modelled: vision tower (vision_config)".
std::vector<std::string> model_lines(const ModelSpec& spec);

}  // namespace halmark
