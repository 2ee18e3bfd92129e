// Two operators are the same function of the tokens when op, constants and terms are equal; that is
// a comparison of what builders wrote, not of figures at some loads.
#include "model/pricing/layout/rank_template.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"

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
  if (x.name != y.name || x.routed != y.routed || x.layer_type != y.layer_type ||
      x.local.op != y.local.op || x.local.params.size() != y.local.params.size()) {
    return false;
  }
  const auto is_same_term = [](const ParamTerm& s, const ParamTerm& t) {
    return s.param == t.param && *s.term == *t.term;
  };
  if (!std::ranges::equal(x.local_terms, y.local_terms, is_same_term)) return false;
  const auto &p = x.local.params.items(), &q = y.local.params.items();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const bool is_moving = contains(x.local_terms, i, &ParamTerm::param);
    if (!is_moving && !is_derived(*a.contract, p[i].name) && p[i] != q[i]) return false;
  }
  return true;
}

}  // namespace

std::int32_t ProblemForms::id_of(const Operator& op) {
  Form form{op.local, {}, op.group_stride, op.routed};
  const OpContract& contract = *find_contract(op.local.op);
  const auto clear = [&](std::size_t param) { form.problem.params.set_at(param, 0); };
  for (const ParamTerm& moving : op.local_terms) {
    form.moving.push_back(moving.param);
    clear(moving.param);
  }
  for (std::size_t i = 0; i < op.local.params.size(); ++i) {
    if (is_derived(contract, op.local.params.items()[i].name)) clear(i);
  }
  const auto next = static_cast<std::int32_t>(ids_.size());
  return ids_.try_emplace(std::move(form), next).first->second;
}

RankTemplate::RankTemplate(const OperatorGraph& graph, ProblemForms& forms)
    : branches_(graph.branches) {
  for (const Operator& op : graph.operators) {
    const bool has_context = (measures_of(op) & mask_of(LoadMeasure::context)) != 0;
    const OpContract* contract = find_contract(op.local.op);
    entries_.push_back({.op = op,
                        .dependence = has_context ? Dependence::context : Dependence::sequences,
                        .contract = contract,
                        .has_derived = has_derived(*contract),
                        .form = forms.id_of(op),
                        .terms = {}});
    auto& terms = entries_.back().terms;
    for (const ParamTerm& moving : op.local_terms) terms.push_back(term_index(moving.term));
    if (op.routed) terms.push_back(term_index(op.routed_tokens));
    if (terms.size() > FormedProblem::values_max) {
      throw std::logic_error("more parameters of " + op.name + " move than a formed problem holds");
    }
  }
  for (std::size_t type = 0; type < graph.layer_types.size(); ++type) {
    for (const std::int32_t index : graph.layer_types[type].operators) {
      entries_[as_size(index)].layer_type = static_cast<std::int32_t>(type);
    }
  }
  sort_entries();
}

bool RankTemplate::agrees_with(const RankLoad& load) const {
  return std::ranges::all_of(branches_, [&](const LoadBranch& branch) {
    return (branch.size->at(load) > 0) == branch.is_any;
  });
}

std::size_t RankTemplate::term_index(const SizeTerm::Pointer& term) {
  const auto at =
      std::ranges::find_if(terms_, [&](const Term& known) { return *known.term == *term; });
  const auto index = as_size(at - terms_.begin());
  if (at == terms_.end()) terms_.push_back({.term = term});
  return index;
}

FormedProblem RankTemplate::problem_of(const Entry& entry, const RankLoad& load) {
  FormedProblem out{.form = entry.form};
  for (std::size_t i = 0; i < entry.terms.size(); ++i) {
    Term& term = terms_[entry.terms[i]];
    if (term.visit != visit_) {
      term.value = term.term->at(load);
      term.visit = visit_;
    }
    out.values[i] = term.value;
  }
  return out;
}

void RankTemplate::Entry::move(const FormedProblem& to) {
  if (op.local_terms.empty()) return;
  Params& params = op.local.params;
  for (std::size_t i = 0; i < op.local_terms.size(); ++i) {
    params.set_at(op.local_terms[i].param, to.values[i]);
  }
  if (has_derived) set_derived(*contract, params);
  op.local_work = contract->work(params);
  op.rank_work = op.routed ? scaled(op.local_work, op.routed->at(to.values[op.local_terms.size()]))
                           : op.local_work;
}

void RankTemplate::sort_entries() {
  for (auto& entries : of_) entries.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    of_[as_size(entries_[i].dependence)].push_back(i);
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
    const auto at = as_size(dependence);
    const bool is_alike =
        std::ranges::equal(of_[at], other.of_[at], [&](std::size_t a, std::size_t b) {
          return is_same_function(entries_[a], other.entries_[b]);
        });
    if (!is_alike) return false;
  }
  return true;
}

}  // namespace halmark
