// halmark model --mtp and --explain: what a decode step drafts and verifies, and the formulas
// behind single figures.
#include <fmt/format.h>

#include <algorithm>

#include "cli/model/model_page.hpp"
#include "model/utilisation/explain.hpp"

namespace halmark::cli {

namespace {

std::string sum_text(std::int64_t drafted) {
  std::string out = "1";
  for (std::int64_t i = 1; i <= drafted; ++i) {
    out += i == 1 ? " + a" : " + a^" + std::to_string(i);
  }
  return out;
}

// The formula behind the expected tokens; needs an acceptance rate.
std::string explain_tokens_per_step(const ModelPage& page) {
  const std::int64_t drafted = page.step.graph.drafted;
  const double a = *page.step.question.acceptance;
  return fmt::format(
      "expected tokens per step: sum of a^i for i = 0..N = (1 - a^(N+1)) / (1 - a), N drafted "
      "tokens, each accepted with probability a (2211.17192, equation 1)\n"
      "N {}, a {}: {} = {:.6f}\n",
      drafted, a, sum_text(drafted), expected_tokens_per_step(drafted, a));
}

std::size_t operator_named(const OperatorGraph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.name == name || op.layer_type + '/' + op.name == name) return i;
    if (std::ranges::find(known, op.name) == known.end()) known.push_back(op.name);
  }
  throw refused("unknown operator '" + printable(name) + "'", {}, suggestion(name, known));
}

}  // namespace

std::string speculation_text(const ModelPage& page) {
  const std::optional<SpeculationFigures> s = speculation_of(page.step);
  if (!s) return {};
  const OperatorGraph& g = page.step.graph;
  std::string out = fmt::format(
      "speculation: {} drafted by {} module(s), {:.3f} GFLOP; verifying {} tokens a sequence, "
      "{:.3f} GFLOP\n",
      g.drafted, g.spec.prediction_modules, s->draft_flops / 1e9, 1 + g.drafted,
      s->verify_flops / 1e9);
  if (s->tokens_per_step) {
    out += fmt::format("expected tokens per step and sequence {:.4f} at acceptance {}\n",
                       *s->tokens_per_step, *page.step.question.acceptance);
  }
  if (s->tokens_per_s) {
    out += fmt::format("{:.1f} tokens/s; {:.1f} where no draft is accepted\n", *s->tokens_per_s,
                       *s->tokens_per_s_none_accepted);
  }
  return out;
}

std::string explain_text(const ModelPage& page) {
  const std::string& wanted = page.options.explain;
  if (wanted.empty()) return {};
  if (wanted == "expected_tokens_per_step" && page.step.question.acceptance) {
    return explain_tokens_per_step(page);
  }
  const std::size_t index = operator_named(page.step.graph, wanted);
  return explain_operator(page.step.graph, index, page.step.cost,
                          operator_floor(page.step, page.step.graph.operators[index]));
}

}  // namespace halmark::cli
