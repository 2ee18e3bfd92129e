// benchmark_app of OpenVINO's Python package: the report of the C++ sample with other words for its
// keys, and every figure as text (openvino/tools/benchmark/utils/statistics_report.py).

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"

namespace halmark::deploy {
namespace {

double number(const BenchObject& in, const char* key) {
  const std::string text = in.text(key);
  const auto out = read_number<double>(text);
  if (!out) {
    throw refused("'" + printable(text) + "' is no number", in.place(key));
  }
  return *out;
}

double latency_ns(const BenchObject& results, const char* key) {
  return checked_time(number(results, key) * millisecond_ns, results.place(key));
}

std::int64_t count(const BenchObject& in, const char* key) {
  const double out = number(in, key);
  if (!(out >= 0 && out <= 1e15)) throw refused("no count", in.place(key));
  return as_int64(out);
}

}  // namespace

std::vector<EngineStep> openvino_app_steps(const BenchObject& setup, const BenchObject& results) {
  EngineStep out{.engine = "openvino",
                 .model = setup.text("topology"),
                 .device = setup.text("target device"),
                 .phase = "inference",
                 .batch = count(setup, "batch size"),
                 .step_ns = latency_ns(results, "avg latency"),
                 .least_ns = latency_ns(results, "min latency"),
                 .most_ns = latency_ns(results, "max latency"),
                 .samples = count(results, "total number of iterations"),
                 .how = "one call of the whole graph"};
  if (*out.least_ns > out.step_ns || *out.most_ns < out.step_ns) {
    throw refused("the mean lies outside of min latency .. max latency",
                  results.place("avg latency"));
  }
  return {out};
}

}  // namespace halmark::deploy
