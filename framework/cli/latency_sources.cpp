#include "cli/latency_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/console/facts.hpp"
#include "core/error.hpp"
#include "journal/store.hpp"
#include "latency/imported/imported_source.hpp"
#include "latency/interpolation.hpp"
#include "roofline/cluster.hpp"

namespace halmark::cli {

namespace {

constexpr std::string_view imported_prefix = "imported:", journal_prefix = "journal:";
const std::vector<std::string> known_sources = {"journal:FILE", "imported:FILE", "interpolated",
                                                "roofline", "measured"};

// Times by problem of the whole device with constants read cold, as a step meets them.
using JournalTimes = std::map<Problem, Latency>;

// Of the latest run; of several variants of a problem the fastest. Throws Error (exit 2) for a file
// without a run, or of another machine than `target` was measured on.
JournalTimes journal_times(const std::string& file, const Device& target,
                           const std::string& where) {
  const auto store = open_store_read_only(file);
  const auto run = store->latest_run();
  if (!run) throw refused("there is no run in " + file, where);
  const std::string fingerprint = store->run_info(*run).fingerprint;
  if (fingerprint != target.fingerprint) {
    throw refused(file + " was measured on " + fingerprint + ", which is not " + target.id, where,
                  "name the device file that halmark peaks wrote there");
  }
  std::map<KernelCase, std::vector<Measurement>> rows;
  for (Measurement& m : store->run_measurements(*run)) {
    const KernelCase c = m.kernel_case;
    const bool is_whole = c.parts == 1 && c.shards_at_once == 1;
    if (is_whole && c.mode == CacheMode::rotate_const) rows[c].push_back(std::move(m));
  }
  JournalTimes out;
  for (const auto& [kernel_case, rounds] : rows) {
    const auto latency = fold_usable_rounds(rounds, 0);
    if (!latency) continue;
    const auto [known, is_new] = out.emplace(kernel_case.problem, *latency);
    if (!is_new && latency->ns < known->second.ns) known->second = *latency;
  }
  return out;
}

}  // namespace

struct ModelledLatencies::Sources {
  Sources(const Device& target, std::optional<double> network) : roofline(target, network) {}
  ClusterRoofline roofline;
  bool has_roofline = false;
  std::optional<double> network_bytes_per_s;
  std::vector<std::string> files;
  JournalTimes journal;
  ImportedSource imported;
  bool are_exact = true;  // the tables are of the target itself
  std::vector<Interpolation> interpolations;
  std::vector<std::string> basis;

