// 4-bit weights as checkpoints store them: values of f4_e2m1 in blocks that share an 8-bit scale.
// Read from `quantization_config`; taken where a precision has linears of f4_e2m1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/precision.hpp"

namespace halmark {

class ConfigReader;

// mxfp4: blocks of 32 with an e8m0 scale (OCP Microscaling Formats 1.0, section 5.3). nvfp4: blocks
// of 16 with an e4m3 scale, and one f32 scale for a whole matrix beside them.
struct PackedFormat {
  PackedWeights weights = PackedWeights::mxfp4;  // or nvfp4
  std::int64_t block = 0;                        // weights of a row that share a scale of one byte
  std::int64_t matrix_scale_bytes = 0;           // of every matrix, once
  bool packs_attention = false;                  // its projections
  bool packs_feed_forward = false;               // dense networks and shared experts
  bool packs_experts = false;
  bool packs_activations = false;  // inputs become 4-bit too; else they stay 16-bit

  std::string name() const { return std::string(packed_weights_name(weights)); }
  // Whether the checkpoint stores the linears of a kind in this format.
  bool packs(KernelKind kind) const;
  // Scales of one matrix [columns_out, columns_in]; a row's last block may be short.
  std::int64_t scale_bytes(std::int64_t columns_out, std::int64_t columns_in) const {
    return columns_out * ((columns_in + block - 1) / block) + matrix_scale_bytes;
  }
};

// What `quantization_config` states; nothing for none, or for formats of other widths. Refuses a
// block size that is not the format's.
std::optional<PackedFormat> read_packed_format(ConfigReader& config);

// Whether `precision` asks for packed weights of any kind.
bool is_packed(const Precision& precision);

}  // namespace halmark
