// GraphBuilder: the vocabulary in which a family says what a layer executes. Each verb appends one
// operator (int8 linears: with their quantize and dequantize; f8: with a block_quantize before
// them; packed ones: one product that widens its weights), whole and split.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "model/graph/expert_layout.hpp"
#include "model/graph/graph.hpp"
#include "model/graph/sizing.hpp"

namespace halmark {

// Any op of the table. Its parameters are asked for on both sides.
struct OpSpec {
  std::string name;
  std::string op;
  OperatorKind kind = OperatorKind::elementwise;
  Split split = Split::replicated;
  std::string shape_in, shape_out;     // see shape_text
  std::int64_t active_parameters = 0;  // matmul weights that one token meets
  bool has_parameters = true;          // false: constants that are no model parameters
  Extent scale_bytes = {};             // of block-scaled weights
};
std::string shape_text(std::initializer_list<Size> dims);  // "[8,1024]"

// One linear layer y = x W^T, weights [columns_out, columns_in] as the checkpoints store them.
struct LinearSpec {
  std::string name;
  Extent rows;
  Extent columns_in;
  Extent columns_out;
  Split split = Split::column;
  OperatorKind kind = OperatorKind::linear;
  Dtype dtype = Dtype::f32;
  bool has_bias = false;          // parameters only: every library fuses the addition
  Extent biased = {};             // columns that have one, where not all do
  bool shares_embedding = false;  // tied head: its parameters are counted at the embedding
};

// `groups` linears of the same shape side by side, each with its own weights [columns_out,
// columns_in]. 16-bit or f8.
struct BatchedLinearSpec {
  std::string name;
  Extent groups;
  Extent rows;
  std::int64_t columns_in = 0, columns_out = 0;
  Split split = Split::head;
  Dtype dtype = Dtype::bf16;
};

// Over rows x columns. Split::head: the rows are heads, or the columns those of a rank's heads.
struct NormSpec {
  std::string name;
  Extent rows;
  Extent columns;
  NormKind kind = NormKind::rms;
  Split split = Split::replicated;
  bool has_gain = true;  // false: the op's gains are ones and no parameters
};

struct AttentionSpec {
  std::string name;
  Extent heads;
  Extent kv_heads;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;     // 0 = full
  std::int64_t value_dim = 0;  // 0 = head_dim
  std::int64_t chunk = 0;      // 0 = full
  bool has_sinks = false;      // parameters only: one more term of the softmax
  std::int64_t chosen = 0;     // keys that a query reads of all that the cache keeps; 0 = all
  bool is_causal = true;       // of causal models: tokens behind a query are not seen
  bool keeps_keys = true;      // false: they are another layer's, or are not read again
};

// One linear layer of every routed expert, weights [experts, columns_out, columns_in]. `split`
// where experts are not spread over ranks: by columns or by rows.
struct ExpertLinearSpec {
  std::string name;
  Extent columns_in;
  Extent columns_out;
  Split split = Split::column;
  bool has_bias = false;  // parameters only
};

// A draft computes one token of every sequence, however many the step verifies.
enum class NewTokens { of_load, one };

class GraphBuilder {
 public:
  GraphBuilder(const ModelSpec& spec, const Configuration& configuration, const StepForm& form = {},
               NewTokens new_tokens = NewTokens::of_load, ExpertRanks ranks = ExpertRanks::each);

  // Extents of this deployment.
  Extent batch() const { return batch_; }
  Extent tokens() const { return tokens_; }  // batch x new tokens
  // Of every sequence: queries of the step, keys that the last of them sees, and the difference.
  Size new_tokens() const { return new_tokens_; }
  Size context() const { return context_; }
  Size cached() const { return context_ - new_tokens_; }
  // Whether `size` is above zero. What the caller then builds or leaves out exists only for loads
  // with the same answer; the graph notes that.
  bool is_any(const Size& size);
  // Positions whose logits are needed: all, in prefill the last, which one context rank has.
  Extent logit_rows() const;
  Extent context_rows() const;                  // tokens of the whole context, cached ones included
  Extent split_by_tp(std::int64_t size) const;  // must divide
  Extent split_kv_heads() const;                // replicated beyond kv_heads ranks
  Extent split_kv_heads(std::int64_t heads) const;      // of a layer with its own
  Extent padded_by_tp(std::int64_t size) const;         // vocabulary: rounded up
  Extent split_expert_width(std::int64_t width) const;  // by what experts leave of tp
  static Extent replicated(std::int64_t size) { return {size, size}; }
  int tp() const { return tp_; }
  const StepForm& form() const { return graph_.form; }
  Phase phase() const { return graph_.configuration.workload.phase; }
  const Precision& precision() const { return graph_.configuration.precision; }

