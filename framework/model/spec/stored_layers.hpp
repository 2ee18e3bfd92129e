// Layers of a model as the header of its checkpoint has them: matrices without an architecture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/quantization.hpp"

namespace halmark {

inline constexpr std::int64_t stored_experts_max = 65'536;

struct StoredMatrix {
  std::string name;  // below its layer: "mlp.down_proj"
  KernelKind kind = KernelKind::ffn;
  std::int64_t rows = 0, columns = 0;  // [columns_out, columns_in] of a linear
  std::int64_t experts = 0;            // routed ones that each have it; 0 = every token meets it
  std::optional<Quantization> format;  // nothing: floats of 16 or 32 bits
  bool operator==(const StoredMatrix&) const = default;
  std::int64_t values() const { return rows * columns * std::max<std::int64_t>(1, experts); }
};

struct StoredLayer {
  std::vector<StoredMatrix> matrices;
  std::int64_t vector_values = 0;  // gains, biases, and whatever else is no matrix
  bool operator==(const StoredLayer&) const = default;
  std::int64_t values() const {
    std::int64_t out = vector_values;
    for (const StoredMatrix& matrix : matrices) out += matrix.values();
    return out;
  }
};

struct StoredLayers {
  std::vector<StoredLayer> kinds;
  std::vector<std::int32_t> of_layer;  // its kind
  bool operator==(const StoredLayers&) const = default;
};

}  // namespace halmark
