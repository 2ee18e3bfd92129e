#include "tune/search/kernels/bench_request.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/lists.hpp"
#include "tune/search/outcome.hpp"

namespace halmark::tune {
namespace {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
    end = text.find(',', begin);
    out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

}  // namespace

void check_request(const BenchRequest& request) {
  if (!request.sweep.empty()) {
    if (request.variants.empty()) {
      throw refused("--sweep is for --variants", {}, "halmark tune measures a sweep");
    }
    if (!request.asked.params.empty() || !request.asked.dtypes.empty()) {
      throw refused("--sweep brings its own problems: leave out --params and --dtype");
    }
  }
  const CaseRequest alone;
  if (request.nodes.are_named() &&
      (!request.variants.empty() || !request.shards_on.empty() || !request.baseline.empty() ||
       request.asked.parts != alone.parts || request.asked.shards != alone.shards ||
       request.asked.backend.find(',') != request.asked.backend.npos)) {
    throw refused(
        "--mpi-hosts with --variants, --shards-on, --baseline, --parts, --shards or several "
        "backends",
        {}, "nodes and ranks say where it runs; leave out the others");
  }
  // Of one process nobody knows how far the next one is from it.
  if (!request.variants.empty() && request.keeps_winners && request.rounds &&
      *request.rounds < rounds_of_winner_min) {
    throw refused("a winner needs " + std::to_string(rounds_of_winner_min) + " rounds or more", {},
                  "leave out --store to look at fewer");
  }
}

std::optional<KernelSweep> sweep_of_backends(const BenchRequest& request) {
  const CaseRequest& asked = request.asked;
  if (asked.backend.find(',') == asked.backend.npos) return std::nullopt;
  const bool is_narrowed = !asked.kernel.empty() || asked.device != CaseRequest{}.device ||
                           asked.parts != 1 || asked.shards != 1 || !request.baseline.empty();
  if (is_narrowed || request.keeps_winners || !request.sweep.empty()) {
    throw refused(
        "several backends with --kernel, --device, --parts, --shards, --baseline, "
        "--store or --sweep",
        "--backend", "a device or a part of it is named as cpu:0/2; leave out the others");
  }
  KernelSweep out;
  out.name = "bench";
  out.kernels = {{asked.op, asked.params, asked.dtypes, "--op"}};
  out.backends = parse_backends(list_of(asked.backend), "--backend");
  out.variants = request.variants;
  out.mode = *parse_cache_mode(asked.mode);
  out.sets = asked.sets;
  out.sampler = request.search.sampler;
  out.sampler_where = "--sampler";
  out.trials = request.search.trials;
  out.seed = request.search.seed;
  out.budget_s = std::numeric_limits<double>::infinity();  // all that was asked for
  out.measure.limits.rounds = request.rounds;
  out.measure.sample_budget_s = request.seconds;
  return out;
}

std::vector<KernelPoint> in_order_of(std::span<const KernelCase> cases,
                                     std::vector<KernelPoint> points) {
  std::map<std::string, std::size_t> position;
  for (const auto i : indices(cases)) position.emplace(cases[i].key(), i);
  std::ranges::sort(points, {}, [&](const KernelPoint& p) { return position.at(p.key); });
  return points;
}

ExitCode exit_code_of(std::span<const KernelPoint> points) {
  ExitCode out = ExitCode::ok;
  for (const KernelPoint& p : points) out = std::max(out, exit_code_of(p.status));
  return out;
}

}  // namespace halmark::tune
