// The verbs that most layers are made of. Every size is written twice, whole and on one rank, by
// the same expression: the two cannot drift apart.
#include "model/graph/builder.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/lists.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/draft.hpp"
#include "model/graph/rank_places.hpp"

namespace halmark {

using draft::number;
using draft::shape;

namespace {

// Weights are the constant operands; the KV cache is state and priced by memory.cpp.
struct Weights {
  std::int64_t elements = 0, bytes = 0;
};
Weights constant_operands(const Problem& problem, const Work& work) {
  Weights out;
  if (work.constant_bytes <= 0) return out;
  for (const OperandSpec& operand : find_contract(problem.op)->operands(problem.params)) {
    if (operand.role != Role::constant) continue;
    out.elements += operand.elements();
    out.bytes += operand.bytes();
  }
  return out;
}

}  // namespace

std::string shape_text(std::initializer_list<Size> dims) {
  std::string out = "[";
  for (const Size& dim : dims) {
    if (out.size() > 1) out += ',';
    out += std::to_string(dim.value());
  }
  return out + "]";
}

GraphBuilder::GraphBuilder(const ModelSpec& spec, const Configuration& configuration,
                           const StepForm& form, NewTokens new_tokens, ExpertRanks ranks)
    : expert_ranks_(ranks) {
  graph_.spec = spec;
  graph_.configuration = configuration;
  if (std::string text = assumed_format(spec, configuration.precision); !text.empty()) {
    graph_.spec.assumed.push_back(std::move(text));
  }
  keep_stored_otherwise();
  graph_.form = form;
  tp_ = configuration.parallel.tp;
  layout_ = expert_layout(configuration.parallel);
  const Workload& workload = configuration.workload;
  const RankLoad load{graph_.micro_batch(), workload.new_tokens, workload.context};
  batch_ = {workload.batch, Size(LoadMeasure::sequences, load)};
  context_ = Size(LoadMeasure::context, load);
  if (new_tokens == NewTokens::of_load) {
    new_tokens_ = Size(LoadMeasure::new_tokens, load);
    tokens_ = {batch_.whole * workload.new_tokens,
               Size(LoadMeasure::tokens, load) / configuration.parallel.cp};
  } else {
    new_tokens_ = 1;
    tokens_ = batch_;
  }
  if (spec.moe) plan_routing(*spec.moe);
}

Extent GraphBuilder::logit_rows() const {
  const bool is_last = graph_.spec.is_causal || !graph_.spec.has_lm_head;
  return graph_.configuration.workload.phase == Phase::prefill && is_last ? batch_ : tokens_;
}

Extent GraphBuilder::context_rows() const {
  return {batch_.whole * context_.value(),
          batch_.local * (context_ / graph_.configuration.parallel.cp)};
}

bool GraphBuilder::is_any(const Size& size) {
  const bool answer = size.value() > 0;
  if (size.term()) graph_.branches.push_back({size.term(), answer});
  return answer;
}

Extent GraphBuilder::split_by_tp(std::int64_t size) const {
  assert(size % tp_ == 0 && "check_deployment refuses splits that do not divide");
  return {size, size / tp_};
}

Extent GraphBuilder::split_kv_heads() const { return split_kv_heads(graph_.spec.kv_heads); }

Extent GraphBuilder::split_kv_heads(std::int64_t heads) const {
  return {heads, std::max<std::int64_t>(1, heads / tp_)};
}

Extent GraphBuilder::padded_by_tp(std::int64_t size) const {
  const std::int64_t local = (size + tp_ - 1) / tp_;
  return {size, local};
}

std::int32_t GraphBuilder::begin_layer_type(std::string_view name,
                                            std::optional<std::int64_t> layer) {
  layer_.reset();
  if (layer) layer_ = as_size(*layer);
  graph_.layer_types.push_back({std::string(name), {}});
  return as_int(graph_.layer_types.size()) - 1;
}

std::string GraphBuilder::strategy(Split split) const {
  const Parallel& parallel = graph_.configuration.parallel;
  std::string out;
  const auto append = [&out](std::string_view part) {
    if (!out.empty()) out += '+';
    out += part;
  };
  const bool is_expert = split == Split::expert;
  const bool is_whole = split == Split::replicated || split == Split::pipeline;
  if (is_expert) append("expert");
  if (is_expert ? layout_.width > 1 : tp_ > 1 && !is_whole) append("tensor");
  if (parallel.pp > 1) append("pipeline");
  if (graph_.configuration.parallel.cp > 1) append("context");
  const int replicas = is_expert ? parallel.dp / layout_.across_replicas : parallel.dp;
  if (replicas > 1 || out.empty()) append("replicate");
  return out;
}

void GraphBuilder::add(Draft draft) {
  Operator op;
  op.name = std::move(draft.name);
  op.layer_type = graph_.layer_types.back().name;
  op.kind = draft.kind;
  op.split = draft.split;
  if (tp_ == 1 && draft.split == Split::replicated) {
    if (graph_.configuration.parallel.cp > 1) op.split = Split::context;
    if (graph_.configuration.parallel.dp > 1) op.split = Split::data;
  }
  op.strategy = strategy(draft.split);
  if (op.kind == OperatorKind::collective) {
    op.group_stride = group_stride(graph_.configuration.parallel, draft.split);
  }
  op.shape_in = std::move(draft.shape_in);
  op.shape_out = draft.shape_out.empty() ? op.shape_in : std::move(draft.shape_out);

  const OpContract* contract = find_contract(draft.local.problem.op);
  op.routed = draft.routed;
  if (op.routed) op.routed_tokens = tokens_.local.term();
  op.local_work = contract->work(draft.local.problem.params);
  op.rank_work =
      op.routed ? scaled(op.local_work, op.routed->at(tokens_.local.value())) : op.local_work;
  op.dtype = op.local_work.compute_dtype;
  const Weights local = constant_operands(draft.local.problem, op.local_work);
  op.weight_bytes_local = local.bytes + dtype_bytes(draft.bias_dtype, draft.bias.local).constant() +
                          draft.scale_bytes.local.constant();
  if (draft.whole) {
    op.whole_work = scaled(contract->work(draft.whole->params), {.weights = draft.whole_weights});
    const Weights whole = constant_operands(*draft.whole, op.whole_work);
    op.weight_bytes_whole = whole.bytes +
                            dtype_bytes(draft.bias_dtype, draft.bias.whole).constant() +
                            draft.scale_bytes.whole.constant();
    if (draft.has_parameters) {
      op.parameters = whole.elements + draft.bias.whole.constant() - draft.missing_parameters;
    }
  }
  op.active_parameters = draft.active_parameters;
  op.of_expert_rank = std::move(draft.of_expert_rank);
  if (draft.weight_bytes.whole.constant() > 0) {
    op.weight_bytes_whole = draft.weight_bytes.whole.constant();
    op.weight_bytes_local = draft.weight_bytes.local.constant();
  }
  if (draft.shares_embedding) op.parameters = draft.bias.whole.constant();
  if (!counts_parameters_) op.parameters = op.weight_bytes_whole = op.weight_bytes_local = 0;
  op.whole = std::move(draft.whole);
  op.local = std::move(draft.local.problem);
  op.local_terms = std::move(draft.local.terms);
  if (graph_.configuration.parallel.cp > 1 && op.kind == OperatorKind::attention) split_queries(op);

  graph_.layer_types.back().operators.push_back(as_int(graph_.operators.size()));
  graph_.operators.push_back(std::move(op));
}

void GraphBuilder::embedding(std::string name, std::int64_t vocab, std::int64_t hidden, Split split,
                             bool is_shared) {
  const Extent columns = split == Split::vocab ? padded_by_tp(vocab) : replicated(vocab);
  const std::int64_t dtype = number(precision().activation);
  add({.name = std::move(name),
       .kind = OperatorKind::embedding,
       .split = split,
       .shape_in = shape({tokens_.whole}),
       .shape_out = shape({tokens_.whole, hidden}),
       .weight_bytes = split == Split::vocab ? stored_table_bytes(columns, hidden) : Extent{},
       .shares_embedding = is_shared},
      "embedding", [&](auto side) {
        return Sizing{{"rows", tokens_.*side},
                      {"vocab", columns.*side},
                      {"hidden", hidden},
                      {"src_dtype", dtype},
                      {"dst_dtype", dtype}};
      });
}

void GraphBuilder::hold(const std::string& name, std::int64_t parameters) {
  const std::int64_t width = graph_.spec.hidden, rows = parameters / width;
  if (rows > 0) embedding(name, rows, width);
  if (const std::int64_t rest = parameters % width; rest > 0) {
    embedding(name + "_rest", rest, 1, Split::replicated);
  }
}

GraphBuilder GraphBuilder::of_one_device() const {
  Configuration configuration = graph_.configuration;
  configuration.parallel = {};
  return {graph_.spec, configuration, graph_.form};
}

void GraphBuilder::rope(std::string name, Extent heads, std::int64_t head_dim,
                        std::int64_t rotary_dim, Dtype dst) {
  if (is_quantized_kv(dst)) dst = wide_attention();
  add({.name = std::move(name),
       .split = Split::head,
       .shape_in = shape({tokens_.whole, heads.whole, head_dim})},
      "rope", [&](auto side) {
        return Sizing{{"rows", tokens_.*side},
                      {"heads", heads.*side},
                      {"head_dim", head_dim},
                      {"rotary_dim", rotary_dim},
                      {"src_dtype", number(precision().activation)},
                      {"dst_dtype", number(dst)}};
      });
}

void GraphBuilder::copy(std::string name, Extent bytes, Split split) {
  add({.name = std::move(name), .split = split, .shape_in = shape({bytes.whole})}, "copy",
      [&](auto side) {
        return Sizing{{"bytes", bytes.*side}};
      });
}

void GraphBuilder::residual_add(std::string name, std::int64_t columns) {
  const std::int64_t dtype = number(precision().activation);
  add({.name = std::move(name), .shape_in = shape({tokens_.whole, columns})}, "residual_add",
      [&](auto side) {
        return Sizing{
            {"rows", tokens_.*side}, {"cols", columns}, {"src_dtype", dtype}, {"dst_dtype", dtype}};
      });
}

void GraphBuilder::gated_activation(std::string name, Extent columns, GateKind kind) {
  const std::int64_t dtype = number(precision().activation);
  add({.name = std::move(name),
       .split = Split::column,
       .shape_in = shape({tokens_.whole, 2 * columns.whole}),
       .shape_out = shape({tokens_.whole, columns.whole})},
      "gated_activation", [&](auto side) {
        return Sizing{{"rows", tokens_.*side},
                      {"cols", columns.*side},
                      {"kind", as_int64(kind)},
                      {"src_dtype", dtype},
                      {"dst_dtype", dtype}};
      });
}

void GraphBuilder::activation(std::string name, Extent columns, ActivationKind kind,
                              std::int64_t learned) {
  const std::int64_t dtype = number(precision().activation);
  add({.name = std::move(name),
       .split = Split::column,
       .shape_in = shape({tokens_.whole, columns.whole}),
       .bias = replicated(learned),
       .bias_dtype = precision().activation},
      "activation", [&](auto side) {
        return Sizing{{"rows", tokens_.*side},
                      {"cols", columns.*side},
                      {"kind", as_int64(kind)},
                      {"src_dtype", dtype},
                      {"dst_dtype", dtype}};
      });
}

void GraphBuilder::add(Draft draft, std::string_view op,
                       const std::function<Sizing(Side)>& params) {
  draft.whole = sized_problem(op, params(&Extent::whole)).problem;
  draft.local = sized_problem(op, params(&Extent::local));
  add(std::move(draft));
}

void GraphBuilder::op(const OpSpec& spec, const std::function<Sizing(Side)>& params) {
  add({.name = spec.name,
       .kind = spec.kind,
       .split = spec.split,
       .shape_in = spec.shape_in,
       .shape_out = spec.shape_out,
       .has_parameters = spec.has_parameters,
       .active_parameters = spec.active_parameters,
       .scale_bytes = spec.scale_bytes},
      spec.op, params);
}

}  // namespace halmark
