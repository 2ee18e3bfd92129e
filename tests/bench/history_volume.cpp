// A million measurements in one database: how long a reader waits for it. HALMARK_HISTORY_ROWS sets
// another number.
#include <cmath>
#include <cstdlib>

#include "child.hpp"
#include "core/numeric/random.hpp"
#include "figures.hpp"
#include "history/recorded.hpp"
#include "history/view/history_view.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::int64_t cases = 500, rounds = 3;

Measurement row_of(std::int64_t which, int round, std::uint64_t night) {
  Measurement row;
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  row.kernel_case.problem = {which % 10 == 0 ? "softmax" : "gemm",
                             {{"m", which},
                              {"n", 1024},
                              {"k", 1024},
                              {"src_dtype", f32},
                              {"wei_dtype", f32},
                              {"dst_dtype", f32}}};
  row.kernel_case.backend = "cpu";
  row.round = round;
  row.status = Status::ok;
  row.phase = "sample";
  row.plugin_name = "cpu";
  row.plugin_version = "0.1";
  row.plugin_hash = "aabbccdd";
  row.implementation = {"brgemm:avx512_core", "avx512_core", "oneDNN", "2.6.3"};
  const double ns =
      1e5 * std::exp(0.01 * uniform_01(hash_u64(
                                night, static_cast<std::uint64_t>(which * rounds + round))));
  row.duration_ns_median = ns;
  row.duration_ns_interval = {0.99 * ns, 1.01 * ns};
  row.duration_ns_min = 0.99 * ns;
  row.signals = {{"wall_cpu_ratio", 1.0, ""}, {"run_delay_fraction", 0.0, ""}};
  row.clock_hz_before = row.clock_hz_after = 3.7e9;
  row.bandwidth = {.before = 7e10, .after = 7e10, .age_s = 0.2};
  for (int i = 0; i < 10; ++i) row.samples.push_back({ns + i, 2 * ns, std::nullopt, i % 4});
  return row;
}

void fill(const std::string& path, std::int64_t rows) {
  const auto store = open_store(path);
  const std::int64_t nights = rows / (cases * rounds);
  for (std::int64_t night = 0; night < nights; ++night) {
    const std::int64_t run = store->begin_run({.command = "halmark tune nightly.toml",
                                               .fingerprint = "class@host",
                                               .started_utc = "2026-01-01T02:00:00Z"});
    std::vector<Measurement> batch;
    for (int round = 0; round < rounds; ++round) {
      for (std::int64_t which = 0; which < cases; ++which) {
        batch.push_back(row_of(which, round, static_cast<std::uint64_t>(night)));
      }
    }
    store->append(run, batch);
  }
}

template <class Call>
double milliseconds(Call call) {
  const double begin = monotonic_ns();
  call();
  return (monotonic_ns() - begin) / 1e6;
}

void state_sizes(const std::string& path, Figures& figures) {
  const auto store = open_store_read_only(path);
  const DatabaseSize size = store->size();
  double samples = 0;
  for (const RunSamples& run : store->samples_by_run()) samples += static_cast<double>(run.bytes);
  const auto rows = static_cast<double>(size.rows);
  figures.report("history_sample_bytes_per_row", samples / rows, "bytes");
  figures.at_most("history_bytes_per_row_without_samples",
                  (static_cast<double>(size.bytes) - samples) / rows, "bytes", 4096);
}

void read(const std::string& path, Figures& figures) {
  figures.at_most("history_open", milliseconds([&] { open_store_read_only(path)->latest_run(); }),
                  "ms", 100);
  const std::string key = row_of(7, 0, 0).kernel_case.key();
  figures.at_most("history_query_of_a_series", milliseconds([&] {
                    const auto store = open_store_read_only(path);
                    history::Series series;
                    for (const RowFigures& f : store->case_figures(key, 60 * rounds)) {
                      series.rows.push_back({.run = f.run, .ns = f.row.duration_ns_median});
                    }
                    history::follow_series(series, {});
                  }),
                  "ms", 100);
  figures.report("history_query_of_an_op_of_50_series", milliseconds([&] {
                   history::night_report(*open_store_read_only(path), {.op = "softmax"}, {}, path);
                 }),
                 "ms");
  figures.at_most("history_report_of_a_night", milliseconds([&] {
                                                 const auto night = history::night_report(
                                                     *open_store_read_only(path), {}, {}, path);
                                                 history_html(night);
                                               }) / 1e3,
                  "s", 5);
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    const char* asked = std::getenv("HALMARK_HISTORY_ROWS");
    const std::int64_t rows = asked == nullptr ? 1'000'000 : std::max(15'000, std::atoi(asked));
    const ScratchFolder folder(halmark::test::in_build());
    const std::string path = (folder.path() / "volume.db").string();
    figures.report("history_rows", static_cast<double>(rows), "rows");
    figures.report("history_fill", milliseconds([&] { fill(path, rows); }) / 1e3, "s");
    read(path, figures);
    state_sizes(path, figures);
  });
}
