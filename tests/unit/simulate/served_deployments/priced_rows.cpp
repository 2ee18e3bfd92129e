#include "priced_rows.hpp"

#include <algorithm>
#include <vector>

#include "model/pricing/kernel_table.hpp"
#include "model/spec/model_spec.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::test {
namespace {

const tune::Folders models = {halmark::test::in_source("/configs/models")};
const tune::Folders devices = {halmark::test::in_source("/configs/devices")};

// Of the engine's own kernels, and the collectives of NCCL where the engine has none.
std::vector<std::string> tables_of(const std::filesystem::path& folder,
                                   const std::string& backend) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".parquet") continue;
    const bool is_kind = path.find("/gemm/") != path.npos ||
                         path.find("/attention/") != path.npos || path.find("/moe/") != path.npos ||
                         path.find("/comm/") != path.npos;
    const bool is_engine =
        path.find('/' + backend + '/') != path.npos || path.find("/nccl/") != path.npos;
    if (is_kind && is_engine) out.push_back("imported:" + path);
  }
  // The engine's all-reduce goes before that of NCCL.
  std::ranges::sort(out, {},
                    [](const std::string& p) { return std::pair(p.find("/nccl/") != p.npos, p); });
  return out;
}

}  // namespace

bool fuses_quantize(const ServedRow& row) {
  return row.backend == "trtllm" && row.gemm_quantization == "fp8";
}

struct PricedRows::Engine {
  ModelSpec spec;
  Precision precision;
  std::unique_ptr<StepPricer> steps;
};

PricedRows::PricedRows(std::filesystem::path tables, std::string device)
    : tables_(std::move(tables)),
      device_(tune::target_device({.device = std::move(device)}, devices)) {}

PricedRows::~PricedRows() = default;

PricedRows::Engine& PricedRows::engine_of(const ServedRow& row) {
  const std::string series = row.gemm_quantization == "fp8_block" ? "block128" : "";
  const std::string tables = row.backend + ' ' + series;
  auto known = latencies_.find(tables);
  if (known == latencies_.end()) {
    tune::LatencyChoice choice{
        .sources = tables_of(tables_, row.backend), .where = "served rows", .device = device_.id};
    choice.sources.emplace_back("interpolated");
    choice.sources.emplace_back("roofline");
    if (!series.empty()) choice.series = {"gemm f8_e4m3fn " + series};
    choice.series_where = "served rows";
    known =
        latencies_.emplace(tables, tune::priced_latencies(choice, device_, devices, std::nullopt))
            .first;
  }
  auto& engine = engines_[tables + row.model + row.dtype];
  if (!engine) {
    engine = std::make_unique<Engine>();
    engine->spec = load_model(row.model, models);
    engine->precision = precision_of(row.dtype, tune::precision_facts(engine->spec, true));
    const LatencyChain& chain = known->second.chain;
    engine->steps = std::make_unique<StepPricer>(
        engine->spec,
        [&chain, fuses = fuses_quantize(row)](const Operator& op) {
          if (fuses && op.local.op == "block_quantize") return no_executions;
          return kernel_time(chain.latency(op.local, op.local_work, op.group_stride));
        },
        nullptr, 0);
  }
  return *engine;
}

PricedRows::Priced PricedRows::of(const ServedRow& row) {
  Engine& engine = engine_of(row);
  return {engine.steps.get(), engine.steps->layout(row.parallel, engine.precision), &engine.spec,
          engine.precision};
}

}  // namespace halmark::test