  // Starts a layer type; the following operators belong to it. Returns its index. `layer`: one of
  // its layers, whose linears may be stored in a way of their own.
  std::int32_t begin_layer_type(std::string_view name, std::optional<std::int64_t> layer = {});
  // Layers whose linears are stored alike have the same; a layer type has layers of one.
  std::int32_t storage_class(std::int64_t layer) const;
  // Whether the checkpoint stores two linears of the layer in one format.
  bool stores_alike(std::string_view one, std::string_view other) const;
  void set_embedding(std::int32_t type) { graph_.embedding_type = type; }
  void set_head(std::int32_t type) { graph_.head_type = type; }
  void set_pipeline(std::int32_t type) { graph_.pipeline_type = type; }
  // Takes the operators of `drafter`, which holds the layer type of one draft, to be executed
  // `drafted` times. What shares weights with this graph has them counted once.
  void set_prediction(GraphBuilder drafter, std::int64_t drafted);
  void add_layer(std::int32_t type) { graph_.layers.push_back(type); }

  // A table that is split by its rows, or held whole by every rank. `is_shared`: its parameters are
  // counted elsewhere.
  void embedding(std::string name, std::int64_t vocab, std::int64_t hidden,
                 Split split = Split::vocab, bool is_shared = false);
  // false: the operators that follow have weights of others, which are counted and held there.
  void count_parameters(bool counts) { counts_parameters_ = counts; }
  // Weights that other steps of the model read: a table that this one looks a row per token up in.
  void hold(const std::string& name, std::int64_t parameters);
  // The same step on one device, with nothing in it yet.
  GraphBuilder of_one_device() const;
  void norm(const NormSpec& norm);
  // rows x columns; `split` = head when the rows are heads.
  void rmsnorm(std::string name, Extent rows, std::int64_t columns, Split split);
  void rope(std::string name, Extent heads, std::int64_t head_dim, std::int64_t rotary_dim,
            Dtype dst);
  void copy(std::string name, Extent bytes, Split split);
  void attention(const AttentionSpec& attention);
  // Queries of the step on `keys` keys of another sequence, all of which they see. A step of more
  // queries than keys is priced with as many keys.
  void attention_outside(std::string name, Extent heads, Extent kv_heads, std::int64_t head_dim,
                         std::int64_t keys);
  void residual_add(std::string name, std::int64_t columns);
  void gated_activation(std::string name, Extent columns, GateKind kind);
  // `learned`: parameters that every rank holds.
  void activation(std::string name, Extent columns, ActivationKind kind, std::int64_t learned = 0);
  // An operator of any op of the table: what has no verb of its own.
  void op(const OpSpec& spec, const std::function<Sizing(Side)>& params);
  // Bytes of the copy that appends `rows` rows with `values` values to the cache. A conversion
  // reads attention's type and writes the cache's: it is a copy of their mean, to which a copy of
  // one type is the special case.
  std::int64_t append_bytes(std::int64_t values, std::int64_t rows) const;
  // What the layer type keeps of every sequence. attention() says so itself.
  void cache(const LayerCache& cache) { graph_.layer_types.back().caches.push_back(cache); }
  void batched_linear(const BatchedLinearSpec& linear);
  // An int8 or f8 linear reads what quantize_input wrote; for other dtypes quantize_input adds
  // nothing.
  void quantize_input(std::string name, Extent rows, Extent columns, Dtype linear, Split split);
  void linear(const LinearSpec& linear);
  // Nothing with tp = 1.
  void all_reduce(std::string name, const Size& columns);
  void all_gather(std::string name, Extent rows, Extent columns);

  // The routed experts, in this order of use; spec.moe must be there. Rows are those of the rank's
  // experts, see ExpertLayout.
  void route(std::string name, const ExpertSpec& experts);
  void dispatch(std::string name);
  void combine(std::string name);
  // Rows to the replicas that hold their experts, or back; nothing where experts cross none.
  void exchange_rows(std::string name);
  // Received rows from the order of their senders into that of their experts, or back; likewise.
  void regroup_rows(std::string name);
  void quantize_rows(std::string name, Extent columns);  // nothing unless linears are quantised
  void expert_linear(const ExpertLinearSpec& linear);
  void expert_gated_activation(std::string name, Extent columns, GateKind kind);
  void expert_activation(std::string name, Extent columns, ActivationKind kind);

