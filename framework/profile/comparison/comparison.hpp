// The operators of a trace against the operator graph of the model, per pass, layer and operator.
// A trace is of one rank: what it executed is compared with one rank's share, so that replicated
// operators are not multiplied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"
#include "profile/trace/attribution.hpp"

namespace halmark::trace {

enum class Verdict { ok, mismatch, missing_in_trace, not_in_model, unknown };
std::string_view verdict_name(Verdict verdict);

struct ComparedRow {
  std::uint32_t pass = 0;
  std::int32_t layer = -1;           // -1: embedding and head
  std::string operators;             // of the model: "q_proj", "expert_gate_up + expert_down"
  std::vector<std::string> sources;  // "model.layers.0.self_attn.q_proj aten::mm x1"
  std::optional<double> trace_flops, model_flops;  // of the rank that was recorded
  // The same over all ranks and the whole batch: what the trace shows times the model's ratio of
  // whole to rank (replicated operators are not multiplied), and the model's own.
  std::optional<double> scaled_flops, whole_flops;
  Verdict verdict = Verdict::unknown;
  std::string note;
};

// Operators of the trace without matmul FLOPs, and what explains them.
struct ExplainedWork {
  std::string operator_name, explanation;  // explanation "" = nothing does
  std::string path;                        // of its first occurrence
  std::uint64_t count = 0;
};

struct Comparison {
  std::vector<ComparedRow> rows;
  std::vector<ExplainedWork> work;
  std::size_t count(Verdict verdict) const;
  std::uint64_t unexplained() const;  // executions that neither a row nor an explanation has
};

struct LayerRange {
  std::int32_t first = 0, last = 0x7fffffff;
  bool has(std::int32_t layer) const { return layer >= first && layer <= last; }
};

// What attention shows of a pass: the sequences, queries and keys of this rank. Nothing where the
// trace does not tell. Sequences over the whole deployment: times dp and pp.
std::optional<Workload> workload_of(const Attribution& attribution, std::uint32_t pass,
                                    const ModelSpec& spec, const Parallel& parallel);

// Appends the rows of one pass. `tolerance`: largest relative difference that is ok.
void compare_pass(const Recording& recording, const Attribution& attribution, std::uint32_t pass,
                  const OperatorGraph& graph, double tolerance, const LayerRange& layers,
                  Comparison& out);

}  // namespace halmark::trace
