// Each case is measured in three rounds of 0.1 s and its least is taken: a neighbour of a moment
// raises one of them, a node that moved all.
#include "fleet/nodes/sentinel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"
#include "tune/evaluate/agreement/agreement.hpp"

namespace halmark::fleet {
namespace {

constexpr const char* schema = "halmark.sentinel";
constexpr std::size_t looks_max = 50;  // that are kept of each case
constexpr int rounds = 3;
constexpr double seconds = 0.1;

// Relative; of a normal distribution three standard deviations.
double scatter_of(const std::vector<double>& past, double middle) {
  constexpr double deviations = 3, sigma_of_mad = 1.4826;
  std::vector<double> away = mapped(past, [&](const double ns) { return std::abs(ns - middle); });
  return deviations * sigma_of_mad * median(away) / middle;
}

SentinelHistory read_history(const std::string& file) {
  SentinelHistory out;
  if (!std::filesystem::exists(file)) return out;
  const Json document = read_json_file(file);
  try {
    if (document.at("schema") != schema) throw std::invalid_argument("another schema");
    for (const auto& [name, looks] : document.at("looks_ns").items()) {
      std::vector<double>& past = out[name] = looks.get<std::vector<double>>();
      std::erase_if(past, [](double ns) { return !(ns > 0); });
    }
  } catch (const std::exception&) {
    throw refused("no history of a sentinel", file, "remove it: the node is learnt again");
  }
  return out;
}

void write_history(const SentinelHistory& history, const std::string& file) {
  require_writable(file, "");
  write_whole_file(dump_json({{"schema", schema}, {"version", 1}, {"looks_ns", history}}, 1) + '\n',
                   file);
}

}  // namespace

std::string moved_sentinel(const SentinelHistory& past, const std::map<std::string, double>& now) {
  std::string out;
  double furthest = 0;
  for (const auto& [name, ns] : now) {
    const auto* known = find_value(past, name);
    if (!known || known->size() < looks_to_know) continue;
    const double middle = median(*known);
    const double moved = ns / middle - 1;
    const double limit = std::max(sentinel_moved, scatter_of(*known, middle));
    if (std::abs(moved) <= std::max(limit, furthest)) continue;
    furthest = std::abs(moved);
    out = fmt::format(
        "{} takes {:.4g} us, {:.3g} % {} than this node's {} looks before ({:.3g} % "
        "are usual)",
        name, ns / 1e3, 100 * furthest, moved > 0 ? "more" : "less", known->size(), 100 * limit);
  }
  return out;
}

Sentinel::Sentinel(tune::NamedDevices& devices, const WorkerLimits& limits, std::string file,
                   std::stop_token stop)
    : devices_(devices), limits_(limits), file_(std::move(file)), stop_(std::move(stop)) {}

std::map<std::string, double> Sentinel::measure(const std::set<std::string>& devices) {
  tune::KernelMeasuring measuring;
  devices_.measure_with(measuring);
  measuring.rounds = rounds;
  measuring.seconds = seconds;
  measuring.worker_limits = limits_;
  measuring.stop = stop_;
  std::vector<KernelCase> cases;
  for (const tune::NamedDevice& device : devices_.devices()) {
    if (!devices.contains(device.place.device_text())) continue;
    const auto usual = tune::usual_cases(device.place.backend, device.place.device);
    append_all(cases, usual);
  }
  const auto hashes = devices_.plugins().hashes;
  std::map<std::string, double> out;
  for (const Measurement& row : tune::measure_kernels(cases, measuring)) {
    if (!has_latency(row.status) || row.duration_ns_median <= 0) continue;
    const KernelCase& k = row.kernel_case;
    const std::string name = fmt::format("{} on {}:{} by plugin {}", k.problem.text(), k.backend,
                                         k.device, hashes.at(k.backend).substr(0, 12));
    const auto [least, is_first] = out.try_emplace(name, row.duration_ns_median);
    if (!is_first) least->second = std::min(least->second, row.duration_ns_median);
  }
  return out;
}

std::string Sentinel::look(const std::set<std::string>& devices) {
  const std::map<std::string, double> now = measure(devices);
  if (stop_.stop_requested()) return {};
  SentinelHistory history = read_history(file_);
  std::string moved = moved_sentinel(history, now);
  if (!moved.empty()) return moved;
  for (const auto& [name, ns] : now) {
    std::vector<double>& past = history[name];
    past.push_back(ns);
    if (past.size() > looks_max) past.erase(past.begin());
  }
  write_history(history, file_);
  return {};
}

}  // namespace halmark::fleet
