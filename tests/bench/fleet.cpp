// What sharing one database costs: claims by eight agents, then through 64 connections, on a server
// that syncs every commit. Units are claimed one at a time, which is the hardest case.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "core/text/error.hpp"
#include "figures.hpp"
#include "fleet/sessions.hpp"
#include "fleet/work_table.hpp"
#include "journal/shared_store.hpp"
#include "sql/postgresql.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int units_wanted = 10'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<fleet::WorkUnit> units(std::int64_t run) {
  std::vector<fleet::WorkUnit> out;
  for (int i = 0; i < units_wanted; ++i) {
    KernelCase k{.problem = {.op = "gemm"}, .backend = "fake"};
    k.problem.params.set("m", i + 1);
    out.push_back({.run = run, .name = k.key(), .batch = "b", .cases = {k}});
  }
  return out;
}

struct Claims {
  double seconds = 0;
  std::vector<double> waits_s;  // sorted
  std::int64_t twice = 0;
};

// All units, by so many connections at once.
Claims claim_all(const std::string& url, int connections) {
  const fleet::Fitness need{{"cpu-1a"}, {{"fake", "h"}}, "1"};
  auto store = open_shared_store(url, "bench");
  fleet::WorkTable table(store->session());
  const std::int64_t run = store->begin_run({.command = "bench",
                                             .plan_hash = std::to_string(connections),
                                             .plan_text = "{}",
                                             .fingerprint = "cpu-1a@fleet",
                                             .tool_version = "1",
                                             .tool_build = "b",
                                             .started_utc = "2026-11-27T00:00:00Z"});
  table.add(units(run), {}, need);
  std::mutex mutex;
  std::map<std::int64_t, int> claimed;
  Claims out;
  Clock::time_point begin;
  std::barrier together(connections, [&]() noexcept { begin = Clock::now(); });
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    fleet::Agent agent{.node = "n", .pid = i, .offer = need, .state = "idle"};
    agent.id = table.enter(agent);
    threads.emplace_back([&, agent] {
      const auto session = fleet::agent_session(url);
      fleet::WorkTable own(*session);
      together.arrive_and_wait();
      for (;;) {
        const auto asked = Clock::now();
        const auto claim = own.claim(agent, 1);
        if (claim.units.empty()) return;
        const double waited_s = seconds_since(asked);
        const std::lock_guard lock(mutex);
        out.waits_s.push_back(waited_s);
        out.twice += ++claimed[claim.units[0].id] > 1 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  out.seconds = seconds_since(begin);
  std::ranges::sort(out.waits_s);
  if (claimed.size() != units_wanted) throw Error(ExitCode::incorrect, "units were not claimed");
  return out;
}

void measure(Figures& figures) {
  auto* server = test::PostgresServer::get(true);
  if (server == nullptr) throw unfit("no PostgreSQL server could be started");
  const std::string url = server->database();
  const Claims eight = claim_all(url, 8);
  figures.at_least("claims_of_8_agents", units_wanted / eight.seconds, "claims/s", 500);
  const Claims many = claim_all(url, 64);
  figures.at_least("claims_of_64_connections", units_wanted / many.seconds, "claims/s", 1000);
  const double median_s = many.waits_s[many.waits_s.size() / 2];
  figures.at_most("longest_wait_of_64", many.waits_s.back() / median_s, "medians", 10);
  figures.report("median_wait_of_64", 1e3 * median_s, "ms");
  figures.at_most("double_claims", static_cast<double>(eight.twice + many.twice), "claims", 0);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
