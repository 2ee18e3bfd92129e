// Circuits, tables of times, traffic, small tables, and what engines' own benchmarks print.
#include <stdexcept>

#include "circuit/qasm.hpp"
#include "circuit/qpu_device.hpp"
#include "deploy/bench/engine_bench.hpp"
#include "feed.hpp"
#include "latency/imported/kernel_table.hpp"
#include "plan/device/node_file.hpp"
#include "plan/toml/load_file.hpp"
#include "simulate/serving/load.hpp"
#include "survive.hpp"

namespace halmark::fuzz {

void feed_qasm(std::string_view text) {
  survive([&] {
    const circuit::Circuit circuit = circuit::parse_qasm(text, "circuit.qasm");
    for (const int version : {2, 3}) {
      const std::string once = circuit::qasm_text(circuit, version);
      if (circuit::qasm_text(circuit::parse_qasm(once, "again.qasm"), version) != once) {
        throw std::logic_error("a circuit does not survive its own text");
      }
    }
  });
}

void feed_latency_table(std::string_view text) {
  survive([&] {
    const CsvTable table = CsvTable::parse(text, "table.csv");
    const ImportedTable out = kernel_table(table, known_layouts(table));
    if (out.rows != table.rows()) throw std::logic_error("a row is neither read nor skipped");
  });
}

void feed_traffic(std::string_view text) {
  survive([&] {
    const serving::Load load = serving::parse_trace(text, "traffic.csv");
    serving::Picoseconds before = 0;
    for (const serving::RequestPlan& request : load.requests) {
      if (request.arrival_ps < before || request.input_tokens < 1 || request.output_tokens < 1) {
        throw std::logic_error("a request that cannot be");
      }
      before = request.arrival_ps;
    }
  });
}

void feed_engine_bench(std::string_view text) {
  const std::string copy(text);
  const auto check = [](const std::vector<EngineStep>& steps) {
    for (const EngineStep& step : steps) {
      if (!(step.step_ns > 0)) throw std::logic_error("a step without a time");
    }
  };
  survive([&] { check(deploy::llama_bench_steps(copy, "bench.json").steps); });
  survive([&] {
    check(deploy::vllm_bench_steps(copy, "bench.json",
                                   {.batch = 8, .input_tokens = 32, .output_tokens = 128})
              .steps);
  });
  survive([&] { check(deploy::openvino_bench_steps(copy, "bench.json").steps); });
}

// Tables of a few kinds that are one [[list]] each.
void feed_small_file(std::string_view text) {
  survive([&] { (void)parse_load(text, "load.toml"); });
  survive([&] { (void)parse_nodes(text, "nodes.toml"); });
  survive([&] { (void)parse_layout(text, "layout.toml"); });
  survive([&] { (void)circuit::parse_qpu(text, "qpu.toml"); });
}

}  // namespace halmark::fuzz
