#include "tune/devices/bench_beside.hpp"

#include "core/text/error.hpp"
#include "tune/devices/node_job.hpp"
#include "tune/stored/baseline.hpp"

namespace halmark::tune {
namespace {

constexpr const char* option = "--mpi-hosts";

void require_ranks(const KernelCase& c, int ranks) {
  if (!c.is_collective()) {
    throw refused("op " + c.problem.op + " is no collective: it has no use for other nodes",
                  option);
  }
  const auto asked = c.problem.params.value_or("ranks", 1);
  if (asked == ranks) return;
  throw refused(
      "the problem has " + std::to_string(asked) + " ranks, the nodes " + std::to_string(ranks),
      option, "give --params ranks=" + std::to_string(ranks));
}

}  // namespace

std::vector<KernelCase> baseline_beside(const BenchRequest& request,
                                        const std::vector<FoundPlugin>& found,
                                        std::vector<KernelCase>& cases,
                                        KernelMeasuring& measuring) {
  if (request.baseline.empty()) return {};
  const Baseline named = parse_baseline(request.baseline);
  const FoundPlugin& plugin = plugin_of(found, named.backend);
  check_kernel(*plugin.description, named.kernel);
  measuring.others = {{{named.backend, plugin.path}}, {{named.backend, plugin.hash}}};
  const std::vector<KernelCase> out = baseline_cases(cases, named);
  cases = joined(std::move(cases), out);
  return out;
}

void spread_over_nodes(const BenchRequest& request, const FoundPlugin& plugin,
                       std::vector<KernelCase>& cases, KernelMeasuring& measuring,
                       std::optional<RunPeaks>& peaks) {
  const auto named = node_job(request.nodes);
  if (!named) return;
  for (const KernelCase& c : cases) require_ranks(c, ranks_of(named->nodes));
  const auto job = require_nodes(request.nodes, plugin);
  for (KernelCase& c : cases) {
    c.device = device_over_nodes(c.device, static_cast<int>(job->nodes.size()));
    c.parts = job->nodes.front().ranks;
  }
  measuring.job = job;
  measuring.peaks = nullptr;
  peaks.reset();
}

}  // namespace halmark::tune
