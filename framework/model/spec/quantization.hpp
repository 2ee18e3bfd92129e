// Quantization: what the `quantization_config` of a checkpoint states: the type, blocks and scales
// of its weights, which linears have them, and the type of the KV cache. A precision takes them by
// name; what is not read is refused, so that no checkpoint is priced as if it were 16-bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/precision.hpp"

namespace halmark {

class ConfigReader;
struct ModelSpec;

// mxfp4: blocks of 32 with an e8m0 scale (OCP Microscaling Formats 1.0, section 5.3). nvfp4: blocks
// of 16 with an e4m3 scale, and one f32 scale for a whole matrix beside them. AWQ and GPTQ: groups
// with a 16-bit scale and a zero point as wide as a weight. fp8: an f32 scale per block, row or
// matrix.
struct Quantization {
  std::string method;  // for people: "mxfp4", "awq", "compressed-tensors int4"
  PackedWeights format = PackedWeights::as_stated;  // the recipe that asks for it by name, if any
  Dtype weights = Dtype::f4_e2m1;                   // s2, s4, s8, f8_e4m3fn or f4_e2m1
  std::int64_t block = 0;                           // weights of a row that share a scale; 0 = all
  std::int64_t block_rows = 1;                      // rows that share it with them
  std::int64_t scale_bits = 8;                      // of a block: its scale and its zero point
  std::int64_t matrix_scale_bytes = 0;              // of every matrix, once
  std::vector<KernelKind> kinds;                    // linears that are stored so
  bool quantizes_inputs = false;                    // to the type of the weights; else 16-bit
  std::optional<Dtype> kv_cache;                    // nothing: not stated
  bool packs_embedding = false;                     // so is the table of embeddings
  bool operator==(const Quantization&) const = default;

  // Whether the checkpoint stores the linears of a kind so. No kinds: only a cache is stated.
  bool packs(KernelKind kind) const;
  // Stored in fewer than 8 bits, or in 8 with inputs of 16: there is no gemm of two such types.
  bool is_weight_only() const { return !quantizes_inputs; }
  // Scales of one matrix [columns_out, columns_in]; the last block of a row may be short.
  std::int64_t scale_bytes(std::int64_t columns_out, std::int64_t columns_in) const;
};

// Linears of a checkpoint that are stored in another way than Quantization says of their kind.
struct StoredOtherwise {
  KernelKind kind = KernelKind::ffn;
  std::string linear;                  // operator: "down_proj"; or "embed_tokens", the table
  std::vector<bool> layers;            // one entry per layer; of the head one
  std::optional<Quantization> format;  // nothing: as wide as the activations
};

// Fills what `quantization_config` states of the model in `spec`, whose layers are known. What it
// leaves open is added to what `config` assumes. Where it is not read, ModelSpec says why in
// unread_quantization, naming the field: a method that is not known, a width or a pair of types
// that no kernel has, a block that is not the format's.
void read_quantization(ConfigReader& config, ModelSpec& spec);

// Whether linears of a kind stand under `precision` as the checkpoint stores them.
bool takes_stored(const ModelSpec& spec, const Precision& precision, KernelKind kind);

// How packed weights of `dtype` are stored under `precision`: as the checkpoint states where that
// is what the precision asks for, else as the recipe that it names writes them. Nothing where
// neither says.
std::optional<Quantization> packed_format(const ModelSpec& spec, const Precision& precision,
                                          Dtype dtype);
// What was assumed of packed weights: which linears, blocks and scales; "" where the checkpoint
// states all of it.
std::string assumed_format(const ModelSpec& spec, const Precision& precision);
// Whether `precision` asks for one format of packed weights, whatever the checkpoint has.
bool names_format(const Precision& precision);

// Linears of `dtype` whose weights alone are narrow under `precision`: they stand in the formats
// above and meet inputs of 16 bits, or of 4.
bool is_packed(const Precision& precision, Dtype dtype);
// Whether `precision` has such linears of any kind.
bool is_packed(const Precision& precision);

}  // namespace halmark
