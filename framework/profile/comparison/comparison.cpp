#include "profile/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/text.hpp"
#include "kernels/contract.hpp"
#include "profile/comparison/bindings.hpp"

namespace halmark::trace {
namespace {

// Rows of one layer, and the model's operators that they share.
struct Group {
  std::vector<std::size_t> rows;
  Binding operators;
};

// Operators that one row of the trace binds together are compared as one.
std::vector<Group> groups_of(const std::vector<std::int32_t>& candidates,
                             const std::map<std::size_t, Binding>& bindings) {
  std::map<std::int32_t, std::int32_t> root;
  for (const std::int32_t i : candidates) root[i] = i;
  const auto find = [&](std::int32_t i) {
    while (root[i] != i) i = root[i];
    return i;
  };
  for (const auto& [row, binding] : bindings) {
    for (const std::int32_t i : binding) root[find(i)] = find(binding.front());
  }
  std::map<std::int32_t, Group> groups;
  for (const std::int32_t i : candidates) groups[find(i)].operators.push_back(i);
  for (const auto& [row, binding] : bindings) {
    if (!binding.empty()) groups[find(binding.front())].rows.push_back(row);
  }
  std::vector<Group> out;
  for (auto& [index, group] : groups) out.push_back(std::move(group));
  std::ranges::sort(out, {}, [](const Group& g) { return g.operators.front(); });
  return out;
}

// Attention without a mask computes every pair; the model counts those that the mask leaves.
double unmasked_flops(const Operator& op) {
  const Params& p = op.local.params;
  const auto pairs = [&](std::int64_t heads, std::int64_t width, std::int64_t ratio) {
    return 2 * as_double(p.at("batch") * p.at("new_tokens")) * as_double(p.at("context") / ratio) *
           as_double(heads * width);
  };
  if (op.local.op == "latent_attention")
    return pairs(p.at("heads"), p.at("qk_dim") + p.at("v_dim"), 1);
  if (op.local.op == "masked_attention") {
    return pairs(p.at("heads"), p.at("head_dim") + p.at("value_dim"), 1);
  }
  if (op.local.op == "compressed_attention") {
    const std::int64_t ratio = p.at("ratio");
    const double entries = ratio > 0 ? pairs(p.at("heads"), 2 * p.at("head_dim"), ratio) : 0;
    return pairs(p.at("heads"), 2 * p.at("head_dim"), 1) + entries;
  }
  if (op.local.op == "index_score") return pairs(p.at("heads"), p.at("dim"), p.at("ratio"));
  const auto causal = op.local.params.find("causal");
  if (op.kind != OperatorKind::attention || !causal) return op.local_work.matmul_flops;
  Problem full = op.local;
  full.params.set("causal", 0);
  if (full.params.find("window")) full.params.set("window", 0);
  return find_contract(full.op)->work(full.params).matmul_flops;
}

class PassComparison {
 public:
  PassComparison(const Recording& recording, const Attribution& attribution, std::uint32_t pass,
                 const OperatorGraph& graph, double tolerance, Comparison& out)
      : recording_(recording),
        trace_(attribution),
        pass_(pass),
        graph_(graph),
        tolerance_(tolerance),
        out_(out) {}

  void compare_layer(std::int32_t layer, const std::vector<std::size_t>& rows) {
    const std::vector<std::int32_t> candidates = operators_at(graph_, layer);
    std::vector<std::int32_t> compared;  // what FLOPs of products can be compared with
    std::ranges::copy_if(candidates, std::back_inserter(compared), [&](std::int32_t i) {
      const Operator& op = graph_.operators[as_size(i)];
      return op.local_work.matmul_flops > 0 && !is_recurrence(op);
    });
    std::map<std::size_t, Binding> bindings;
    for (const std::size_t i : rows) {
      const OperatorRow& row = trace_.rows[i];
      Binding binding = bind_product(trace_.scopes, row, trace_.cost_of(row), graph_, candidates);
      std::erase_if(binding, [&](std::int32_t op) { return !contains(compared, op); });
      if (binding.empty()) out_.rows.push_back(unbound(layer, i));
      bindings[i] = std::move(binding);
    }
    for (const Group& group : groups_of(compared, bindings)) {
      out_.rows.push_back(compare(layer, group));
    }
  }

 private:
  std::string source(std::size_t i) const {
    const OperatorRow& row = trace_.rows[i];
    const std::string& path = trace_.scopes[row.scope].path;
    return (path.empty() ? "" : path + ' ') + recording_.names[row.name] + " x" +
           std::to_string(row.count);
  }

