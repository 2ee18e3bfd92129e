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

}  // namespace halmark::serving
