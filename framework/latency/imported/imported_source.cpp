#include "latency/imported/imported_source.hpp"

#include <filesystem>

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

std::optional<Latency> ImportedSource::latency(const KernelCase& kernel_case) const {
  const auto found = times_.find(kernel_case.problem);
  if (found == times_.end()) return std::nullopt;
  const double ns = found->second.ns_sum / found->second.rows;
  return Latency{.ns = ns,
                 .low_ns = ns,
                 .high_ns = ns,
                 .lower_bound_ns = 0,
                 .provenance = Provenance::imported,
                 .status = Status::ok,
                 .reason = "measured elsewhere: " + found->second.origin + "; no spread stated",
                 .implementation = {},
                 .rounds = 0};
}

}  // namespace halmark
