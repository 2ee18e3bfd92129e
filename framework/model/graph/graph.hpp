// OperatorGraph: what one step of a deployment executes, whole and per rank, in execution order.
// FLOPs and bytes are asked from the op contracts. Owns the validity of splits; never adds times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "kernels/contract.hpp"
#include "model/graph/routed_share.hpp"
#include "model/graph/size.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

enum class OperatorKind {
  embedding,
  linear,
  attention,
  routing,  // choosing experts, and moving rows to them and back
  experts,
  head,
  norm,
  elementwise,
  quantize,
  collective,
};
std::string_view operator_kind_name(OperatorKind kind);

// How the operator is split over the ranks of one tensor-parallel group; pipeline, data and context
// are the splits of operators that exist because of those strategies; expert: by the experts of a
// rank.
enum class Split { replicated, column, row, head, vocab, expert, pipeline, data, context };
std::string_view split_name(Split split);

// How one parameter of Operator::local follows from the load of the rank.
struct ParamTerm {
  std::size_t param = 0;  // position in local.params
  SizeTerm::Pointer term;
};

struct Operator {
  std::string name;        // unique within its layer type: "q_proj", "ffn_all_reduce"
  std::string layer_type;  // "embedding", "decoder", "head", "pipeline"
  OperatorKind kind = OperatorKind::elementwise;
  Split split = Split::replicated;
  // "replicate", "tensor", "pipeline", "expert", "context" or a "+" of them.
  std::string strategy;
  std::int64_t group_stride = 1;    // of a collective: see rank_places.hpp
  Dtype dtype = Dtype::f32;         // compute dtype: whose peak applies
  std::string shape_in, shape_out;  // of the unsplit operator, "[8,1024]"

  // The unsplit problem over the whole batch. Absent for collectives and the copies that they need:
  // one device has none.
  std::optional<Problem> whole;
  Problem local;  // what one rank executes for one micro-batch; with of_expert_rank: the heaviest
  std::vector<ParamTerm> local_terms;  // of the parameters of `local` that follow from the load
  // Where the routing gives the expert-parallel ranks different work: what each one executes.
  // Nothing for a rank none of whose experts got a row. Empty where all ranks do the same, and
  // where the graph was built for the heaviest alone.
  std::vector<std::optional<Problem>> of_expert_rank;
  // Attention under context parallelism: the blocks of queries that each context rank executes, one
  // launch each; `local` is the later block of the heaviest rank. Empty where there is one rank.
  std::vector<std::vector<Problem>> of_context_rank;
  // One execution of `whole`; zero when absent. Of routed experts without a stated skew: the
  // weights of the expected number of distinct ones, see expert_imbalance.hpp.
  Work whole_work;
  Work local_work;  // one execution of `local`: what a kernel is measured on
  // What one execution costs the slowest rank on paper: of `routed` rows their share and not the
  // whole rows of `local`; under context parallelism all blocks of queries of a rank; everywhere
  // else this is local_work.
  Work rank_work;
  std::optional<RoutedShare> routed;
  SizeTerm::Pointer routed_tokens;  // of one replica's rank; with `routed` alone

  std::int64_t count = 0;                  // executions of `whole` in the model (layers)
  std::vector<std::int64_t> stage_counts;  // per stage: executions of `local` per micro-batch

  // Parameters and weight bytes of ONE instance. Tied tables count once, at the embedding.
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;  // matmul weights that one token meets
  std::int64_t weight_bytes_whole = 0;
  std::int64_t weight_bytes_local = 0;

  double flops = 0, matmul_flops = 0, bytes = 0;  // whole model, all `count` executions
  // The rank with the largest share, all its executions of one step (every micro-batch).
  double flops_per_rank = 0, matmul_flops_per_rank = 0, bytes_per_rank = 0;
};

// What a layer keeps of every sequence from one step to the next: entries that grow with the
// context, and bytes that do not (the state of a recurrence, a ring of the last tokens).
struct LayerCache {
  Extent entry_bytes;
  std::int64_t tokens_per_entry = 1;  // compressed caches: one entry of so many whole tokens
  std::int64_t tokens_max = 0;        // sliding window: older tokens are dropped; 0 = none are
  Extent constant_bytes;

  std::int64_t bytes(std::int64_t context, Side side) const;  // of one sequence
};

// A run of operators that a layer executes in order. Indices into OperatorGraph::operators.
struct LayerType {
  std::string name;
  std::vector<std::int32_t> operators;
  std::vector<LayerCache> caches = {};
};

struct Stage {
  std::int64_t first_layer = 0;
  std::int64_t layers = 0;
  bool has_embedding = false;
  bool has_head = false;
};

