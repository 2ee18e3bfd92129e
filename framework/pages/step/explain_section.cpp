// halmark model --mtp and --explain: what a decode step drafts and verifies, the formulas behind
// single figures, and the words around them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/utilisation/explain.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/quantity.hpp"
#include "report/views/glossary_view.hpp"

namespace halmark::pages {

namespace {

std::string sum_text(std::int64_t drafted) {
  std::string out = "1";
  for (std::int64_t i = 1; i <= drafted; ++i) {
    out += i == 1 ? " + a" : " + a^" + std::to_string(i);
  }
  return out;
}

// The formula behind the expected tokens; needs an acceptance rate.
std::string explain_tokens_per_step(const PricedStep& step) {
  const std::int64_t drafted = step.graph.drafted;
  const double a = *step.question.acceptance;
  return fmt::format(
      "expected tokens per step: sum of a^i for i = 0..N = (1 - a^(N+1)) / (1 - a), N drafted "
      "tokens, each accepted with probability a (2211.17192, equation 1)\n"
      "N {}, a {}: {} = {:.6f}\n"
      "accepted over drafted, as engines count it: (a + ... + a^N) / N = {:.6f}\n",
      drafted, a, sum_text(drafted), expected_tokens_per_step(drafted, a),
      accepted_over_drafted(drafted, a));
}

// Each once, in order.
std::vector<std::string> operator_names(const OperatorGraph& graph) {
  std::vector<std::string> out;
  for (const Operator& op : graph.operators) {
    if (!contains(out, op.name)) out.push_back(op.name);
  }
  return out;
}

// The first of this name, or "layer_type/name".
std::optional<std::size_t> operator_named(const OperatorGraph& graph, const std::string& name) {
  for (const auto i : indices(graph.operators)) {
    const Operator& op = graph.operators[i];
    if (op.name == name || op.layer_type + '/' + op.name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string speculation_text(const StepPage& page) {
  const std::optional<SpeculationFigures> s = speculation_of(page.step);
  if (!s) return {};
  const OperatorGraph& g = page.step.graph;
  std::string out = fmt::format(
      "speculation: {} drafted by {} module(s), {:.3f} GFLOP; verifying {} tokens a sequence, "
      "{:.3f} GFLOP\n",
      g.drafted, g.spec.prediction_modules, s->draft_flops / 1e9, 1 + g.drafted,
      s->verify_flops / 1e9);
  if (s->tokens_per_step) {
    out += fmt::format(
        "expected tokens per step and sequence {:.4f} at acceptance {} of each draft, accepted "
        "over "
        "drafted {:.4f} as engines count it\n",
        *s->tokens_per_step, *page.step.question.acceptance, *s->accepted_over_drafted);
  }
  if (s->tokens_per_s) {
    out += fmt::format("{:.1f} tokens/s; {:.1f} where no draft is accepted\n", *s->tokens_per_s,
                       *s->tokens_per_s_none_accepted);
  }
  return out;
}

report::View explained(const PricedStep& step, const std::string& wanted, int width) {
  const OperatorGraph& graph = step.graph;
  if (wanted == "expected_tokens_per_step" && step.question.acceptance) {
    return {.data = Json::object(), .text = explain_tokens_per_step(step)};
  }
  if (const auto index = operator_named(graph, wanted)) {
    return {.data = Json::object(),
            .text = explain_operator(graph, *index, step.cost,
                                     operator_floor(step, graph.operators[*index]))};
  }
  if (const report::Term* term = report::find_term(wanted)) {
    return report::term_view(*term, width);
  }
  std::vector<std::string> known = operator_names(graph);
  std::ranges::copy(report::glossary_words(), std::back_inserter(known));
  throw refused(fmt::format("'{}' is no operator of this step and no word of the glossary",
                            printable(wanted)),
                {}, suggestion(wanted, known));
}

report::View explainable(const PricedStep& step, int width) {
  std::string names = join(operator_names(step.graph), ", ");
  report::View out = report::glossary_view(width);
  out.data["operators"] = operator_names(step.graph);
  out.text += report::wrapped("operators of this step, with their formulas: " + names, width);
  return out;
}

}  // namespace halmark::pages
