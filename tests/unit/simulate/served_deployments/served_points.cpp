#include "served_points.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/pricing/kernel_table.hpp"
#include "model/spec/model_spec.hpp"
#include "simulate/serving/cache_room.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::test {
namespace {

const tune::Folders model_files = {in_source("/configs/models")};
const tune::Folders device_files = {in_source("/configs/devices")};
constexpr double memory_fraction = 0.9;

}  // namespace

std::string ServedRow::curve() const {
  return device + ' ' + engine + ' ' + release + ' ' + model + ' ' + dtype + ' ' + parallel.text() +
         ' ' + std::to_string(request.input_tokens) + '+' + std::to_string(request.output_tokens);
}

std::vector<ServedRow> read_served_rows(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<ServedRow> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    ServedRow r;
    fields >> r.id >> r.device >> r.engine >> r.release >> r.model >> r.dtype >> r.parallel.tp >>
        r.parallel.dp >> r.parallel.pp >> r.parallel.ep >> r.request.input_tokens >>
        r.request.output_tokens >> r.clients >> r.ttft_ms >> r.tpot_ms;
    if (!fields) continue;
    ServedRow::Apart apart;
    Parallel& p = apart.prefill;
    fields >> p.tp >> p.dp >> p.pp >> p.ep >> apart.prefill_workers >> apart.decode_workers;
    if (fields) r.apart = apart;
    out.push_back(std::move(r));
  }
  return out;
}

tune::ServingQuestion question_of(const ServedRow& row) {
  tune::ServingQuestion out;
  out.model = row.model;
  out.dtype = row.dtype;
  out.latency = {.sources = tune::default_sources(), .device = row.device, .engine = row.named()};
  out.tp = row.parallel.tp;
  out.dp = row.parallel.dp;
  out.pp = row.parallel.pp;
  out.ep = row.parallel.ep;
  if (row.apart) {
    out.mode = "disaggregated";
    out.prefill = row.apart->prefill;
    out.prefill_workers = row.apart->prefill_workers;
    out.decode_workers = row.apart->decode_workers;
  }
  out.load.shape = row.request;
  out.load.clients = row.clients;
  out.load.requests = std::max<std::int64_t>(8 * row.clients, 32);
  out.begins_at_once = true;
  return out;
}

struct ServedPoints::Server {
  Device device;
  tune::PricedLatencies latencies;
};

struct ServedPoints::Steps {
  ModelSpec spec;
  Precision precision;
  std::unique_ptr<StepPricer> pricer;
};

ServedPoints::ServedPoints(std::vector<ServedRow> rows) : rows_(std::move(rows)) {
  for (const ServedRow& row : rows_) {
    if (!row.apart) add(row);
  }
}

ServedPoints::~ServedPoints() = default;

void ServedPoints::add(const ServedRow& row) {
  auto& server = servers_[row.device + ' ' + row.engine];
  if (!server) {
    const Device device = tune::target_device({.device = row.device}, device_files);
    const tune::LatencyChoice choice{.sources = {"forecast:" + row.engine, "roofline"},
                                     .where = row.id,
                                     .device = row.device,
                                     .engine = row.named()};
    server = std::make_unique<Server>(
        device, tune::priced_latencies(choice, device, device_files, std::nullopt));
  }
  auto& steps =
      steps_[row.device + ' ' + row.engine + ' ' + row.release + ' ' + row.model + ' ' + row.dtype];
  if (!steps) {
    steps = std::make_unique<Steps>();
    steps->spec = load_model(row.model, model_files);
    steps->precision =
        precision_of(row.dtype, tune::served_facts(steps->spec, server->device, row.named()));
    const LatencyChain& chain = server->latencies.chain;
    steps->pricer = std::make_unique<StepPricer>(
        steps->spec,
        [&chain](const Operator& op) {
          return kernel_time(chain.latency(op.local, op.local_work, op.group_stride));
        },
        nullptr, 0);
  }
  const auto layout = steps->pricer->layout(row.parallel, steps->precision);
  if (steps->pricer->refusal(layout)) return;
  auto& clock = clocks_[row.device + ' ' + row.engine + ' ' + row.release + ' ' + row.model + ' ' +
                        row.dtype + ' ' + row.parallel.text()];
  if (!clock) clock = std::make_unique<serving::LayoutClock>(*steps->pricer, layout);
  const std::int64_t engines = std::int64_t{row.parallel.dp} * row.parallel.pp;
  Point point{&row,
              {.request = row.request,
               .clients = (row.clients + engines - 1) / engines,
               .plan = {.keeps_prefixes = false},
               .clock = clock.get(),
               .ttft_ns = row.ttft_ms * 1e6,
               .tpot_ns = row.tpot_ms * 1e6,
               .curve = row.curve()}};
  const std::int64_t context = row.request.input_tokens + row.request.output_tokens;
  const auto memory =
      static_cast<std::int64_t>(static_cast<double>(server->device.memory_bytes) * memory_fraction);
  point.figures.plan.blocks =
      serving::cache_room(*steps->pricer, layout, memory, 8192, 16, context).blocks;
  if (point.figures.plan.blocks * 16 >= context) points_.push_back(std::move(point));
}

}  // namespace halmark::test
