// The part of a campaign that measures kernels where they stand: a stack is tried as a whole, again
// where others disturbed most of its time.
#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "measure/campaign/campaign.hpp"
#include "measure/campaign/gate/retry.hpp"
#include "measure/campaign/stack/measure_in_stack.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {
namespace {

// Of the time of all executions, those of rows that are noisy; all where one awaits confirmation.
double noisy_share(std::span<const Measurement> rows) {
  if (std::ranges::any_of(rows, is_unconfirmed)) return 1;
  double all_ns = 0, noisy_ns = 0;
  for (const Measurement& row : rows) {
    const double ns = row.duration_ns_median * as_double(row.samples.size());
    all_ns += ns;
    if (is_disturbed(row)) noisy_ns += ns;
  }
  return all_ns > 0 ? noisy_ns / all_ns : 0;
}

// Doubt about less of a step does not move it by more than a figure on a shared machine is worth.
constexpr double noisy_share_max = 0.05;

std::uint64_t stack_seed(std::uint64_t round_seed, const GroupedCases& open) {
  return hash_combine(round_seed, 0x737461 + open.cases.front());
}

double wall_s(std::span<const Measurement> rows) {
  double out = 0;
  for (const Measurement& row : rows) out += row.wall_s;
  return out;
}

}  // namespace

void Campaign::run_stack(const GroupedCases& grouped, std::span<const KernelCase> cases, int round,
                         std::uint64_t round_seed) {
  GroupedCases open = open_cases(grouped, cases, round);
  if (open.cases.empty() || stopped()) return;
  std::vector<Measurement> rows = measure_stack(open, cases, round, stack_seed(round_seed, open));
  if (stopped()) return;  // nobody knows whether the interruption disturbed it
  if (options_.retries_per_case > 0 && noisy_share(rows) > noisy_share_max) {
    disturbed_stacks_.push_back({.open = std::move(open), .rows = std::move(rows)});
    return;
  }
  for (Measurement& row : rows) finish(std::move(row), false);
}

double Campaign::try_stacks_again(std::span<const KernelCase> cases, int round,
                                  std::uint64_t round_seed, double given_s) {
  double spent_s = 0;
  while (!disturbed_stacks_.empty()) {
    DisturbedStack next = std::move(disturbed_stacks_.front());
    disturbed_stacks_.pop_front();
    const double expected_s = wall_s(next.rows) / (next.tries + 1);
    if (stopped() || next.tries >= options_.retries_per_case || spent_s + expected_s > given_s ||
        noisy_share(next.rows) <= noisy_share_max) {
      for (Measurement& row : next.rows) finish(std::move(row), false);
      continue;
    }
    ++next.tries;
    std::vector<Measurement> again =
        measure_stack(next.open, cases, round,
                      hash_combine(stack_seed(round_seed, next.open), as_uint64(next.tries)));
    spent_s += wall_s(again);
    for (const auto i : indices(again)) {
      next.rows[i] = better_of(std::move(next.rows[i]), std::move(again[i]), next.tries);
    }
    disturbed_stacks_.push_back(std::move(next));
  }
  return spent_s;
}

InStackOptions Campaign::in_stack_options(std::size_t ranks, std::uint64_t seed) {
  const std::optional<NodeJob> job = filled_nodes(options_.job, as_int(ranks));
  InStackOptions out{.staging = {.plugin_path_by_backend = options_.plugin_path_by_backend,
                                 .job = job,
                                 .environment = options_.environment,
                                 .open_options = options_.open_options,
                                 .cache_dir = options_.cache_dir,
                                 .limits = options_.limits,
                                 .seed = hash_combine(seed, 0x696e),
                                 .check_seed = hash_combine(seed ^ options_.seed, 0x636b),
                                 .thresholds = options_.thresholds,
                                 .history = &history_,
                                 .walk_bytes = walk_bytes_,
                                 .arenas = &arenas(),
                                 .should_stop = options_.should_stop},
                     .rule = options_.rule,
                     .asks_bound = options_.asks_bound && !job,
                     .bandwidth = bandwidth_ && !job ? &*bandwidth_ : nullptr,
                     .checked_executions = checked_executions(options_.rounds)};
  // Of this machine: what lies on several nodes is bounded where it is composed.
  if (!job) out.peaks_of = [this](const KernelCase& k) { return peaks_of(k); };
  return out;
}

// They run together, so one that hangs holds all of them.
std::string Campaign::why_not_staged(const std::string& backend,
                                     std::span<const KernelCase> asked) const {
  for (const KernelCase& k : asked) {
    if (std::string why = losses_.why_hung(k); !why.empty()) return why;
  }
  if (options_.plugin_path_by_backend.contains(backend)) return {};
  return "no plugin for backend '" + backend + "'";
}

// A loss that a fresh worker may not repeat is tried once more.
std::vector<Measurement> Campaign::measure_staged(const GroupedCases& open,
                                                  std::span<const KernelCase> asked,
                                                  std::uint64_t seed) {
  InStackOptions options = in_stack_options(open.stacks.size(), seed);
  options.staging.plugin_path = options_.plugin_path_by_backend.at(open.group.backend);
  std::vector<Measurement> rows = measure_in_stack(open.stacks, asked, options);
  const bool may_pass = is_loss(rows.front().status) && rows.front().status != Status::timed_out;
  if (!may_pass || stopped()) return rows;
  const std::string first_loss = rows.front().phase + ": " + rows.front().reason;
  rows = measure_in_stack(open.stacks, asked, options);
  for (Measurement& row : rows) {
    row.signals.push_back({.name = "worker_replaced", .value = 1, .reason = first_loss});
  }
  return rows;
}

std::vector<Measurement> Campaign::measure_stack(const GroupedCases& open,
                                                 std::span<const KernelCase> cases, int round,
                                                 std::uint64_t seed) {
  std::vector<KernelCase> asked =
      mapped(open.cases, [&](const std::size_t index) { return cases[index]; });
  std::vector<Measurement> rows;
  if (const std::string why = why_not_staged(open.group.backend, asked); why.empty()) {
    rows = measure_staged(open, asked, seed);
  } else {
    for (const KernelCase& k : asked) {
      rows.push_back({.kernel_case = k, .status = Status::refused, .reason = why});
    }
  }
  for (Measurement& row : rows) {
    const auto* hash = find_value(options_.plugin_hash_by_backend, row.kernel_case.backend);
    row.round = round;
    row.seed = seed;
    losses_.note_hang(row);
    if (hash) row.plugin_hash = *hash;
  }
  return rows;
}

}  // namespace halmark
