// Models, kernel tables, fabrics and Parquet.
#include "feed.hpp"

#include <stdexcept>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/pricing/memory.hpp"
#include "parquet/parquet_cells.hpp"
#include "profile/kernels/kernel_account.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/fabric_json.hpp"
#include "survive.hpp"

namespace halmark::fuzz {
namespace {

const OperatorGraph& small_graph() {
  static const OperatorGraph graph = [] {
    const ModelSpec spec = read_model(R"({"model_type": "qwen3_moe", "num_hidden_layers": 2,
      "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
      "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
      "norm_topk_prob": true, "vocab_size": 32, "tie_word_embeddings": false})",
                                      "small.json");
    return *build_graph(spec, {.model = "small"});
  }();
  return graph;
}

const Device& small_device() {
  static const Device device = {
      .id = "small",
      .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e12},
                {.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e11}},
      .bandwidths = {{.level = "memory", .bytes_per_s = 1e11}}};
  return device;
}

void build(const ModelSpec& spec, const Workload& workload) {
  const auto built = build_graph(spec, {.model = "m", .workload = workload});
  if (const auto* graph = built.get()) (void)memory_use(*graph);
}

void account(const KernelProfile& table) {
  const KernelAccount out = account_kernels(table, small_graph(), small_device(), {});
  if (out.assigned_ps + out.overhead_ps + out.unknown_ps != out.total_ps) {
    throw std::logic_error("time is not conserved");
  }
}

}  // namespace

void feed_model_config(std::string_view text) {
  survive([&] {
    const ModelSpec spec = read_model(text, "config.json");
    build(spec, {.phase = Phase::prefill, .batch = 2, .new_tokens = 8, .context = 16});
    build(spec, {.phase = Phase::decode, .batch = 1, .new_tokens = 1, .context = 16});
  });
}

void feed_kernel_table(std::string_view text) {
  survive([&] { account(read_kernel_flow(parse_json(text, "flow.json"), "flow.json")); });
  survive([&] { account(read_kernel_ms(parse_json(text, "ms.json"), "ms.json")); });
}

void feed_fabric(std::string_view text) {
  survive([&] {
    const fabric::Topology topology = fabric::parse_fabric(text, "fabric.toml");
    constexpr std::size_t small = 256;
    if (topology.entities.size() > small) return;
    // Writing it refuses what is no number.
    (void)dump_json(fabric::fabric_json(topology, fabric::level_views(topology),
                                        fabric::bisection_of(topology)));
  });
}

void feed_parquet(std::string_view bytes) {
  survive([&] {
    const ParquetReader reader(std::string(bytes), "table.parquet");
    std::uint64_t rows = 0;
    for (ParquetCells cells(reader); cells.next(); ++rows) {
      if (cells.row().size() != reader.columns().size()) throw std::logic_error("a ragged row");
    }
    if (rows != reader.rows()) throw std::logic_error("rows are not what the file states");
  });
}

}  // namespace halmark::fuzz
