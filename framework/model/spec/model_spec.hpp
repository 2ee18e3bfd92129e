// ModelSpec: the architecture of a model, read from a Hugging Face config.json and checked.
// Owns finding and reading configurations; what an architecture executes is in families/.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "model/spec/quantization.hpp"
#include "model/spec/stored_layers.hpp"

namespace halmark {

// How one layer mixes the tokens of a sequence: attention with its own heads and mask, or a
// recurrence whose state does not grow with the context.

enum class Mixer { attention, delta_rule, state_space, selective_scan, convolution, none };

// The mixer of one layer. Sizes beyond `kind` are attention's; a recurrence has the same sizes in
// every layer of a model (DeltaRuleSpec, StateSpaceSpec, SelectiveScanSpec).
struct LayerMixer {
  Mixer kind = Mixer::attention;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;   // of queries and keys
  std::int64_t value_dim = 0;  // of values
  std::int64_t window = 0;     // most recent keys that a query sees; 0 = all
  std::int64_t chunk = 0;      // a query sees the keys of its own chunk of so many; 0 = all
  bool has_rotary = true;
  bool sees_all = false;         // tokens behind a query too; nothing of it is kept
  bool has_norm = true;          // in front of it, where the model has such norms
  std::int64_t chosen = 0;       // keys that a query reads of all that are kept; 0 = all it sees
  bool key_is_value = false;     // one projection is both, before norm and rotation
  bool shares_kv = false;        // keys and values are those that an earlier layer keeps
  std::int64_t outside = 0;      // tokens of another sequence, which it sees instead; 0 = none
  bool has_state_space = false;  // a state space beside attention, on the same norm
  auto operator<=>(const LayerMixer&) const = default;

