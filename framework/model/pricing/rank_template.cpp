// Two operators are the same function of the tokens when op, constants and terms are equal; that is
// a comparison of what builders wrote, not of figures at some loads.
#include "model/pricing/rank_template.hpp"

#include <algorithm>

namespace halmark {

namespace {

using Entry = RankTemplate::Entry;
using Dependence = RankTemplate::Dependence;

LoadMeasures measures_of(const Operator& op) {
  LoadMeasures out = 0;
  for (const ParamTerm& moving : op.local_terms) out |= moving.term->measures();
  return out;
}

bool is_derived(const OpContract& contract, std::string_view param) {
  return std::ranges::any_of(
      contract.params(), [&](const ParamSpec& spec) { return spec.derived && spec.name == param; });
}

// The same problem for every load, apart from derived parameters, which follow from the others.
bool is_same_function(const Entry& a, const Entry& b) {
  const Operator &x = a.op, &y = b.op;
  if (x.name != y.name || x.layer_type != y.layer_type || x.local.op != y.local.op ||
      x.local.params.size() != y.local.params.size()) {
    return false;
  }
  const auto is_same_term = [](const ParamTerm& s, const ParamTerm& t) {
    return s.param == t.param && *s.term == *t.term;
  };
  if (!std::ranges::equal(x.local_terms, y.local_terms, is_same_term)) return false;
  const auto &p = x.local.params.items(), &q = y.local.params.items();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const bool is_moving =
        std::ranges::find(x.local_terms, i, &ParamTerm::param) != x.local_terms.end();
    if (!is_moving && !is_derived(*a.contract, p[i].name) && p[i] != q[i]) return false;
  }
  return true;
}

}  // namespace

RankTemplate::RankTemplate(const OperatorGraph& graph) : branches_(graph.branches) {
  for (const Operator& op : graph.operators) {
    const bool has_context = (measures_of(op) & mask_of(LoadMeasure::context)) != 0;
    entries_.push_back({.op = op,
                        .dependence = has_context ? Dependence::context : Dependence::sequences,
                        .contract = find_contract(op.local.op)});
  }
  for (std::size_t type = 0; type < graph.layer_types.size(); ++type) {
    for (const std::int32_t index : graph.layer_types[type].operators) {
      entries_[static_cast<std::size_t>(index)].layer_type = static_cast<std::int32_t>(type);
    }
  }
  sort_entries();
}

bool RankTemplate::agrees_with(const RankLoad& load) const {
  return std::ranges::all_of(branches_, [&](const LoadBranch& branch) {
    return (branch.size->at(load) > 0) == branch.is_any;
  });
}

void RankTemplate::move(Entry& entry, const RankLoad& load) {
  if (entry.op.local_terms.empty()) return;
  set_load(entry.op, *entry.contract, load, entry.op.local.params);
  entry.op.local_work = entry.contract->work(entry.op.local.params);
}

void RankTemplate::sort_entries() {
  for (auto& entries : of_) entries.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    of_[static_cast<std::size_t>(entries_[i].dependence)].push_back(i);
  }
}

void RankTemplate::share_tokens(const RankTemplate& other) {
  for (Entry& entry : entries_) {
    const LoadMeasures beside = measures_of(entry.op) & ~mask_of(LoadMeasure::tokens);
    const bool is_shared = beside == 0 && std::ranges::any_of(other.entries_, [&](const Entry& e) {
                             return is_same_function(entry, e);
                           });
    if (is_shared) entry.dependence = Dependence::tokens;
  }
  sort_entries();
}

bool RankTemplate::is_alike_without_context(const RankTemplate& other) const {
  for (const auto dependence : {Dependence::tokens, Dependence::sequences}) {
    const auto at = static_cast<std::size_t>(dependence);
    const bool is_alike =
        std::ranges::equal(of_[at], other.of_[at], [&](std::size_t a, std::size_t b) {
          return is_same_function(entries_[a], other.entries_[b]);
        });
    if (!is_alike) return false;
  }
  return true;
}

}  // namespace halmark
