// Convention: which FLOPs a stated MFU counts, and against which peak. Two MFUs whose switches
// differ are different quantities: they are never compared, averaged or plotted together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/training/recompute.hpp"

namespace halmark {

// p6: 2 FLOPs per parameter and token in a forward pass (6 in training), and attention.
enum class FlopsRule { per_matrix, p6 };
// Which query-key pairs count, of S new tokens after P cached ones. full: S (P + S).
// causal: S P + S (S + 1) / 2. half: S P + S S / 2. causal_half: the same, but a window's exact
// keys in layers that have one below the context. window: the mask of the model, causal with its
// windows.
enum class AttentionRule { none, causal, causal_half, half, full, window };
enum class HeadRule { out, last_position, all_positions };
// forward: one pass. training: 3 x forward (data and weight gradients). lora: no weight gradients
// of frozen weights, so products with weights count 2 x, attention 3 x.
enum class PassRule { forward, training, lora };
// What is computed again because its activations were not kept. attention_twice: all of attention,
// forward and backward, once more, as the printed HFU of 2205.05198 has it (S / 3H; one more
// forward pass would be 2 S / 9H).
enum class RecomputeRule { out, in, attention_twice };
// silu: the gate of a network counts only where its activation is SiLU, others as two matrices.
enum class GateRule { in, silu };
// expanded: a state-space layer as one of width 2 x hidden, whatever its heads are: projections of
// that width, 7 FLOPs a value of the state and no convolution.
enum class StateSpaceRule { model, expanded };

struct Convention {
  std::string name;  // preset; "palm+attention=causal" where switches were set
  FlopsRule flops = FlopsRule::per_matrix;
  bool embedding = false;  // the lookup: as a product with the table, or its parameters with p6
  HeadRule lm_head = HeadRule::all_positions;
  AttentionRule attention = AttentionRule::window;
  // Packed documents that do not see each other: sum of their squared lengths over the tokens of a
  // sequence, the length of the document in which a token lies on average. 0 = one document.
  double documents = 0;
  bool router = true;  // the product that chooses experts
  GateRule gate = GateRule::in;
  StateSpaceRule state_space = StateSpaceRule::model;
  bool mtp = true;       // prediction modules, where the step has them
  bool softmax = false;  // 3 FLOPs per score, as Chinchilla's Appendix F has it
  RecomputeRule recompute = RecomputeRule::out;  // counted: HFU
  bool replication = false;  // what ranks compute in copies, padding, the heaviest rank: executed
  PassRule forward_backward = PassRule::training;
  bool adapters = false;              // with `lora`: the low-rank pairs, forward and both gradients
  std::string peak = "per_operator";  // or one dtype, for every operator

  // One line, "name=palm flops=p6 embedding=in ...": what is printed beside every MFU.
  std::string line() const;
};

// What Halmark counts by itself: per matrix, the model's own mask, head on the positions whose
// logits are needed, embedding out, no recomputation.
Convention model_convention(bool is_training, bool has_windows);

// The published ones, as functions of nothing but their switches: palm, megatron, korthikanti,
// korthikanti-hfu, llm-foundry, nemo-24, megatron-bridge, megatron-bridge-26.04,
// megatron-bridge-lora, deepseek-v3, torchtitan, chinchilla, gpt-3, executed. Sources beside the
// table.
std::span<const Convention> named_conventions();
// Throws Error (exit 2) with the nearest name.
Convention convention_named(std::string_view name);

// Sets one switch from "switch=value". Throws Error (exit 2) with the known switches or values.
void set_switch(Convention& convention, std::string_view assignment);

// Switch and value in the order of the line, without the name.
std::vector<std::pair<std::string, std::string>> switches(const Convention& convention);

// What a convention needs to know of a model, per token and forward pass.
struct FlopShape {
  double matmul_weights = 0;  // of all layers: projections, FFN and the experts of a token
  double router_weights = 0;
  double head_weights = 0;       // hidden x vocabulary
  double embedding_weights = 0;  // likewise, for conventions that count the lookup as a product
  double parameters = 0;         // that a token meets, tables included; 0 = not known
  double lookup_parameters = 0;  // of these, tables that are only looked up (not a tied head)
  struct Attention {
    double layers = 0;
    double width = 0;         // heads x (key width + value width): 2 FLOPs each per pair
    double heads = 0;         // for the softmax
    std::int64_t window = 0;  // 0 = full
  };
  std::vector<Attention> attention;
  double gate_weights = 0;  // of `matmul_weights`: gates of networks whose activation is not SiLU
  // Of `matmul_weights` and `own_attention_flops`: state-space layers, and what the rule `expanded`
  // has in their place.
  double state_space_weights = 0, state_space_flops = 0;
  double expanded_weights = 0, expanded_flops = 0;
  double adapter_weights = 0;    // low-rank pairs of a fine-tuning
  double alternate_weights = 0;  // products that alternate recomputation repeats
  // FLOPs per token of attention whose keys are its own affair (selections, recurrences): counted
  // as the model has them under every rule but `none`.
  double own_attention_flops = 0;
};

// Fields of a dense decoder, as papers and benchmark tables state them.
struct DecoderFields {
  std::int64_t layers = 0, hidden = 0, heads = 0, vocab = 0;
  std::int64_t kv_heads = 0;  // 0 = heads
  std::int64_t head_dim = 0;  // 0 = hidden / heads
  std::int64_t ffn = 0;       // 0 = 4 x hidden
  int ffn_matrices = 2;       // 3 for gated networks
  double parameters = 0;      // as published; 0 = not stated
  std::int64_t window = 0;    // of `window_layers` layers
  std::int64_t window_layers = 0;
};
FlopShape flop_shape(const DecoderFields& fields);

// New tokens of a sequence and those that were cached before.
struct SequenceLength {
  double new_tokens = 0;
  double cached = 0;
};

// FLOPs of one sequence under `convention`; `recompute` is what the run recomputes, counted where
// the convention counts it. Throws Error (exit 2) when p6 is asked of an unknown parameter count.
// `replication` is a property of a deployment, not of a shape: model/utilisation/utilisation.hpp.
double convention_flops(const FlopShape& shape, SequenceLength sequence,
                        const Convention& convention, Recompute recompute = Recompute::none);

}  // namespace halmark