  // Nothing with pp = 1.
  void send_recv(std::string name, std::int64_t columns);
  // Keys and values of a rank's tokens, `columns` values each, once around its context ranks: one
  // operator, executed cp - 1 times. `keys`: those of a sequence that any query sees. Nothing with
  // cp = 1.
  void ring_exchange(std::string name, const Size& keys, Extent columns, Dtype dtype);

  // Counts executions over the layers and stages and sums the totals. Call once.
  OperatorGraph finish();

 private:
  struct Draft;
  // Rows that the routing of one layer and micro-batch gives to each rank.
  struct Rows {
    std::int64_t whole = 0;                // tokens x top_k of the whole batch
    std::vector<std::int64_t> of_rank;     // per expert-parallel rank, tokens of all its replicas
    std::vector<std::int64_t> dispatched;  // per share of a tensor group, tokens of one replica
    Size of_pair_max;                      // the most that a replica sends to one rank
    double whole_weights = 1;              // expected distinct experts over those with whole rows
  };
  // Where an operator on rows runs. `tokens`, `ep_size`, `ep_rank` as the contracts take them.
  struct RowPlace {
    Size tokens, ep_size = 1, ep_rank, rows;
    Side side = &Extent::whole;
  };
  struct RowPlaces {
    RowPlace heaviest;  // whichever rank that is under a load
    std::vector<RowPlace> of_ranks;
    bool is_of_group = true;  // else of one tensor group
  };
  std::int64_t routed_width() const;  // of the rows that experts read and write
  void plan_routing(const ExpertSpec& experts);
  RoutedShare routed_share() const;
  RowPlace whole_rows() const;
  // Ranks of the whole expert group, on rows of all its replicas; or the shares of one tensor
  // group, on its own tokens.
  RowPlace heaviest_place(const Size& tokens, int ranks) const;
  RowPlaces group_rows() const;
  RowPlaces tensor_rows() const;
  Sizing routed_params(const RowPlace& place) const;
  template <typename Make>
  void add_routed(Draft draft, const RowPlaces& places, const Make& make);
  void add(Draft draft);
  // Of one op, for the whole extent and for one rank's.
  void add(Draft draft, std::string_view op, const std::function<Sizing(Side)>& params);
  // Rows of tokens to those of experts, or back.
  void move_rows(std::string name, const char* op, const Size& rows_in, const Size& rows_out);
  void split_queries(Operator& op) const;
  Dtype ring_dtype() const;
  // What queries, keys and values are written in before they are quantised, if they are.
  Dtype wide_attention() const;
  void quantize_queries(const AttentionSpec& spec);
  // How the weights of one linear stand. `format`: where it is not that of its type.
  struct Stored {
    Dtype dtype = Dtype::f32;
    bool is_packed = false;
    std::optional<Quantization> format = {};
  };
  void keep_stored_otherwise();
  const StoredOtherwise* stored_apart(std::string_view linear) const;
  Stored stored(std::string_view linear, Dtype asked) const;
  // Of the linear that reads what `quantize` writes: "down_quantize" is in front of down_proj.
  Stored stored_behind(std::string_view quantize, Dtype asked) const;
  bool packs_activations(const Stored& linear) const;
  // Of packed linears: see packed_format, else a scale of 16 bits per row.
  Quantization format_of(const Stored& linear) const;
  Size scale_bytes_of(const Stored& linear, const Size& columns_out, const Size& columns_in) const;
  void set_later_block_terms(Operator& op) const;
  Size visible_keys(std::int64_t window, std::int64_t chunk) const;
  void packed_linear(const LinearSpec& spec, const Stored& linear);
  void set_packed(Sizing& params, const Stored& linear, const Size& columns_in) const;
  SizedProblem quantize_problem(const Size& rows, const Size& columns, const Stored& linear) const;
  bool quantizes_for(const Stored& linear) const;
  Extent stored_table_bytes(const Extent& rows, std::int64_t columns) const;
  std::string strategy(Split split) const;
  void cut_stages();
  void count_executions();
  void sum_totals();

  OperatorGraph graph_;
  std::vector<std::int32_t> storage_classes_;  // by layer; empty: all are alike
  std::optional<std::size_t> layer_;           // whose linears are being appended
  ExpertRanks expert_ranks_ = ExpertRanks::each;
  int tp_ = 1;
  ExpertLayout layout_;
  Rows rows_;
  Extent batch_, tokens_;
  Size new_tokens_, context_;
  bool counts_parameters_ = true;
};

}  // namespace halmark
