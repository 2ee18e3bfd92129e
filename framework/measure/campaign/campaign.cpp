#include "measure/campaign/campaign.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "host/process/arena.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/retry.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"

namespace halmark {
namespace {

// The same case meets other inputs in every round and every run.
std::uint64_t trial_seed(std::uint64_t round_seed, std::size_t index) {
  return hash_combine(round_seed, 0x7472 + index);
}

bool may_be_better(const Measurement& row) { return is_disturbed(row) || is_unconfirmed(row); }

bool is_over_nodes(const KernelCase& kernel_case) {
  return nodes_of_device(kernel_case.device) > 1;
}

bool is_replacement(const Signal& signal) { return signal.name == "worker_replaced"; }

// Lost workers stay visible, whichever trial becomes the row.
std::vector<Signal> replacements_of(const Measurement& row) {
  std::vector<Signal> out;
  std::ranges::copy_if(row.signals, std::back_inserter(out), is_replacement);
  return out;
}

// Nothing is left to run.
bool is_all_stored(const CampaignOptions& options, std::span<const KernelCase> cases) {
  return options.lookup && std::ranges::all_of(cases, [&](const KernelCase& kernel_case) {
           for (const int round : below(options.rounds)) {
             if (!options.lookup(kernel_case, options.first_round + round)) return false;
           }
           return true;
         });
}

}  // namespace

Campaign::Campaign(CampaignOptions options)
    : options_(std::move(options)),
      retry_s_left_(options_.retry_budget_s),
      losses_(options_.hangs) {}

Campaign::~Campaign() = default;

std::vector<Measurement> Campaign::run(std::span<const KernelCase> cases) {
  rows_.clear();
  begin_ = SteadyClock::now();
  progress_ = {.total = std::ssize(cases) * options_.rounds};
  follow_bandwidth();
  memory_ = run_memory();
  if (!is_all_stored(options_, cases)) prepare_arenas(cases);
  const int end = options_.first_round + options_.rounds;
  for (int round = options_.first_round; round < end && !stopped(); ++round) {
    progress_.round = round;
    const auto round_begin = SteadyClock::now();
    const std::uint64_t round_seed = hash_combine(options_.seed, as_uint64(round));
    for (const GroupedCases& grouped : round_order(cases, round_seed, options_.stacks_of)) {
      if (stopped()) break;
      if (grouped.stacks.empty()) {
        run_group(grouped, cases, round, round_seed);
      } else {
        run_stack(grouped, cases, round, round_seed);
      }
    }
    constexpr double retry_s_min = 1;
    const double share_s = options_.retry_share * seconds_since(round_begin);
    const double given_s = std::min(retry_s_left_, std::max(retry_s_min, share_s));
    const double spent_s = try_again(cases, round, round_seed, given_s);
    retry_s_left_ -=
        spent_s + try_stacks_again(cases, round, round_seed, std::max(0.0, given_s - spent_s));
  }
  if (bandwidth_) bandwidth_->add_to(*options_.peaks);
  return std::exchange(rows_, {});
}

GroupedCases Campaign::open_cases(const GroupedCases& grouped, std::span<const KernelCase> cases,
                                  int round) {
  GroupedCases open{.group = grouped.group, .cases = {}, .stacks = grouped.stacks};
  for (const std::size_t index : grouped.cases) {
    auto stored = options_.lookup ? options_.lookup(cases[index], round) : std::nullopt;
    if (stored) {
      // A device that hung then may have been mended since; a case has its rows already.
      if (!is_of_device(stored->phase)) losses_.note_hang(*stored);
      finish(std::move(*stored), true);
    } else {
      open.cases.push_back(index);
    }
  }
  return open;
}

void Campaign::run_group(const GroupedCases& grouped, std::span<const KernelCase> cases, int round,
                         std::uint64_t round_seed) {
  for (const std::size_t index : open_cases(grouped, cases, round).cases) {
    if (stopped()) break;
    const KernelCase& kernel_case = cases[index];
    Measurement row = measure(kernel_case, grouped.group, round, trial_seed(round_seed, index));
    if (may_be_better(row) && options_.retries_per_case > 0) {
      disturbed_.push_back({.index = index, .group = grouped.group, .row = std::move(row)});
    } else {
      finish(std::move(row), false);
    }
  }
  end_crew();
}

// The process is the sampling unit: the next round of this group gets fresh ones.
void Campaign::end_crew() {
  if (crew_) crew_->quit();
  crew_.reset();
}

// What disturbed a case is gone the sooner the later it is tried again: at the end of the round, in
// the order in which they came, in fresh workers.
double Campaign::try_again(std::span<const KernelCase> cases, int round, std::uint64_t round_seed,
                           double given_s) {
  double spent_s = 0;
  while (!disturbed_.empty()) {
    Disturbed next = std::move(disturbed_.front());
    disturbed_.pop_front();
    // A confirmation is one more trial at most, so it needs no budget.
    const bool is_too_long = spent_s + next.row.wall_s / (next.tries + 1) > given_s;
    const bool is_given_up = stopped() || next.tries >= options_.retries_per_case ||
                             (is_too_long && !is_unconfirmed(next.row));
    if (is_given_up) {
      finish(std::move(next.row), false);
      continue;
    }
    ++next.tries;
    const std::uint64_t seed =
        hash_combine(trial_seed(round_seed, next.index), as_uint64(next.tries));
    Measurement again = measure(cases[next.index], next.group, round, seed);
    spent_s += again.wall_s;
    std::vector<Signal> replaced = replacements_of(next.row);
    std::ranges::move(replacements_of(again), std::back_inserter(replaced));
    next.row = better_of(std::move(next.row), std::move(again), next.tries);
    std::erase_if(next.row.signals, is_replacement);
    std::ranges::move(replaced, std::back_inserter(next.row.signals));
    if (may_be_better(next.row)) {
      disturbed_.push_back(std::move(next));
    } else {
      finish(std::move(next.row), false);
    }
  }
  end_crew();
  return spent_s;
}

Measurement Campaign::measure(const KernelCase& kernel_case, const CaseGroup& group, int round,
                              std::uint64_t seed) {
  Measurement row;
  std::string why = kernel_case.mode == CacheMode::in_stack ? "no stack in which it stands is known"
                                                            : losses_.why_not(kernel_case);
  if (why.empty()) why = why_refused_here(kernel_case);
  if (!why.empty()) {
    row = {.kernel_case = kernel_case, .status = Status::refused, .reason = why};
  } else {
    row = attempt(kernel_case, group, seed);
    row.round = round;
    losses_.note(row);
    const bool may_pass = is_loss(row.status) && row.status != Status::timed_out;
    if (may_pass && losses_.why_not(kernel_case).empty() && !stopped()) {
      const std::string first_loss =
          std::string(status_name(row.status)) + " in " + row.phase + ": " + row.reason;
      row = attempt(kernel_case, group, seed);
      row.round = round;
      losses_.note(row);
      row.signals.push_back({.name = "worker_replaced", .value = 1, .reason = first_loss});
    }
  }
  row.round = round;
  row.seed = seed;
  const auto* hash = find_value(options_.plugin_hash_by_backend, kernel_case.backend);
  if (hash) row.plugin_hash = *hash;
  return row;
}

Measurement Campaign::attempt(const KernelCase& kernel_case, const CaseGroup& group,
                              std::uint64_t seed) {
  Measurement row;
  row.kernel_case = kernel_case;
  if (!ensure_crew(group, row)) return row;
  const TrialOptions trial{
      .rule = options_.rule,
      .wall_cap_s = options_.wall_cap_s,
      .thresholds = options_.thresholds,
      .peaks = peaks_of(kernel_case),
      .asks_bound = options_.asks_bound && !is_over_nodes(kernel_case),
      .bandwidth = bandwidth_ && !is_over_nodes(kernel_case) ? &*bandwidth_ : nullptr,
      .input_seed = hash_combine(seed, 0x696e),
      .check_seed = hash_combine(seed ^ options_.seed, 0x636b),
      .checked_executions = checked_executions(options_.rounds)};
  row = run_trial(*crew_, kernel_case, trial, history_);
  row.plugin_name = crew_->plugin().name;
  row.plugin_version = crew_->plugin().plugin_version;
  row.plugin_build = crew_->plugin().build;
  if (is_loss(row.status) || !crew_->alive()) crew_.reset();
  return row;
}

// False when there are no workers for this group; the row then says why.
bool Campaign::ensure_crew(const CaseGroup& group, Measurement& row) {
  if (crew_ && crew_->group() == group) return true;
  crew_.reset();
  const auto* path = find_value(options_.plugin_path_by_backend, group.backend);
  if (!path) {
    row.status = Status::refused;
    row.reason = "no plugin for backend '" + group.backend + "'";
    return false;
  }
  const int nodes = nodes_of_device(group.device);
  std::optional<NodeJob> job;
  if (nodes > 1) {
    if (!options_.job || std::ssize(options_.job->nodes) < nodes) {
      row.status = Status::refused;
      row.reason = "device " + group.device + " lies on nodes of an MPI job: give --mpi-hosts";
      return false;
    }
    job = part_of(*options_.job, nodes, group.workers() / nodes);
  }
  CrewOptions options{.group = group,
                      .plugin_path = *path,
                      .open_options = options_.open_options,
                      .environment = options_.environment,
                      .cache_dir = options_.cache_dir,
                      .limits = options_.limits,
                      .needs_group = group.is_collective,
                      .arenas = arenas(),
                      .job = job ? &*job : nullptr};
  auto started = Crew::start(options);
  if (started) {
    crew_ = std::move(*started);
    return true;
  }
  row.status = started.failure.status;
  row.reason = started.failure.reason;
  row.phase = started.failure.phase;
  return false;
}

void Campaign::follow_bandwidth() {
  const RunPeaks* peaks = options_.peaks;
  if (peaks != nullptr && !peaks->are_apart()) walk_bytes_ = memory_walk_bytes(peaks->device());
  if (walk_bytes_ > 0 && !bandwidth_) bandwidth_.emplace(walk_bytes_);
}

// Nothing where this machine's memory can hold it. Throws Error for a problem that its contract
// refuses.
std::optional<std::string> Campaign::why_too_large(const KernelCase& kernel_case) const {
  if (is_over_nodes(kernel_case)) return std::nullopt;
  const auto workers = as_size(case_group(kernel_case).workers());
  const std::int64_t bytes = least_bytes(std::span(&kernel_case, 1));
  return memory_refusal(bytes * as_int64(workers), workers, memory_);
}

// What a device has in memory of its own it says itself.
std::string Campaign::why_refused_here(const KernelCase& kernel_case) const {
  const RunPeaks* peaks = peaks_of(kernel_case);
  const bool is_here = kernel_case.backend == "cpu" || (peaks != nullptr && !peaks->are_apart());
  try {
    return is_here ? why_too_large(kernel_case).value_or("") : "";
  } catch (const Error&) {
    return {};  // its trial will say what is wrong with it, as a row
  }
}

// Worker i needs memory for the largest case that has a worker i.
void Campaign::prepare_arenas(std::span<const KernelCase> cases) {
  ArenaNeed need;
  for (const KernelCase& kernel_case : cases) {
    if (is_over_nodes(kernel_case)) continue;  // no memory of this machine is theirs
    try {
      const std::span<const Stack> stacks =
          options_.stacks_of ? options_.stacks_of(kernel_case) : std::span<const Stack>();
      if (!stacks.empty()) {
        const bool is_here = !filled_nodes(options_.job, as_int(stacks.size()));
        if (is_here) need.add(stacks);
      } else if (!why_too_large(kernel_case)) {
        need.add(kernel_case);
      }
    } catch (const Error&) {
      // Its trial will say what is wrong with it, as a row.
    }
  }
  // Reads that show the bandwidth walk through the arena, which the parent faults in once for all
  // rounds. Worker i works beside i others at least, and they share the walk.
  for (const auto i : indices(need.wanted)) {
    need.wanted[i] = std::max(need.wanted[i], walk_bytes_ / as_int64(i + 1));
  }
  grow_arenas(arenas(), need.wanted,
              {.least = std::move(need.least), .should_stop = options_.should_stop});
}

void Campaign::finish(Measurement row, bool is_resumed) {
  if (!is_resumed && options_.sink) options_.sink(row);
  ++progress_.done;
  if (is_resumed) ++progress_.resumed;
  if (counts_as_failure(row.status)) ++progress_.failed;
  if (row.status == Status::invalid) ++progress_.invalid;
  progress_.elapsed_s = seconds_since(begin_);
  const std::int64_t measured = progress_.done - progress_.resumed;
  if (measured > 0) {
    const auto left = as_double(progress_.total - progress_.done);
    progress_.left_s = progress_.elapsed_s / as_double(measured) * left;
  }
  progress_.current = row.kernel_case.problem.text();
  rows_.push_back(std::move(row));
  if (options_.progress) options_.progress(progress_);
}

RunPeaks* Campaign::peaks_of(const KernelCase& kernel_case) const {
  if (is_over_nodes(kernel_case)) return nullptr;
  if (options_.peaks_by_device.empty()) return options_.peaks;
  const auto* own = find_value(options_.peaks_by_device, device_key(kernel_case));
  return !own ? nullptr : *own;
}

bool Campaign::stopped() const { return options_.should_stop && options_.should_stop(); }

}  // namespace halmark
