// What a checkpoint consists of, by the names and shapes of its tensors: the layers of its decoder,
// its tables, and parts beside it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/stored_layers.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

// A tower, a projector, adapters, prediction modules: what a step of the decoder does not execute.
struct CheckpointPart {
  std::string name;  // "visual", "model.vision_tower"
  std::int64_t parameters = 0, bytes = 0;
};

struct StoredBytes {
  std::int64_t tensors = 0, bytes = 0;
};

struct Checkpoint {
  std::string decoder;              // what its layers stand under: "model.layers"
  std::vector<StoredLayer> layers;  // by their number
  std::int64_t hidden = 0;
  std::optional<StoredMatrix> embedding, head;
  std::int64_t rest_values = 0;  // of the decoder outside of its layers: norms, tables of positions
  std::vector<CheckpointPart> parts;
  std::map<std::string, StoredBytes> types;  // as stored
  std::int64_t parameters = 0, bytes = 0;    // of everything
  std::int64_t decoder_parameters() const;
};

// Throws Error (exit 2) where no layers can be told from the names.
Checkpoint checkpoint_of(const WeightsHeader& header);

}  // namespace halmark
