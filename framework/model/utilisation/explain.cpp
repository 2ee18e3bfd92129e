#include "model/utilisation/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "model/graph/context_split.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

namespace {

std::string number(std::int64_t value) { return grouped_digits(as_double(value)); }

std::string product(std::string_view formula, std::initializer_list<std::int64_t> factors,
                    double flops) {
  std::string out = std::string(formula) + " = 2";
  for (const std::int64_t factor : factors) out += " x " + std::to_string(factor);
  return out + " = " + grouped_digits(flops) + " FLOPs";
}

// "batch (S P + S (S + 1) / 2)" with the mask's own pairs, from the FLOPs that the contract gave.
std::string attention_lines(const Problem& problem, double flops) {
  const Params& p = problem.params;
  const std::int64_t s = p.at("new_tokens"), cached = p.at("context") - s;
  const std::int64_t heads = p.at("heads"), width = p.at("head_dim"), window = p.at("window");
  const double pairs = flops / as_double(4 * heads * width);
  std::string mask;
  if (p.at("causal") == 0) {
    mask = "S (P + S)";
  } else if (window > 0 && window < s + cached) {
    mask = "sum over queries of min(position + 1, window " + number(window) + ")";
  } else {
    mask = "S P + S (S + 1) / 2";
  }
  const auto count = as_int64(std::llround(pairs));
  return "pairs: batch (" + mask + ") = " + number(p.at("batch")) + " sequences, S " + number(s) +
         ", P " + number(cached) + " = " + grouped_digits(pairs) + "\n" +
         "score: " + product("2 heads head_dim pairs", {heads, width, count}, flops / 2) + "\n" +
         "AV: " + product("2 heads head_dim pairs", {heads, width, count}, flops / 2);
}

std::string grouped_gemm_line(const Problem& problem, double flops) {
  const Params& p = problem.params;
  const std::int64_t n = p.at("n"), k = p.at("k");
  const double rows = flops / as_double(2 * n * k);
  return "grouped gemm: " + product("2 rows n k", {std::llround(rows), n, k}, flops) +
         " (rows = " + number(p.at("tokens")) + " tokens x " + number(p.at("top_k")) +
         " experts of each, all ranks)";
}

std::string one_execution(const Operator& op, const Problem& problem, const Work& work) {
  const Params& p = problem.params;
  if (problem.op == "gemm" || problem.op == "packed_gemm") {
    return "gemm: " + product("2 m n k", {p.at("m"), p.at("n"), p.at("k")}, work.matmul_flops);
  }
  if (problem.op == "attention") return attention_lines(problem, work.matmul_flops);
  if (problem.op == "grouped_gemm" || problem.op == "packed_grouped_gemm")
    return grouped_gemm_line(problem, work.matmul_flops);
  std::string out = problem.op + ": ";
  std::string sizes;
  for (const auto& [name, value] : p.items()) {
    if (!name.ends_with("dtype")) append_item(sizes, ", ", name + ' ' + number(value));
  }
  if (work.matmul_flops > 0) {
    out += grouped_digits(work.matmul_flops) + " FLOPs of products";
  } else if (op.kind == OperatorKind::collective) {
    out += grouped_digits(work.transfer_bytes) + " bytes through the link of a rank";
  } else {
    out += "no matrix product";
  }
  return out + " (" + sizes + ")";
}

std::string bytes_line(const Work& work) {
  return "bytes of one execution on one rank: read " + grouped_digits(work.bytes_read) +
         " + written " + grouped_digits(work.bytes_written) + " = " + grouped_digits(work.bytes()) +
         ", of these " + grouped_digits(work.constant_bytes) + " weights or cache";
}

// Experts without a stated routing have a share of the rows that need not be whole.
std::string one_rank(const Operator& op) {
  const double local = op.rank_work.matmul_flops;
  if (op.of_context_rank.empty()) {
    return "one rank: " + (local == op.local_work.matmul_flops
                               ? one_execution(op, op.local, op.local_work)
                               : grouped_digits(local) + " FLOPs, its share of the rows");
  }
  std::string out;
  for (const Problem& block : heaviest_blocks(op.of_context_rank)) {
    out += "one block of queries of one rank: " +
           one_execution(op, block, find_contract(block.op)->work(block.params)) + "\n";
  }
  return out + "one rank: both blocks = " + grouped_digits(local) + " FLOPs";
}

std::string rank_lines(const OperatorGraph& graph, const Operator& op, double passes) {
  std::string out = "split " + std::string(split_name(op.split)) + " over " +
                    graph.configuration.parallel.text() + ", micro-batches " +
                    number(graph.micro_batches()) + " of " + number(graph.micro_batch()) +
                    " sequences\n";
  std::int64_t layers = 0;
  for (const std::int64_t count : op.stage_counts) layers = std::max(layers, count);
  const double local = op.rank_work.matmul_flops;
  if (local <= 0) return out;
  out += one_rank(op) + "\n";
  out += "  x " + number(layers) + " layers of its stage x " + number(graph.micro_batches()) +
         " micro-batches" + (passes == 1 ? "" : " x " + grouped_digits(passes) + " passes") +
         " = " + grouped_digits(local * as_double(layers * graph.micro_batches()) * passes) +
         " FLOPs a rank\n";
  return out;
}

std::string training_line(const OperatorTraining& cost) {
  return "training: forward " + grouped_digits(cost.forward) + " + backward " +
         grouped_digits(cost.backward) + " = " + grouped_digits(cost.forward + cost.backward) +
         " FLOPs; recomputed " + grouped_digits(cost.recomputed) + "\n";
}

std::string floor_line(const RooflineEstimate& floor) {
  char text[160];
  std::snprintf(text, sizeof text,
                "floor of one execution: compute %.3f us, memory %.3f us: bound by %s\n",
                floor.compute_ns / 1e3, floor.memory_ns / 1e3, limiter_name(floor.limiter).data());
  return text;
}

}  // namespace

std::string grouped_digits(double value) {
  char rounded[400];
  std::snprintf(rounded, sizeof rounded, "%.0f", std::abs(value));
  const std::string digits = rounded;
  std::string out;
  for (const auto i : indices(digits)) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return (value < 0 ? "-" : "") + out;
}

std::string explain_operator(const OperatorGraph& graph, std::size_t op_index,
                             const std::optional<TrainingCost>& training,
                             const std::optional<RooflineEstimate>& floor) {
  const Operator& op = graph.operators.at(op_index);
  std::string out = op.name + " of " + op.layer_type + ", " + std::string(dtype_name(op.dtype)) +
                    ", " + op.shape_in + " -> " + op.shape_out + "\n";
  if (op.whole) {
    out += one_execution(op, *op.whole, op.whole_work) + "\n";
    if (op.matmul_flops > 0) {
      out += "  x " + number(op.count) + " layers = " + grouped_digits(op.matmul_flops) +
             " FLOPs in the whole model\n";
    }
  } else {
    out += one_execution(op, op.local, op.local_work) + "\n";
  }
  if (op.parameters > 0) {
    out += "parameters: " + number(op.parameters) + " x " + number(op.count) + " = " +
           number(op.parameters * op.count) + "\n";
  }
  const double passes = training ? training->operators[op_index].passes : 1;
  out += rank_lines(graph, op, passes);
  if (training) out += training_line(training->operators[op_index]);
  out += bytes_line(op.rank_work) + "\n";
  if (floor) out += floor_line(*floor);
  return out;
}

}  // namespace halmark
