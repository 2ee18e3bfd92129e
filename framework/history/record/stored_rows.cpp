#include "history/record/stored_rows.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "core/text/error.hpp"
#include "core/text/url.hpp"

namespace halmark::history {
namespace {

// What a history looks at, too: kernels without a row for longer say little.
constexpr std::size_t runs_looked_at = 60;

std::string device_name(const Measurement& row) {
  return row.kernel_case.backend + ':' + row.kernel_case.device;
}

// Rows of all other devices are dropped and counted.
void keep_one_device(StoredRows& of) {
  std::map<std::string, std::size_t> counts;
  for (const Measurement& row : of.rows) ++counts[device_name(row)];
  of.device =
      std::ranges::max_element(counts, {}, &std::pair<const std::string, std::size_t>::second)
          ->first;
  for (const auto& [name, count] : counts) {
    if (name != of.device) of.left_out["of " + name + ", not " + of.device] += count;
  }
  std::erase_if(of.rows, [&](const Measurement& row) { return device_name(row) != of.device; });
}

void take_peaks(const Store& store, std::int64_t run, StoredRows& out) {
  if (out.peaks) return;
  const auto used = store.rows<UsedPeaks>(run);
  if (!used.empty()) out.peaks = used.back();
}

void add_run(std::vector<Measurement> rows, std::set<KernelCase>& known, StoredRows& out) {
  std::set<KernelCase> of_this;
  for (Measurement& row : rows) {
    if (known.contains(row.kernel_case)) {
      ++out.left_out["of an earlier run than the newest of its kernel"];
      continue;
    }
    of_this.insert(row.kernel_case);
    out.rows.push_back(std::move(row));
  }
  known.merge(of_this);
}

}  // namespace

StoredRows stored_rows(const Store& store, const std::string& path,
                       std::optional<std::int64_t> run) {
  StoredRows out;
  std::set<KernelCase> known;
  const auto runs = run ? std::vector{*run} : store.latest_runs(runs_looked_at);
  for (const std::int64_t id : runs | std::views::reverse) {
    const std::string fingerprint = store.run_info(id).fingerprint;
    std::vector<Measurement> of_run = store.run_measurements(id);
    if (of_run.empty()) continue;
    if (out.fingerprint.empty()) out.fingerprint = fingerprint;
    if (fingerprint != out.fingerprint) {
      out.left_out["of another machine, " + fingerprint] += of_run.size();
      continue;
    }
    take_peaks(store, id, out);
    out.runs.push_back(id);
    add_run(std::move(of_run), known, out);
  }
  store.require_sound();
  if (out.rows.empty()) {
    throw refused("there are no rows of kernels", without_password(path),
                  "halmark bench or tune measure some");
  }
  keep_one_device(out);
  return out;
}

}  // namespace halmark::history
