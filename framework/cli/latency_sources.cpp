#include "cli/latency_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/facts.hpp"
#include "core/error.hpp"
#include "import/imported_source.hpp"
#include "model/cluster_roofline.hpp"
#include "model/interpolation.hpp"

namespace halmark::cli {

namespace {

constexpr std::string_view imported_prefix = "imported:";
const std::vector<std::string> known_sources = {"imported:FILE", "interpolated", "roofline",
                                                "journal", "measured"};

}  // namespace

struct ModelledLatencies::Sources {
  Sources(const Device& target, std::optional<double> network) : roofline(target, network) {}
  ClusterRoofline roofline;
  bool has_roofline = false;
  std::optional<double> network_bytes_per_s;
  std::vector<std::string> files;
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
    } else if (name == "interpolated") {
      has_interpolation = true;
    } else if (name == "roofline") {
      sources_->has_roofline = true;
    } else {
      throw refused("unknown source of latencies '" + name + "'", choice.where,
                    suggestion(name, known_sources));
    }
  }
  if (has_interpolation && sources_->files.empty()) {
    throw refused("'interpolated' has nothing to lie between", choice.where,
                  "add imported:FILE, a table of kernel times");
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
  if (!sources_->files.empty()) kernel_case.problem = problem;
  if (sources_->files.empty()) {
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

bool ModelledLatencies::has_interval() const { return !sources_->interpolations.empty(); }

std::vector<std::string> ModelledLatencies::basis() const { return sources_->basis; }

std::optional<double> ModelledLatencies::transfer_bytes_per_s() const {
  if (sources_->network_bytes_per_s) return sources_->network_bytes_per_s;
  return sources_->roofline.link_bytes_per_s(2);
}

}  // namespace halmark::cli