  ComparedRow unbound(std::int32_t layer, std::size_t i) const {
    const OperatorCost& cost = trace_.cost_of(trace_.rows[i]);
    ComparedRow out{.pass = pass_,
                    .layer = layer,
                    .sources = {source(i)},
                    .verdict = Verdict::not_in_model,
                    .note = cost.reason};
    if (cost.flops) out.trace_flops = *cost.flops * as_double(trace_.rows[i].count);
    return out;
  }

  // One execution over the whole batch and all ranks, against one of this rank.
  double whole_over_rank(const Group& group) const {
    double whole = 0, rank = 0;
    for (const std::int32_t i : group.operators) {
      const Operator& op = graph_.operators[as_size(i)];
      whole += op.whole ? op.whole_work.matmul_flops : op.local_work.matmul_flops;
      rank += op.local_work.matmul_flops;
    }
    return whole / rank;  // operators that are compared have products
  }

  ComparedRow compare(std::int32_t layer, const Group& group) const {
    ComparedRow out{.pass = pass_, .layer = layer};
    bool is_full = false, is_given = false;
    double trace_flops = 0;
    for (const std::size_t i : group.rows) {
      const OperatorCost& cost = trace_.cost_of(trace_.rows[i]);
      out.sources.push_back(source(i));
      if (cost.attention) {
        is_full |= cost.attention->mask != Mask::causal;
        is_given |= cost.attention->mask == Mask::given;
      } else {
        is_full = true;  // products of their own know no mask; others than attention have none
      }
      if (cost.flops) {
        trace_flops += *cost.flops * as_double(trace_.rows[i].count);
      } else if (out.note.empty()) {
        out.note = "FLOPs unknown: " + cost.reason;
      }
    }
    double model_flops = 0, masked_flops = 0;
    for (const std::int32_t i : group.operators) {
      const Operator& op = graph_.operators[as_size(i)];
      append_item(out.operators, " + ", op.name);
      masked_flops += op.local_work.matmul_flops;
      model_flops += is_full ? unmasked_flops(op) : op.local_work.matmul_flops;
    }
    out.model_flops = model_flops;
    out.whole_flops = model_flops * whole_over_rank(group);
    if (group.rows.empty()) {
      out.verdict = Verdict::missing_in_trace;
      return out;
    }
    if (!out.note.empty()) return out;  // unknown
    out.trace_flops = trace_flops;
    out.scaled_flops = trace_flops * whole_over_rank(group);
    // A cache that keeps no more than the window leaves nothing to mask.
    const bool is_masked = std::fabs(trace_flops - masked_flops) <= tolerance_ * masked_flops;
    if (is_masked) {
      out.model_flops = model_flops = masked_flops;
      out.whole_flops = masked_flops * whole_over_rank(group);
    }
    const double difference = std::fabs(trace_flops - model_flops);
    out.verdict = difference <= tolerance_ * model_flops ? Verdict::ok : Verdict::mismatch;
    if (masked_flops != model_flops) {
      out.note = std::string(is_given ? "the mask is a tensor" : "no mask") +
                 ": every pair is computed and compared; a causal count has " +
                 std::to_string(static_cast<long long>(masked_flops)) + " FLOPs";
    }
    return out;
  }

