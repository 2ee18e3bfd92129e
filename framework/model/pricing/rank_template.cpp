#include "model/pricing/rank_template.hpp"

#include <algorithm>

#include "kernels/routing.hpp"

namespace halmark {

namespace {

std::size_t at(ProbedMeasure measure) { return static_cast<std::size_t>(measure); }

std::vector<std::int64_t> rows_of_ranks(const std::vector<std::int64_t>& counts, int ranks) {
  std::vector<std::int64_t> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(rows_of(counts, local_experts(std::ssize(counts), ranks, rank)));
  }
  return out;
}

// In which order measures are tried. Sizes of routed experts are close to those of tokens, and now
// and then equal: what an operator is says which of them it follows.
std::vector<ProbedMeasure> candidates(const Operator& op, std::string_view param) {
  using M = ProbedMeasure;
  const bool is_of_tensor = op.local.op == "moe_dispatch" || op.local.op == "moe_combine";
  const bool do_ranks_differ = !op.of_expert_rank.empty();
  std::vector<M> out;
  if (param == "ep_rank" && do_ranks_differ) {
    out.push_back(is_of_tensor ? M::tensor_heaviest : M::group_heaviest);
  } else if (op.local.op == "all_to_all" && param == "bytes") {
    out.push_back(M::pair_rows);
  } else if (do_ranks_differ && param != "tokens") {
    out.push_back(M::nothing);
    out.push_back(is_of_tensor ? M::tensor_rows : M::group_rows);
  }
  for (const M m : {M::nothing, M::tokens, M::sequences, M::context, M::new_tokens, M::cached}) {
    out.push_back(m);
  }
  return out;
}

bool is_index(ProbedMeasure measure) {
  return measure == ProbedMeasure::group_heaviest || measure == ProbedMeasure::tensor_heaviest;
}

}  // namespace

RankTemplate::Measures RankTemplate::measures(const RankLoad& load) const {
  Measures out{};
  out[at(ProbedMeasure::nothing)] = 1;
  out[at(ProbedMeasure::tokens)] = load.tokens();
  out[at(ProbedMeasure::sequences)] = load.sequences;
  out[at(ProbedMeasure::context)] = load.context;
  out[at(ProbedMeasure::new_tokens)] = load.new_tokens;
  out[at(ProbedMeasure::cached)] = load.context - load.new_tokens;
  return out;
}

// The same views of the rows as GraphBuilder::plan_routing takes.
void RankTemplate::add_routed(const RankLoad& load, Measures& out) const {
  const auto counts = [&](std::int64_t tokens) {
    return routing_counts(tokens, experts_->top_k, experts_->experts, routing_skew_);
  };
  const std::int64_t across = layout_.across_replicas;
  const auto of_replica = counts(load.tokens());
  const auto of_group = across == 1 ? of_replica : counts(load.tokens() * across);
  const std::int64_t group = std::ranges::max(rows_of_ranks(of_group, layout_.ep));
  out[at(ProbedMeasure::group_rows)] = group;
  out[at(ProbedMeasure::tensor_rows)] =
      std::ranges::max(rows_of_ranks(of_replica, layout_.in_tensor));
  out[at(ProbedMeasure::pair_rows)] = std::max(
      std::ranges::max(rows_of_ranks(of_replica, layout_.ep)), (group + across - 1) / across);
  out[at(ProbedMeasure::group_heaviest)] = heaviest_rank(of_group, layout_.ep);
  out[at(ProbedMeasure::tensor_heaviest)] = heaviest_rank(of_replica, layout_.in_tensor);
}

