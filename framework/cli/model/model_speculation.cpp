// halmark model --mtp: what a decode step drafts and verifies, and how many tokens come of it.
#include <fmt/format.h>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"
#include "model/utilisation/explain.hpp"

namespace halmark::cli {

namespace {

double draft_flops(const OperatorGraph& graph) {
  double out = 0;
  for (const Operator& op : graph.operators) {
    if (graph.is_prediction(op)) out += op.matmul_flops;
  }
  return out;
}

// Decode without speculation yields one token a sequence and step.
double tokens_per_s(const ModelPage& page, double tokens_per_step) {
  const auto sequences = static_cast<double>(page.graph.configuration.workload.batch);
  return sequences * tokens_per_step * 1e3 / *page.options.measured_ms;
}

std::string sum_text(std::int64_t drafted) {
  std::string out = "1";
  for (std::int64_t i = 1; i <= drafted; ++i) {
    out += i == 1 ? " + a" : " + a^" + std::to_string(i);
  }
  return out;
}

}  // namespace

std::string explain_tokens_per_step(const ModelPage& page) {
  const std::int64_t drafted = page.graph.drafted;
  const double a = *page.options.acceptance;
  return fmt::format(
      "expected tokens per step: sum of a^i for i = 0..N = (1 - a^(N+1)) / (1 - a), N drafted "
      "tokens, each accepted with probability a (2211.17192, equation 1)\n"
      "N {}, a {}: {} = {:.6f}\n",
      drafted, a, sum_text(drafted), expected_tokens_per_step(drafted, a));
}

ModelSection speculation_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  if (g.drafted == 0) return {};
  const double drafts = draft_flops(g), verify = g.totals.matmul_flops - drafts;
  Json data = {{"drafted", g.drafted},
               {"modules", g.spec.prediction_modules},
               {"verified_tokens", 1 + g.drafted},
               {"draft_matmul_flops", drafts},
               {"verify_matmul_flops", verify},
               {"acceptance_rate", optional_number(page.options.acceptance)},
               {"expected_tokens_per_step", nullptr},
               {"tokens_per_s", nullptr}};
  std::string text = fmt::format(
      "speculation: {} drafted by {} module(s), {:.3f} GFLOP; verifying {} tokens a sequence, "
      "{:.3f} GFLOP\n",
      g.drafted, g.spec.prediction_modules, drafts / 1e9, 1 + g.drafted, verify / 1e9);
  if (page.options.acceptance) {
    const double tokens = expected_tokens_per_step(g.drafted, *page.options.acceptance);
    data["expected_tokens_per_step"] = tokens;
    text += fmt::format("expected tokens per step and sequence {:.4f} at acceptance {}\n", tokens,
                        *page.options.acceptance);
    if (page.options.measured_ms) {
      data["tokens_per_s"] = tokens_per_s(page, tokens);
      data["tokens_per_s_none_accepted"] = tokens_per_s(page, 1);
      text += fmt::format("{:.1f} tokens/s; {:.1f} where no draft is accepted\n",
                          tokens_per_s(page, tokens), tokens_per_s(page, 1));
    }
  }
  return {.data = {{"speculation", std::move(data)}}, .text = std::move(text)};
}

}  // namespace halmark::cli
