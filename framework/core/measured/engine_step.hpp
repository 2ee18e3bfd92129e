// Steps that a serving engine measured of itself, by its own benchmark or by its own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fields/fields.hpp"

namespace halmark {

// One time of a benchmark's output. What the output does not say is "" or 0, and nobody guesses it.
struct EngineStep {
  std::string engine;          // as --as names it: "llamacpp", "vllm"; "openvino"
  std::string engine_version;  // its build: "b5163 (8cf427ff)"
  std::string model;           // as the output calls it
  std::string model_id;        // the known model that the user says it is
  std::string precision;       // of its weights, in the engine's own words
  std::string device;          // in the output's words, or the user's
  // "prefill": all prompts of a batch once; "decode": one further token of every sequence;
  // "request": prompts and all further tokens together; "inference": one call of a graph.
  std::string phase;
  std::int64_t batch = 0;                   // sequences at a time
  std::int64_t input_tokens = 0;            // of each prompt
  std::int64_t output_tokens = 0;           // generated for each
  std::int64_t cached_tokens = 0;           // already there when the measurement began
  double step_ns = 0;                       // the mean
  std::optional<double> deviation_ns;       // standard deviation of the samples
  std::optional<double> least_ns, most_ns;  // where the output states these instead
  std::int64_t samples = 0;                 // whose mean it is
  std::string how;                          // what was timed, in a clause
  bool operator==(const EngineStep&) const = default;
};
template <class V, Of<EngineStep> M>
void fields(V& v, M& m) {
  v("engine", m.engine);
  v("engine_version", m.engine_version);
  v("model", m.model);
  v("model_id", m.model_id);
  v("precision", m.precision);
  v("device", m.device);
  v("phase", m.phase);
  v("batch", m.batch);
  v("input_tokens", m.input_tokens);
  v("output_tokens", m.output_tokens);
  v("cached_tokens", m.cached_tokens);
  v("step_ns", m.step_ns);
  v.later("deviation_ns", m.deviation_ns);
  v.later("least_ns", m.least_ns);
  v.later("most_ns", m.most_ns);
  v("samples", m.samples);
  v("how", m.how);
}

// One file of a benchmark, as it was imported.
struct EngineImport {
  std::string tool;  // "llama-bench", "vllm-bench", "openvino-bench"; "deploy-check"
  std::string file, file_sha256;
  std::string imported_utc;
  std::vector<EngineStep> steps;
  // Of the file's rows, requests or lines how many were taken; the rest with its counts and
  // reasons.
  std::string unit;
  std::int64_t in_file = 0, taken = 0;
  std::vector<std::string> left_out;
  bool operator==(const EngineImport&) const = default;
};
template <class V, Of<EngineImport> M>
void fields(V& v, M& m) {
  v("tool", m.tool);
  v("file", m.file);
  v("file_sha256", m.file_sha256);
  v("imported_utc", m.imported_utc);
  v("steps", m.steps);
  v.unless_default("unit", m.unit);
  v.unless_default("in_file", m.in_file);
  v.unless_default("taken", m.taken);
  v.unless_default("left_out", m.left_out);
}

}  // namespace halmark
