#include "tune/evaluate/step/step_run.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "journal/store.hpp"
#include "kernels/contract.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t runs_max = 200;

void add_operators(const Evaluation& evaluation, StepRun& to) {
  to.operators.clear();
  for (const OperatorShare& share : evaluation.estimate->operators) {
    if (share.count < 1) continue;
    const auto count = as_double(share.count);
    to.operators[{share.layer_type, share.name}] = {.ns = share.ns / count,
                                                    .low_ns = share.low_ns / count,
                                                    .high_ns = share.high_ns / count,
                                                    .lower_bound_ns = share.lower_bound_ns / count,
                                                    .provenance = share.provenance,
                                                    .status = share.status,
                                                    .implementation = share.implementation};
  }
}

// The median over rounds and places; its ends are the least and the most of them.
void add_kernels(const Store& store, std::int64_t run, StepRun& to) {
  std::map<std::string, std::vector<double>> ns;
  for (const Measurement& row : store.run_measurements(run)) {
    if (has_latency(row.status)) {
      ns[row.kernel_case.problem.text()].push_back(row.duration_ns_median);
    }
  }
  for (const auto& [problem, rows] : ns) {
    const auto [least, most] = std::ranges::minmax(rows);
    to.kernels[problem] = {.ns = median(rows),
                           .low_ns = least,
                           .high_ns = most,
                           .provenance = Provenance::measured,
                           .status = Status::ok};
  }
}

void add_measured(const Validation& validation, const Evaluation& evaluation, StepRun& to) {
  to.measured_ns = validation.measured_ns;
  to.executions = validation.executions;
  to.measured_each_ns.clear();
  for (const Validation::Operator& op : validation.operators) {
    double count = 0, ns = 0;
    for (const OperatorShare& share : evaluation.estimate->operators) {
      if (share.name != op.name) continue;
      count += as_double(share.count);
      ns += share.ns;
    }
    if (count > 0) to.measured_each_ns[op.name] = op.measured_ns / count;
    // In one state of the machine with the run, where kernels took turns with it.
    if (!op.composed_ns || ns <= 0) continue;
    for (auto& [place, latency] : to.operators) {
      if (place.second != op.name) continue;
      for (double* part : {&latency.ns, &latency.low_ns, &latency.high_ns}) {
        *part *= *op.composed_ns / ns;
      }
    }
  }
}

}  // namespace

std::optional<Latency> StepRun::latency(const Operator& op) const {
  const auto at = operators.find({op.layer_type, op.name});
  if (at != operators.end()) return at->second;
  const auto* row = find_value(kernels, complete_problem(op.local).text());
  if (!row) return std::nullopt;
  return *row;
}

std::optional<StepRun> step_run(const std::string& database, const Configuration& configuration,
                                const Device& device) {
  const auto store = open_store_read_only(database);
  const std::string key = configuration.key();
  std::vector<std::int64_t> runs = store->latest_runs(runs_max);
  std::ranges::reverse(runs);
  for (const std::int64_t run : runs) {
    std::optional<Evaluation> found;
    for (const Evaluation& evaluation : store->rows<Evaluation>(run)) {
      if (evaluation.estimate && evaluation.configuration.key() == key) found = evaluation;
    }
    if (!found) continue;
    const std::string fingerprint = store->run_info(run).fingerprint;
    if (fingerprint != device.fingerprint) {
      throw refused("'" + key + "' in " + without_password(database) + " was measured on " +
                        fingerprint + ", which is not " + device.id,
                    "--latency", "name the device file that halmark peaks wrote there");
    }
    StepRun out{.source = "kernels as run " + std::to_string(run) + " of " + database +
                          " measured them in this configuration"};
    add_operators(*found, out);
    add_kernels(*store, run, out);
    for (const Validation& validation : store->rows<Validation>(run)) {
      if (validation.deployment_key == key && validation.has_time()) {
        add_measured(validation, *found, out);
      }
    }
    store->require_sound();
    return out;
  }
  return std::nullopt;
}

}  // namespace halmark::tune