  // Tokens whose keys and values a sequence of `context` tokens keeps.
  std::int64_t kept_tokens(std::int64_t context) const {
    if (kind != Mixer::attention || shares_kv || sees_all) return 0;
    if (outside > 0) return outside;
    std::int64_t kept = context;
    for (const std::int64_t bound : {window, chunk}) {
      if (bound > 0 && bound < kept) kept = bound;
    }
    return kept;
  }
};

// Gated DeltaNet (2412.06464): a state of key_dim x value_dim per value head. Kimi Delta Attention
// (2510.26692) is one whose states decay per key channel.
struct DeltaRuleSpec {
  std::int64_t key_heads = 0, key_dim = 0;
  std::int64_t value_heads = 0, value_dim = 0;
  std::int64_t kernel = 0;  // width of the short convolution over q, k and v
  Dtype state_dtype = Dtype::f32;
  // KDA: the decay of every key channel and the gate of the output come out of two products each,
  // of this rank. 0 = a decay per head, and the gate beside q, k and v.
  std::int64_t gate_rank = 0;
  bool has_full_gate = false;  // with a rank: the gate of the output is one whole product instead
  std::int64_t key_width() const { return key_heads * key_dim; }
  std::int64_t value_width() const { return value_heads * value_dim; }
};

// Mamba-2 (2405.21060): a state of head_dim x state_dim per head; B and C are shared by the heads
// of a group.
struct StateSpaceSpec {
  std::int64_t heads = 0, head_dim = 0;
  std::int64_t state_dim = 0;
  std::int64_t groups = 0;
  std::int64_t kernel = 0;  // width of the short convolution over x, B and C
  bool has_kernel_bias = false;
  bool has_linear_bias = false;
  bool has_norm = true;  // else the gate alone multiplies the output
  // Linear attention with a stated decay (MiniMax-01): queries, keys and values of every head in
  // the place of x, B and C, no convolution, no steps, and a gate behind the norm.
  bool is_linear_attention = false;
  Dtype state_dtype = Dtype::f32;
  std::int64_t width() const { return heads * head_dim; }
  std::int64_t group_width() const { return groups * state_dim; }
};

// The first Mamba (2312.00752): a state of state_dim values per channel; step, B and C come out of
// one narrow product.
struct SelectiveScanSpec {
  std::int64_t channels = 0, state_dim = 0;
  std::int64_t step_rank = 0;  // width of the steps before dt_proj makes one per channel
  std::int64_t kernel = 0;     // width of the short convolution over x
  bool has_kernel_bias = false;
  bool has_linear_bias = false;
  bool has_inner_norms = false;  // of steps, B and C, with weights
  Dtype state_dtype = Dtype::f32;
  std::int64_t narrow_width() const { return step_rank + 2 * state_dim; }
};

// LFM2: a convolution over the last tokens between two gates, all out of one product.
// RecurrentGemma has a linear recurrence of `recurrent` channels behind it, whose two gates come
// out of products within blocks of channels.
struct ConvolutionSpec {
  std::int64_t kernel = 0;
  bool has_bias = false;                   // of the convolution and of both linears
  std::int64_t recurrent = 0, blocks = 0;  // channels and blocks; 0 = no recurrence
};

// The parts of ModelSpec that the DeepSeek line adds: latent attention, its sparse indexer, and the
// compressed attention of DeepSeek-V4.

// Multi-head latent attention (DeepSeek-V2, 2405.04434): queries and keys pass through low ranks,
// and a token's cached row is kv_rank + rope_dim wide whatever the number of heads.
struct LatentSpec {
  std::int64_t q_rank = 0;  // 0 = queries are projected at once
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;  // of a query and key head, without and with rotary embedding
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  bool output_gate = false;  // a product of the layer's input multiplies its output
  bool has_rotary = true;    // false: the rotary part of queries and keys is there, not rotated
  std::int64_t query_dim() const { return nope_dim + rope_dim; }
  std::int64_t row_dim() const { return kv_rank + rope_dim; }  // what the cache keeps of a token
};

// The indexer of sparse attention (DeepSeek-V3.2): which top_k keys, or compressed entries, a query
// reads.
struct IndexerSpec {
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t top_k = 0;
  bool is_of_blocks = false;  // top_k counts blocks of keys (MiniMax-M3)
  // Layers that run it; the others reuse the choice of the layer before them. One entry per layer.
  std::vector<bool> runs;
};

// Attention of DeepSeek-V4. ModelSpec::head_dim is the width of the one latent row that is key and
// value of all heads; ModelSpec::indexer chooses among the entries of ratio 4.
struct CompressedSpec {
  std::int64_t q_rank = 0;
  std::int64_t window = 0;            // last tokens seen one by one
  std::vector<std::int64_t> ratios;   // tokens of a compressed entry, per layer: 0, 4 or 128
  std::int64_t prediction_ratio = 0;  // likewise, of the layer in a prediction module
  std::int64_t output_groups = 0;     // heads are projected to output_rank in so many groups
  std::int64_t output_rank = 0;       // per group
  std::int64_t streams = 0;           // residual streams of the hyper-connections
  std::int64_t sinkhorn_iterations = 0;
};

// How a gated feed-forward network activates; the values are `kind` of the op gated_activation.
enum class GateKind { silu = 0, gelu_tanh = 1 };

// How a plain one does; the values are `kind` of the op activation.
enum class ActivationKind { relu = 0, gelu_tanh = 1, silu = 2, relu_squared = 3 };

enum class NormKind { rms, layer, layer_without_shift };

// How the router turns its logits into weights; the values are `scoring` of the op moe_route.
enum class RouterScoring { softmax = 0, sigmoid };

// The feed-forward network of a mixture-of-experts layer.
struct ExpertSpec {
  std::int64_t experts = 0;       // routed
  std::int64_t top_k = 0;         // routed experts of a token
  std::int64_t width = 0;         // of one routed expert
  std::int64_t shared_width = 0;  // of all experts that every token passes, together; 0 = none
  bool shared_gate = false;       // one more weight per token, for the shared experts
  RouterScoring scoring = RouterScoring::softmax;
  bool renormalize = true;  // the weights of a token's experts sum to 1
  bool router_bias = false;
  bool has_bias = false;    // on the linears of the experts
  std::int64_t latent = 0;  // routed experts work in this width, between two linears; 0 = hidden
};

// The encoder in front of a decoder that sees what it read (T5, BART, Whisper).
struct EncoderSpec {
  std::int64_t layers = 0, heads = 0, intermediate = 0;
  std::int64_t positions = 0;  // learned; 0 = none
  std::int64_t tokens = 0;     // of every source
  std::int64_t mels = 0;       // bands of the spectrum that two convolutions read; 0 = text
  std::int64_t buckets = 0;    // of relative positions, with a bias per head; 0 = none
  std::int64_t window = 0;     // tokens around one that it sees; 0 = all
  std::int64_t held = 0;       // parameters beside its operators
};

// Gemma 3n and 4: what a layer takes from a table of all layers' embeddings, and of Gemma 3n the
// residual streams and the low-rank path beside attention.
struct LayerInputSpec {
  std::int64_t vocab = 0, width = 0;  // of one layer; 0 = none
  std::int64_t streams = 0;           // 0 = one, without updates between them
  std::int64_t low_rank = 0;
};

struct ModelSpec {
  // The name that was asked for, as a shipped file spells it: its id, "qwen3-0.6b", or an alias,
  // which may be another checkpoint; or the path of a config.json.
  std::string id;
  std::vector<std::string> names;  // that the same configuration has
  std::string checkpoint;          // what an engine loads: a name of a hub, else as the id
  std::string named_precision;     // the recipe that the name says, whatever the configuration does
  std::string family;              // key of the family table: "llama", "qwen2", "qwen3"
  std::string architecture;        // model_type of the configuration
  std::string source;              // where the configuration is from

  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;    // rotated width of a head
  std::int64_t intermediate = 0;  // dense FFN width; 0 = no layer has one
  std::int64_t vocab = 0;
  GateKind gate = GateKind::silu;
  std::optional<ActivationKind> plain_activation;  // two matrices per network instead of a gate
  std::int64_t activation_scalars = 0;             // that every layer's activation learns
  NormKind norm = NormKind::rms;
  bool norm_has_gain = true;    // false: ones, which are no parameters, and no shift
  bool pre_norms = true;        // a norm in front of attention and feed-forward network
  bool post_norms = false;      // a norm behind them
  bool is_parallel = false;     // attention and feed-forward network side by side, behind one norm
  bool parallel_norms = false;  // where they are: behind a norm each
  std::int64_t learned_positions = 0;  // rows of the table; 0 = none
  bool tied = false;                   // LM head and embedding share one table
  bool head_bias = false;
  // What stands in the place of the LM head: nothing, or a head of few rows.
  bool has_lm_head = true;
  std::int64_t labels = 0;  // rows of that head; 0 = none
  bool labels_bias = false;
  bool label_of_each_token = false;  // else of the last token of a sequence
  bool head_transform = false;       // a square product and a norm in front of the LM head
  bool transform_bias = true;
  bool final_norm = true;
  bool embedding_norm = false;       // behind the sum of the embeddings
  std::int64_t embedding_width = 0;  // of the tables, with a linear to `hidden`; 0 = hidden
  bool shares_layers = false;        // all layers have the weights of one
  std::int64_t held = 0;             // parameters of a layer beside its operators
  std::int64_t extra_rows = 0;       // of the embedding, which the head has not
  std::int64_t segments = 0;         // rows of a table of token types; 0 = none
  bool has_pooler = false;           // a square product with bias on one token of every sequence
  // false: every token sees every other, nothing is cached, and no step decodes.
  bool is_causal = true;
  bool fuses_qkv = false;  // q_proj and kv_proj are one product; chosen, never read
  bool qk_norm = false;    // a norm per head on q and k
  NormKind qk_norm_kind = NormKind::rms;
  bool qk_norm_of_row = false;        // over all heads of a token instead
  bool qk_norm_of_each_head = false;  // per head, and every head has gains of its own
  bool qk_norm_has_gain = true;       // false: normalised without weights
  bool v_norm = false;                // a norm without weights on v
  bool output_gate = false;           // q_proj also gives a gate for attention's output
  bool head_gate = false;             // a gate per head out of a product of its own
  bool inner_norms = false;  // a norm in front of o_proj and of down_proj, over the whole row
  bool has_sinks = false;    // one learned logit per query head
  bool qkv_bias = false;
  bool k_bias = true;            // with qkv_bias: that of k too
  bool outside_qk_norm = false;  // norms per head where another sequence is seen
  bool o_bias = false;
  bool mlp_bias = false;
  bool down_bias = false;                    // of the last linear of a network alone
  std::optional<std::int64_t> max_position;  // with what its rotary embedding is extended to
  std::vector<std::int64_t> windows;  // sliding window per layer, 0 = full; one entry per layer
  // One entry per layer; empty: attention everywhere, with the heads above and `windows`.
  std::vector<LayerMixer> mixers;
  std::optional<DeltaRuleSpec> delta_rule;
  std::optional<StateSpaceSpec> state_space;
  std::optional<SelectiveScanSpec> selective_scan;
  std::optional<ConvolutionSpec> convolution;
  std::vector<std::int64_t> ffn_widths;  // where layers differ: one entry per layer, 0 = none
  std::optional<ExpertSpec> moe;
  std::optional<LatentSpec> latent;
  std::optional<IndexerSpec> indexer;
  std::optional<CompressedSpec> compressed;
  std::optional<LayerInputSpec> layer_inputs;
  std::optional<EncoderSpec> encoder;
  std::optional<Quantization> quantization;  // what the checkpoint states of itself
  std::vector<StoredOtherwise> stored_otherwise;
  std::string unread_quantization;      // why what it states is not read; "" where it is
  std::optional<Dtype> stored_dtype;    // of its weights that are not quantised, where it is stated
  std::int64_t prediction_modules = 0;  // of multi-token prediction, see families/prediction.hpp
  bool predicts_sparsely = false;       // Nemotron-3: the network in a module has experts
  std::optional<StoredLayers> stored_layers;  // of a checkpoint without an architecture
  std::int64_t rest_values = 0;               // parameters outside of layers and tables
  std::vector<bool> is_sparse;  // with `moe`: which layers have experts; one entry per layer

