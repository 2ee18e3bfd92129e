// A table is looked up, never averaged over implementations: which kernel an engine would take is
// not known here, so the table's first series speaks.
#include "latency/imported/imported_source.hpp"

#include <filesystem>
#include <utility>

#include "latency/judged.hpp"

namespace halmark {

std::size_t ImportedSource::Hash::operator()(const Problem& problem) const {
  std::size_t h = std::hash<std::string>{}(problem.op);
  for (const Param& param : problem.params.items()) {
    h ^= static_cast<std::size_t>(param.value) + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  }
  return h;
}

void ImportedSource::add(const ImportedTable& table) {
  const std::string file = std::filesystem::path(table.name).filename().string();
  for (const KernelSeries& series : table.series) {
    const std::string origin = file + (series.name.empty() ? "" : " " + series.name);
    for (const LatencyPoint& point : series.points) {
      Time& time = times_.try_emplace(point.problem, Time{.origin = origin}).first->second;
      if (time.origin != origin) continue;
      time.ns_sum += point.ns;
      ++time.rows;
    }
  }
}

std::optional<Latency> ImportedSource::latency(const Problem& problem, const Work& work) const {
  const auto found = times_.find(problem);
  if (found == times_.end()) return std::nullopt;
  Latency out;
  out.ns = out.low_ns = out.high_ns = found->second.ns_sum / found->second.rows;
  out.provenance = Provenance::imported;
  out.reason = "measured elsewhere: " + found->second.origin + "; no spread stated";
  return judged(std::move(out), roofline::step_bound(problem, work, ceilings_));
}

}  // namespace halmark
