// Databases of made-up nights for tests.
#pragma once

#include "journal/store.hpp"
#include "rows.hpp"

namespace halmark::history::test {

inline Measurement measurement(std::int64_t m, double ns, int round) {
  Measurement out;
  out.kernel_case.problem = {"gemm", {{"m", m}, {"n", 64}, {"k", 64}}};
  out.kernel_case.backend = "cpu";
  out.round = round;
  out.status = Status::ok;
  out.phase = "sample";
  out.plugin_name = "cpu";
  out.plugin_version = "0.1";
  out.plugin_hash = "aabbccddeeff";
  out.duration_ns_median = ns;
  out.duration_ns_interval = {ns, ns};
  out.samples = {{.wall_ns = ns, .cpu_ns = ns}};
  return out;
}

struct StoredNights {
  int nights = 1;
  double step = 0;  // of gemm m=1 from `step_at` on; m=2 never changes
  int step_at = 1000;
  std::string fingerprint = "class@host";
  std::uint64_t seed = 1;
};

// One run a day from 2026-01-01 on, three rounds of two kernels each.
inline void store_nights(const std::string& path, const StoredNights& made) {
  const std::unique_ptr<Store> store = open_store(path);
  for (int night = 0; night < made.nights; ++night) {
    const std::string day = std::to_string(night + 1);
    const std::int64_t run = store->begin_run(
        {.command = "halmark bench",
         .fingerprint = made.fingerprint,
         .tool_version = "0.1",
         .started_utc = "2026-01-" + (day.size() < 2 ? "0" + day : day) + "T02:00:00Z"});
    std::vector<Measurement> rows;
    for (int round = 0; round < 3; ++round) {
      for (std::int64_t m = 1; m <= 2; ++m) {
        const auto counter = static_cast<std::uint64_t>(night * 6 + round * 2 + m);
        const double code = m == 1 && night >= made.step_at ? 1 + made.step : 1;
        rows.push_back(
            measurement(m, 1000 * code * std::exp(0.005 * normal(made.seed, counter)), round));
      }
    }
    store->append(run, rows);
  }
}

}  // namespace halmark::history::test