  std::optional<std::int64_t> published_total_params;   // model card; shipped files only
  std::optional<std::int64_t> published_active_params;  // likewise; mixtures of experts
  std::vector<std::string> assumed;                     // every defaulted field, for the report
  std::vector<std::string> not_modelled;  // what the configuration states beside the decoder
  std::vector<std::string> not_read;      // fields of unknown effect, as paths
  std::vector<std::string> unconfirmed;   // operators that no published count confirms
  std::string note;                       // shipped files only: what the fields do not say
};

// Half-width of what a time is at best known to, as a fraction of it: 0 where every operator is
// confirmed by a count.
inline double unconfirmed_spread(const ModelSpec& spec) {
  return spec.unconfirmed.empty() ? 0 : 0.2;
}

LayerMixer mixer_of(const ModelSpec& spec, std::int64_t layer);

struct ModelListing {
  std::string id;
  std::vector<std::string> aliases;
  std::string architecture;
  std::string source;
  std::filesystem::path file;
};

// `id_or_path`: a config.json (or the folder that holds one), or an id or alias of a shipped file
// in `model_dirs`, whatever its case and separators. Throws Error (exit 2): unknown name with the
// three nearest, unknown architecture with the known ones, a bad field with file and field.
ModelSpec load_model(std::string_view id_or_path,
                     const std::vector<std::filesystem::path>& model_dirs);

// The model of a checkpoint: by the config.json beside it, and where that is not read or not there
// by the matrices of its header alone. load_model takes the path of a file of weights so too.
struct WeightsHeader;
ModelSpec load_weights(const WeightsHeader& header);

// Reads one configuration from text; `where` names it in errors.
ModelSpec read_model(std::string_view json_text, const std::string& where);

// All shipped models, by id. Throws Error (exit 2) naming a file that cannot be read.
std::vector<ModelListing> list_models(const std::vector<std::filesystem::path>& model_dirs);

}  // namespace halmark