struct GraphTotals {
  double matmul_flops = 0;  // whole model, one step: what MFU counts
  double flops = 0;
  double bytes = 0;
  double flops_per_rank = 0;           // largest stage
  double matmul_flops_per_rank = 0;    // largest stage
  double bytes_per_rank = 0;           // largest stage
  std::int64_t parameters = 0;         // tied tables once
  std::int64_t active_parameters = 0;  // matmul weights of one token, head in, embedding out
  // Of the multi-token-prediction modules, in neither figure above; tables and head that they share
  // with the model are not counted again. Zero unless the step drafts tokens.
  std::int64_t prediction_parameters = 0;
};

// What the routing of one layer does: of the whole batch, and per rank for one micro-batch.
struct ExpertUse {
  std::int64_t active = 0;           // experts with at least one row, on one device
  std::int64_t held_per_rank = 0;    // experts whose weights a rank holds
  std::int64_t active_per_rank = 0;  // of the heaviest rank
  double imbalance = 1;              // rows of the heaviest rank over the mean, in whole rows
  double rank_imbalance = 1;         // the same as Operator::rank_work supposes it
};

// How a step is executed beyond its configuration: a choice that is priced on paper, and that
// nothing searches or measures. It is no part of Configuration for that reason.
struct StepForm {
  // Tokens per chunk of the chunked gated delta rule; 0 = token by token. What a rank executes
  // follows it; model FLOPs are those of the recurrence in either form.
  std::int64_t delta_chunk = 0;
  // Training: executions of the prediction modules on every token, one per token that is predicted
  // beyond the next. More than there are modules: they run again with the same weights.
  std::int64_t predicted = 0;
};

// Whether operators say what each expert-parallel rank executes, or the heaviest alone: that is all
// a price follows from, and the others' problems are a third of what building a graph costs.
enum class ExpertRanks { each, heaviest };

// A choice of operators that was made by the load: some exist only while a size is above zero.
struct LoadBranch {
  SizeTerm::Pointer size;
  bool is_any = false;
};

struct OperatorGraph {
  ModelSpec spec;
  Configuration configuration;
  StepForm form;
  std::vector<Operator> operators;
  std::vector<LayerType> layer_types;
  std::optional<std::int32_t> embedding_type, head_type, pipeline_type;  // into layer_types
  // The draft of one token, executed `drafted` times behind the head of the last stage; in training
  // a module's pass over all tokens.
  std::optional<std::int32_t> prediction_type;
  std::int64_t drafted = 0;
  std::vector<std::int32_t> layers;  // layer type of every layer
  std::vector<Stage> stages;         // pp of them
  GraphTotals totals;
  std::optional<ExpertUse> expert_use;  // of mixtures of experts
  std::vector<LoadBranch> branches;     // loads that agree on all of them have the same operators
  std::vector<std::string> warnings;

  // New tokens of each of its sequences that one rank processes.
  std::int64_t rank_tokens() const {
    return configuration.workload.new_tokens / configuration.parallel.cp;
  }
  // Sequences that one rank processes at a time: as the workload states, else batch / (dp pp), at
  // least 1.
  std::int64_t micro_batch() const;
  // Micro-batches of a replica in one step; pp unless the workload states their size or there are
  // fewer sequences than stages: those pass one by one.
  std::int64_t micro_batches() const;
  // Layer types that a stage executes for one micro-batch, in order.
  std::vector<std::int32_t> stage_sequence(std::size_t stage) const;
  bool is_prediction(const Operator& op) const;
  // Instances of the draft's weights and cache: modules that the model has and the step uses.
  std::int64_t prediction_instances() const;
};

// Speculative decoding with the model's own prediction modules: a step verifies 1 + drafted tokens
// a sequence at once, and each of the modules' executions drafts one token a sequence for the next.
struct Speculation {
  std::int64_t drafted = 0;  // 0 = none
};

// Expected tokens that a step yields when each drafted token is accepted with probability
// `acceptance`, independently: 1 + a + ... + a^N (Leviathan et al., 2211.17192, equation 1).
double expected_tokens_per_step(std::int64_t drafted, double acceptance);

// Why a combination is impossible: a row with status `refused`. `text` names both numbers.
struct Refusal {
  std::string reason;  // "tp_does_not_divide_heads"
  std::string text;    // "tp 3 does not divide 16 query heads"
};

Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration);

// The same in another form than token by token.
Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration, const StepForm& form,
                                           ExpertRanks ranks = ExpertRanks::each);

// The same for a decode step that drafts and verifies; `configuration` has one new token, and the
// graph's workload 1 + drafted of them within the same context.
Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration,
                                           const Speculation& speculation);

// Parameters of all prediction modules; 0 where the configuration states none.
std::int64_t prediction_parameters(const ModelSpec& spec);

// The most keys that the model was made for.
std::optional<Refusal> check_context(const ModelSpec& spec, std::int64_t context);

// The checks of build_graph alone, without building: for the constraints of a search.
std::optional<Refusal> check_configuration(const ModelSpec& spec,
                                           const Configuration& configuration);

}  // namespace halmark
