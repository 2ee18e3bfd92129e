#include "simulate/serving/fitted_terms.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::serving {
namespace {

// H100 SXM; times of kernels from the tables of the same origin (TensorRT-LLM 1.3.0rc20, vLLM
// 0.24.0). device_scale, step, sequence, token, prompt step of a layer, arrival, its token (ns).
constexpr FittedTerms table[] = {
    {.engine = "trtllm",
     .model = "",
     .series = {.terms = {.device_scale = 0.88,
                          .step_ns = 197000,
                          .sequence_ns = 18900,
                          .token_ns = 403,
                          .prompt_step_ns = 532000,
                          .arrival_ns = 41200000,
                          .arrival_token_ns = 10.4},
                .waves = 7.73,
                .token_budget = 1024,
                .chunks_prompts = false,
                .fuses_quantize = true,
                .requests_short = 0},
     .ttft = {0.66, 2.77},
     .tpot = {0.74, 1.13},
     .points = "80 points of 52 curves, every third of all series"},
    {.engine = "trtllm",
     .model = "llama-3.1-8b",
     .series = {.terms = {.device_scale = 0.917,
                          .step_ns = 170000,
                          .sequence_ns = 13600,
                          .token_ns = 499,
                          .prompt_step_ns = 470000,
                          .arrival_ns = 19900000,
                          .arrival_token_ns = 2.44e+03},
                .waves = 6.47,
                .token_budget = 1024,
                .chunks_prompts = false,
                .requests_short = 1},
     .ttft = {0.84, 4.84},
     .tpot = {0.85, 1.09},
     .points = "92 points of 26 curves, release 1.0.0rc3"},
    {.engine = "trtllm",
     .model = "qwen3-32b",
     .series = {.terms = {.device_scale = 0.901,
                          .step_ns = 100000,
                          .sequence_ns = 0,
                          .token_ns = 2.35e+03,
                          .prompt_step_ns = 547000,
                          .arrival_ns = 17200000,
                          .arrival_token_ns = 2.59e+03},
                .waves = 7.3,
                .token_budget = 1024,
                .chunks_prompts = false,
                .fuses_quantize = true,
                .requests_short = 0},
     .ttft = {0.83, 1.58},
     .tpot = {0.81, 1.21},
     .points = "84 points of 27 curves, release 1.0.0rc3"},
    {.engine = "trtllm",
     .model = "qwen3-235b-a22b",
     .series = {.terms = {.device_scale = 0.702,
                          .step_ns = 207000,
                          .sequence_ns = 71800,
                          .token_ns = 930,
                          .prompt_step_ns = 38200,
                          .arrival_ns = 105000000,
                          .arrival_token_ns = 297},
                .waves = 9.13,
                .token_budget = 1024,
                .chunks_prompts = false,
                .requests_short = 0},
     .ttft = {0.76, 1.60},
     .tpot = {0.81, 1.25},
     .points = "58 points of 16 curves, release 1.0.0rc3"},
    {.engine = "vllm",
     .model = "",
     .series = {.terms = {.device_scale = 0.895,
                          .step_ns = 92100,
                          .sequence_ns = 57300,
                          .token_ns = 150,
                          .prompt_step_ns = 153000,
                          .arrival_ns = 7950000,
                          .arrival_token_ns = 1.25e+03},
                .waves = 7.05,
                .token_budget = 1024,
                .chunks_prompts = false,
                .requests_short = 0},
     .ttft = {0.54, 1.61},
     .tpot = {0.74, 1.10},
     .points = "35 points of 24 curves, every third of all series"},
    {.engine = "vllm",
     .model = "qwen3-32b",
     .series = {.terms = {.device_scale = 1.03,
                          .step_ns = 119000,
                          .sequence_ns = 35800,
                          .token_ns = 38.3,
                          .prompt_step_ns = 297000,
                          .arrival_ns = 9780000,
                          .arrival_token_ns = 2.38e+03},
                .waves = 7.96,
                .token_budget = 1024,
                .chunks_prompts = false,
                .requests_short = 0},
     .ttft = {0.88, 1.23},
     .tpot = {0.95, 1.09},
     .points = "46 points of 13 curves, release 0.12.0"},
    {.engine = "vllm",
     .model = "llama-3.1-70b",
     .series = {.terms = {.device_scale = 0.861,
                          .step_ns = 149000,
                          .sequence_ns = 27200,
                          .token_ns = 300,
                          .prompt_step_ns = 0,
                          .arrival_ns = 0,
                          .arrival_token_ns = 0},
                .waves = 9.26,
                .token_budget = 1024,
                .chunks_prompts = false,
                .requests_short = 0},
     .ttft = {0.64, 1.20},
     .tpot = {0.96, 1.07},
     .points = "25 points of 7 curves, release not stated"},
    {.engine = "vllm",
     .model = "gpt-oss-120b",
     .series = {.terms = {.device_scale = 0.785,
                          .step_ns = 253000,
                          .sequence_ns = 0,
                          .token_ns = 187,
                          .prompt_step_ns = 194000,
                          .arrival_ns = 6310000,
                          .arrival_token_ns = 1.97e+03},
                .waves = 4.87,
                .token_budget = 2048,
                .chunks_prompts = true,
                .requests_short = 0},
     .ttft = {0.69, 1.21},
     .tpot = {0.76, 1.20},
     .points = "24 points of 6 curves, release 0.18.0"},
};

}  // namespace

std::span<const FittedTerms> all_fitted_terms() { return table; }

const FittedTerms& fitted_terms(std::string_view engine, std::string_view model) {
  const FittedTerms* found = nullptr;
  for (const FittedTerms& row : table) {
    if (row.engine == engine && (row.model == model || (row.model.empty() && found == nullptr))) {
      found = &row;
    }
  }
  if (found != nullptr) return *found;
  std::set<std::string> known;
  for (const FittedTerms& row : table) known.emplace(row.engine);
  throw refused("no terms of an engine '" + printable(engine) + "'", "--engine",
                suggestion(engine, {known.begin(), known.end()}));
}

std::string source_text(const FittedTerms& terms) {
  return "terms of " + std::string(terms.engine) +
         (terms.model.empty() ? std::string(", all models") : " with " + std::string(terms.model)) +
         ", fitted on " + std::string(terms.points) +
         " of the 2,597 published deployments of ai-dynamo/aiconfigurator@095f58a5, H100; measured "
         "over predicted in 90 % of cases: TTFT " +
         number_text(terms.ttft.low, 3) + " to " + number_text(terms.ttft.high, 3) + ", TPOT " +
         number_text(terms.tpot.low, 3) + " to " + number_text(terms.tpot.high, 3);
}

std::int64_t requests_held(const EnginePlan& plan, const RequestShape& shape) {
  const std::int64_t tokens =
      shape.input_tokens + (plan.reserves_output ? shape.output_tokens : shape.output_tokens / 2);
  const std::int64_t each = (tokens + plan.block_tokens - 1) / plan.block_tokens;
  const std::int64_t fit = std::max<std::int64_t>(1, plan.blocks / each);
  return plan.requests_max > 0 ? std::min(plan.requests_max, fit) : fit;
}

}  // namespace halmark::serving
