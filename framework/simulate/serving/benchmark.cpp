#include "simulate/serving/benchmark.hpp"

#include <algorithm>

#include "simulate/serving/server/server.hpp"

namespace halmark::serving {
namespace {

// The first, two that stand for the later ones, and one that is not looked at, in which clients
// have ended already.
constexpr std::int64_t waves_simulated = 4;

BenchmarkFigures mean_of(const ServerRecord& record, std::int64_t begin, std::int64_t end) {
  BenchmarkFigures out;
  for (std::int64_t i = begin; i < end; ++i) {
    const RequestRecord& r = record.requests[static_cast<std::size_t>(i)];
    out.ttft_ns += static_cast<double>(r.first_ps - r.arrival_ps) * 1e-3;
    out.tpot_ns += static_cast<double>(r.end_ps - r.first_ps) * 1e-3 /
                   static_cast<double>(std::max<std::int64_t>(1, r.output_tokens - 1));
  }
  const auto count = static_cast<double>(end - begin);
  return {out.ttft_ns / count, out.tpot_ns / count};
}

}  // namespace

BenchmarkFigures simulate_benchmark(const EnginePlan& plan, const RequestShape& request,
                                    std::int64_t clients, double waves, StepClock& clock) {
  ServerPlan server;
  server.engine = plan;
  server.keeps_timeline = false;
  const Load load =
      load_of({.shape = request, .requests = clients * waves_simulated, .clients = clients});
  const ServerRecord record = simulate_server(server, load, clock, clock);
  const BenchmarkFigures first = mean_of(record, 0, clients);
  const BenchmarkFigures later = mean_of(record, clients, clients * (waves_simulated - 1));
  const double share = 1 / std::max(1.0, waves);
  return {share * first.ttft_ns + (1 - share) * later.ttft_ns,
          share * first.tpot_ns + (1 - share) * later.tpot_ns};
}

std::optional<ClosedLoopFigures> simulate_closed_loop(StepPricer& steps, StepPricer::Layout layout,
                                                      const RequestShape& request,
                                                      std::int64_t clients,
                                                      std::int64_t token_budget,
                                                      const ServingEngine& engine) {
  ServerPlan server;
  server.engine = {
      .token_budget = token_budget, .chunks_prompts = engine.chunks_prompts, .terms = engine.terms};
  const std::int64_t block = server.engine.block_tokens;
  server.engine.blocks = clients * ((request.input_tokens + request.output_tokens) / block + 2);
  server.keeps_timeline = false;
  const auto requests = static_cast<std::int64_t>(engine.waves) * clients;
  const Load load = load_of({.shape = request, .requests = requests, .clients = clients});
  LayoutClock clock(steps, layout, engine.terms.device_scale);
  const ServerRecord record = simulate_server(server, load, clock, clock);
  const BenchmarkFigures mean = mean_of(record, 0, requests);
  return ClosedLoopFigures{
      .ttft_ns = mean.ttft_ns,
      .tpot_ns = mean.tpot_ns,
      .request_ns = mean.ttft_ns + static_cast<double>(request.output_tokens - 1) * mean.tpot_ns};
}

}  // namespace halmark::serving