  std::optional<Latency> of(const KernelCase& kernel_case, const Work& work) const {
    const auto floor = roofline.floor_ns(kernel_case.problem, work);
    const auto with_floor = [&](Latency latency) {
      latency.lower_bound_ns = std::min(floor.value_or(0), latency.low_ns);
      return latency;
    };
    if (const auto own = journal.find(kernel_case.problem); own != journal.end()) {
      return with_floor(own->second);
    }
    if (are_exact) {
      if (auto latency = imported.latency(kernel_case)) return with_floor(*std::move(latency));
    }
    for (const Interpolation& one : interpolations) {
      if (auto latency = one.latency(kernel_case.problem)) return with_floor(*std::move(latency));
    }
    if (!has_roofline || !floor) return std::nullopt;
    return Latency{.ns = *floor,
                   .low_ns = *floor,
                   .high_ns = *floor,
                   .lower_bound_ns = *floor,
                   .provenance = Provenance::roofline,
                   .status = Status::ok,
                   .reason = "fastest possible time",
                   .implementation = {},
                   .rounds = 0};
  }
};

ModelledLatencies::~ModelledLatencies() = default;

ModelledLatencies::ModelledLatencies(const LatencyChoice& choice, const Device& target,
                                     std::optional<double> network_bytes_per_s)
    : sources_(std::make_unique<Sources>(target, network_bytes_per_s)) {
  sources_->network_bytes_per_s = network_bytes_per_s;
  bool has_interpolation = false;
  for (const std::string& name : choice.sources) {
    if (name.starts_with(imported_prefix)) {
      sources_->files.push_back(name.substr(imported_prefix.size()));
    } else if (name.starts_with(journal_prefix)) {
      const std::string file = name.substr(journal_prefix.size());
      sources_->journal.merge(journal_times(file, target, choice.where));
      sources_->basis.push_back(
          fmt::format("{}: {} kernels measured on {}", file, sources_->journal.size(), target.id));
    } else if (name == "interpolated") {
      has_interpolation = true;
    } else if (name == "roofline") {
      sources_->has_roofline = true;
    } else {
      throw refused("unknown source of latencies '" + name + "'", choice.where,
                    suggestion(name, known_sources));
    }
  }
  if (has_interpolation && sources_->files.empty() && sources_->journal.empty()) {
    throw refused("'interpolated' has nothing to lie between", choice.where,
                  "add journal:FILE or imported:FILE, a table of kernel times");
  }
  if (has_interpolation && !sources_->journal.empty()) {
    std::vector<LatencyPoint> points;
    for (const auto& [problem, latency] : sources_->journal)
      points.push_back({problem, latency.ns});
    sources_->interpolations.emplace_back(points, target, ShardShare{});
  }
  const Device measured_on =
      choice.tables_device.empty() ? target : known_device(choice.tables_device);
  sources_->are_exact = measured_on.id == target.id;
  for (const std::string& file : sources_->files) {
    const ImportedTable table = read_kernel_table(file, choice.layout);
    if (sources_->are_exact) sources_->imported.add(table);
    sources_->basis.push_back(
        fmt::format("{}: {} rows measured by others on {}{}", file, table.rows, measured_on.id,
                    sources_->are_exact ? "" : ", carried over by interpolation only"));
    if (!has_interpolation) continue;
    for (const KernelSeries& series : table.series) {
      sources_->interpolations.emplace_back(series.points, measured_on, ShardShare{},
                                            sources_->are_exact ? nullptr : &target);
    }
  }
  if (!sources_->are_exact && !has_interpolation && !sources_->files.empty()) {
    throw refused("tables of " + measured_on.id + " hold no time of " + target.id, choice.where,
                  "add 'interpolated' to carry them over");
  }
  if (has_interpolation) {
    sources_->basis.push_back("interpolated between their points, with 90 % intervals");
  }
  if (sources_->has_roofline) {
    sources_->basis.push_back("roofline of " + target.id +
                              ": the fastest possible time, not an expectation");
  }
}

std::optional<Latency> ModelledLatencies::latency(const KernelCase& kernel_case) const {
  KernelCase completed = kernel_case;
  completed.problem = complete_problem(kernel_case.problem);
  return sources_->of(completed,
                      find_contract(completed.problem.op)->work(completed.problem.params));
}

std::optional<Latency> ModelledLatencies::latency(const Problem& problem, const Work& work) const {
  KernelCase kernel_case;
  const bool has_times = !sources_->files.empty() || has_journal();
  if (has_times) kernel_case.problem = problem;
  if (!has_times) {
    // The roofline alone needs no copy of the problem.
    if (!sources_->has_roofline) return std::nullopt;
    const auto floor = sources_->roofline.floor_ns(problem, work);
    if (!floor) return std::nullopt;
    Latency out;
    out.ns = out.low_ns = out.high_ns = out.lower_bound_ns = *floor;
    return out;
  }
  return sources_->of(kernel_case, work);
}

bool ModelledLatencies::has_interval() const {
  return !sources_->interpolations.empty() || has_journal();
}

bool ModelledLatencies::has_journal() const { return !sources_->journal.empty(); }

std::vector<std::string> ModelledLatencies::basis() const { return sources_->basis; }

std::optional<double> ModelledLatencies::transfer_bytes_per_s() const {
  if (sources_->network_bytes_per_s) return sources_->network_bytes_per_s;
  return sources_->roofline.link_bytes_per_s(2);
}

}  // namespace halmark::cli
