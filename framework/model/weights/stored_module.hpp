// A module of a checkpoint: its weights, and the scales, zero points and bias that stand beside
// them. Packed weights have the shape that they unpack to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/stored_layers.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

struct StoredModule {
  const StoredTensor* weights = nullptr;
  std::vector<const StoredTensor*> beside;  // scales and the like
  std::int64_t vector_values = 0;           // its bias
  std::int64_t bytes = 0;                   // of all of it
};
// By the name of the module: "model.layers.0.mlp.down_proj". Refers to the header. Throws Error
// (exit 2) for two tensors that are the weights of one.
std::map<std::string, StoredModule> modules_of(const WeightsHeader& header);

// What packed weights are unpacked by: neither stands in a header.
struct ModelWidths {
  std::int64_t hidden = 0;
  std::int64_t group = 0;  // values that share a scale
  std::int64_t bits = 0;   // of those whose scales are of whole rows
};
// Of the decoder's modules: the commonest width of the norms, or of matrices where there are none.
ModelWidths widths_of(const std::map<std::string, StoredModule>& modules);

// Nothing for a vector. Throws Error (exit 2), with the place, for more experts than
// stored_experts_max and for tensors that unpack to more values than the weights have bits.
std::optional<StoredMatrix> matrix_of(const std::string& name, const StoredModule& module,
                                      const ModelWidths& widths, const std::string& place);
// Parameters: of a matrix, its bias and what is no scale.
std::int64_t values_of(const StoredModule& module, const std::optional<StoredMatrix>& matrix);

}  // namespace halmark