  const Recording& recording_;
  const Attribution& trace_;
  std::uint32_t pass_;
  const OperatorGraph& graph_;
  double tolerance_;
  Comparison& out_;
};

void explain_work(const Recording& recording, const Attribution& attribution,
                  const OperatorRow& row, const OperatorGraph& graph, std::string explanation,
                  Comparison& out) {
  const std::string& name = recording.names[row.name];
  if (explanation.empty()) explanation = explain(attribution.scopes, row, graph);
  auto* it = find_or_null(out.work, true, [&](const ExplainedWork& w) {
    return w.operator_name == name && w.explanation == explanation;
  });
  if (it) {
    it->count += row.count;
    return;
  }
  out.work.push_back({name, std::move(explanation), attribution.scopes[row.scope].path, row.count});
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return enum_names<Verdict>("ok", "mismatch", "missing in trace", "not in model", "unknown")
      .of(verdict);
}

std::size_t Comparison::count(Verdict verdict) const {
  return as_size(std::ranges::count(rows, verdict, &ComparedRow::verdict));
}

std::uint64_t Comparison::unexplained() const {
  std::uint64_t out = count(Verdict::not_in_model) + count(Verdict::unknown);
  for (const ExplainedWork& w : work) out += w.explanation.empty() ? w.count : 0;
  return out;
}

namespace {

// Whether latent attention made keys and values of the whole context again, as prefill does: its
// kv_b projection had a row per cached token then.
bool expands_cache(const Attribution& attribution, std::uint32_t pass, const ModelSpec& spec,
                   const Workload& seen) {
  if (!spec.latent || seen.phase != Phase::decode || seen.context == seen.new_tokens) return false;
  return std::ranges::any_of(attribution.rows, [&](const OperatorRow& row) {
    const OperatorCost& cost = attribution.cost_of(row);
    const std::string& leaf = attribution.scopes[row.scope].leaf;
    return row.pass == pass && cost.matmul && (leaf == "kv_b_proj" || leaf == "wkv_b") &&
           cost.matmul->m == seen.batch * seen.context;
  });
}

}  // namespace

std::optional<Workload> workload_of(const Attribution& attribution, std::uint32_t pass,
                                    const ModelSpec& spec, const Parallel& parallel) {
  const TraceStage stage = attribution.passes.at(pass).stage;
  const auto workload = [&](std::int64_t batch, std::int64_t queries, std::int64_t keys) {
    const bool is_decode = stage == TraceStage::decode && queries == 1;
    return Workload{.phase = is_decode ? Phase::decode : Phase::prefill,
                    .batch = batch * parallel.dp * parallel.pp,
                    .new_tokens = queries,
                    .context = keys};
  };
  const std::int64_t heads = std::max<std::int64_t>(1, spec.heads / parallel.tp);
  // Layers with a window may have dropped keys that others still see.
  std::optional<Workload> out;
  const auto keep_longer = [&](const Workload& seen) {
    if (!out || seen.context > out->context) out = seen;
  };
  for (const OperatorRow& row : attribution.rows) {
    const OperatorCost& cost = attribution.cost_of(row);
    if (row.pass != pass || row.count == 0) continue;
    if (cost.attention) {
      keep_longer(workload(cost.attention->batch, cost.attention->queries, cost.attention->keys));
      continue;
    }
    const bool is_product = cost.matmul && cost.matmul->batch % heads == 0 &&
                            attribution.scopes[row.scope].kind == ModuleKind::attention;
    if (is_product) {
      const MatmulShape& s = *cost.matmul;
      keep_longer(workload(s.batch / heads, s.m, s.k == spec.head_dim ? s.n : s.k));
    }
  }
  if (out && spec.compressed) {
    // Keys are a window and compressed entries: they tell the context of a first prompt alone.
    if (out->phase == Phase::decode) return std::nullopt;
    out->context = out->new_tokens;
  }
  if (out && expands_cache(attribution, pass, spec, *out)) out->phase = Phase::prefill;
  return out;
}

void compare_pass(const Recording& recording, const Attribution& attribution, std::uint32_t pass,
                  const OperatorGraph& graph, double tolerance, const LayerRange& layers,
                  Comparison& out) {
  std::map<std::int32_t, std::vector<std::size_t>> by_layer;
  const bool is_all = layers.first == 0 && layers.last == LayerRange{}.last;
  if (is_all) by_layer[-1];
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph.layers.size()); ++i) {
    if (layers.has(i)) by_layer[i];
  }
  const auto& rows = attribution.rows;
  const auto first = std::ranges::lower_bound(rows, pass, {}, &OperatorRow::pass);
  for (auto it = first; it != rows.end() && it->pass == pass; ++it) {
    if (it->count == 0) continue;
    const Scope& scope = attribution.scopes[it->scope];
    const std::int32_t layer = scope.layer;
    if (layer < 0 ? !is_all : !layers.has(layer)) continue;
    // Some libraries compute the angles of the rotary embedding as a product.
    std::string part;
    if (has_formula(it->of)) {
      part = explain_product(attribution.scopes, *it, attribution.cost_of(*it), graph);
    }
    if (has_formula(it->of) && part.empty()) {
      by_layer[layer].push_back(as_size(it - rows.begin()));
    } else {
      explain_work(recording, attribution, *it, graph, std::move(part), out);
    }
  }
  PassComparison comparison(recording, attribution, pass, graph, tolerance, out);
  for (const auto& [layer, members] : by_layer) comparison.compare_layer(layer, members);
}

}  // namespace halmark::trace