std::optional<RankTemplate> RankTemplate::find(const Probe& probe, std::span<const RankLoad> loads,
                                               const ExpertLayout& layout,
                                               std::int64_t routing_skew) {
  RankTemplate out;
  out.layout_ = layout;
  out.routing_skew_ = routing_skew;
  std::vector<OperatorGraph> graphs;
  for (const RankLoad& load : loads) graphs.push_back(probe(load));
  out.experts_ = graphs.front().spec.moe;
  std::vector<Measures> measured;
  for (const RankLoad& load : loads) {
    measured.push_back(out.measures(load));
    if (out.experts_) out.add_routed(load, measured.back());
  }

  const OperatorGraph& first = graphs.front();
  for (std::size_t i = 0; i < first.operators.size(); ++i) {
    Entry entry{.op = first.operators[i], .moving = {}};
    entry.contract = find_contract(entry.op.local.op);
    const auto& items = entry.op.local.params.items();
    for (const OperatorGraph& graph : graphs) {
      if (graph.operators.size() != first.operators.size() ||
          graph.operators[i].name != entry.op.name ||
          graph.operators[i].local.op != entry.op.local.op ||
          graph.operators[i].local.params.size() != items.size()) {
        return std::nullopt;
      }
    }
    for (std::size_t p = 0; p < items.size(); ++p) {
      const auto value = [&](std::size_t g) {
        return graphs[g].operators[i].local.params.items()[p].value;
      };
      const auto fits = [&](ProbedMeasure measure) -> std::optional<std::int64_t> {
        const std::int64_t unit = measured[0][at(measure)];
        if (!is_index(measure) && (unit == 0 || value(0) % unit != 0)) return std::nullopt;
        const std::int64_t factor = is_index(measure) ? 1 : value(0) / unit;
        for (std::size_t g = 0; g < graphs.size(); ++g) {
          if (value(g) != factor * measured[g][at(measure)]) return std::nullopt;
        }
        return factor;
      };
      bool is_found = false;
      for (const ProbedMeasure measure : candidates(entry.op, items[p].name)) {
        const auto factor = fits(measure);
        if (!factor) continue;
        is_found = true;
        if (measure != ProbedMeasure::nothing) entry.moving.push_back({p, measure, *factor});
        break;
      }
      if (!is_found) return std::nullopt;
    }
    const auto moves_with = [&](ProbedMeasure measure) {
      return std::ranges::find(entry.moving, measure, &Entry::Moving::measure) !=
             entry.moving.end();
    };
    entry.dependence = moves_with(ProbedMeasure::context) || moves_with(ProbedMeasure::cached)
                           ? Dependence::context
                           : Dependence::sequences;
    out.entries_.push_back(std::move(entry));
  }
  for (std::size_t type = 0; type < first.layer_types.size(); ++type) {
    for (const std::int32_t index : first.layer_types[type].operators) {
      out.entries_[static_cast<std::size_t>(index)].layer_type = static_cast<std::int32_t>(type);
    }
  }
  out.find_needs();
  return out;
}

void RankTemplate::visit(Dependence dependence, const RankLoad& load,
                         const std::function<void(const Entry&)>& use) {
  Measures measured = measures(load);
  if (needs_routing_[static_cast<std::size_t>(dependence)]) add_routed(load, measured);
  for (Entry& entry : entries_) {
    if (entry.dependence != dependence) continue;
    Params& params = entry.op.local.params;
    for (const Entry::Moving& moving : entry.moving) {
      params.set(params.items()[moving.param].name, moving.factor * measured[at(moving.measure)]);
    }
    if (!entry.moving.empty()) {
      entry.op.local_work = entry.contract->work(params);
    }
    use(entry);
  }
}

void RankTemplate::find_needs() {
  needs_routing_ = {};
  for (const Entry& entry : entries_) {
    for (const Entry::Moving& moving : entry.moving) {
      if (moving.measure < ProbedMeasure::group_rows) continue;
      needs_routing_[static_cast<std::size_t>(entry.dependence)] = true;
    }
  }
}

void mark_shared(RankTemplate& decode, RankTemplate& prefill) {
  using Moving = RankTemplate::Entry::Moving;
  const auto is_of_tokens = [](const RankTemplate::Entry& entry) {
    return std::ranges::none_of(entry.moving, [](const Moving& m) {
      return m.measure == ProbedMeasure::sequences || m.measure == ProbedMeasure::context ||
             m.measure == ProbedMeasure::new_tokens || m.measure == ProbedMeasure::cached;
    });
  };
  const auto is_same = [](const RankTemplate::Entry& a, const RankTemplate::Entry& b) {
    if (a.op.name != b.op.name || a.op.layer_type != b.op.layer_type ||
        a.op.local.op != b.op.local.op || a.moving.size() != b.moving.size()) {
      return false;
    }
    for (std::size_t i = 0; i < a.moving.size(); ++i) {
      if (a.moving[i].param != b.moving[i].param || a.moving[i].measure != b.moving[i].measure ||
          a.moving[i].factor != b.moving[i].factor) {
        return false;
      }
    }
    const auto &x = a.op.local.params.items(), &y = b.op.local.params.items();
    for (std::size_t p = 0; p < x.size(); ++p) {
      const bool is_moving = std::ranges::find(a.moving, p, &Moving::param) != a.moving.end();
      if (!is_moving && x[p] != y[p]) return false;
    }
    return true;
  };
  for (RankTemplate::Entry& a : decode.entries()) {
    if (!is_of_tokens(a)) continue;
    for (RankTemplate::Entry& b : prefill.entries()) {
      if (!is_of_tokens(b) || !is_same(a, b)) continue;
      a.dependence = b.dependence = RankTemplate::Dependence::tokens;
    }
  }
  decode.find_needs();
  prefill.find_needs();
}

}  // namespace halmark
