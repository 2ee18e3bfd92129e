// Staging needs every rank at once where ranks have to meet: collectives come last, because their
// first call waits for all.
#include "measure/campaign/stack/staged_stacks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "host/process/arena.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/stack/stack_collectives.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {
namespace {

WorkerFailure refusal(std::string reason) {
  return {Status::refused, std::move(reason), {}, 0, false};
}

KernelCase with_sets(KernelCase kernel_case, std::int64_t sets) {
  kernel_case.sets = as_int(std::clamp<std::int64_t>(sets, 1, 1 << 20));
  return kernel_case;
}

}  // namespace

std::int64_t repetitions_max(std::span<const Stack> stacks) {
  constexpr std::size_t samples_max = 1 << 17;
  std::size_t longest = 1;
  for (const Stack& stack : stacks) longest = std::max(longest, stack.steps.size());
  return as_int64(std::max<std::size_t>(1, samples_max / longest));
}

std::optional<WorkerFailure> StagedStacks::prepare() {
  if (per_rank_.empty() || per_rank_.front().kernels.empty()) {
    return refusal("the stack has no kernels");
  }
  if (const auto reason = collective_mismatch(per_rank_)) return refusal(*reason);
  list_kernels();
  if (auto failure = plan_memory()) return failure;
  if (auto failure = start()) return failure;
  if (options_.measures_memory) read_baselines();
  if (auto failure = stage_all()) return failure;
  is_staged_ = true;
  return gate();
}

std::int64_t StagedStacks::id_of(const KernelCase& kernel_case) const {
  const auto at = std::ranges::find_if(
      kernels_, [&](const KernelCase& k) { return kernel_case.shares_arguments(k); });
  return at - kernels_.begin();
}

std::vector<int> StagedStacks::shards_of(const KernelCase& kernel_case) const {
  if (kernel_case.is_collective() || kernel_case.shards_at_once >= std::ssize(per_rank_)) return {};
  std::vector<int> out;
  for (const auto rank : indices(per_rank_)) {
    const auto& kernels = per_rank_[rank].kernels;
    if (!contains(kernels, kernel_case)) continue;
    out.push_back(as_int(rank));
  }
  return out;
}

double StagedStacks::first_ns(const KernelCase& kernel_case) const {
  const auto id = as_size(id_of(kernel_case));
  for (const auto& held : held_) {
    if (held[id].sets > 0) return held[id].staged.one_time.first_ns;
  }
  return 0;
}

// Among those who meet: inputs are those of this place, and the reference answers for it.
int StagedStacks::Held::rank(std::size_t of_all) const {
  const auto own = std::ranges::find(members, as_int(of_all));
  return as_int(own == members.end() ? as_int64(of_all) : own - members.begin());
}

void StagedStacks::list_kernels() {
  const auto list = [&](const KernelCase& k) {
    if (id_of(k) == std::ssize(kernels_)) kernels_.push_back(k);
  };
  for (const Stack& stack : per_rank_) std::ranges::for_each(stack.kernels, list);
  std::ranges::for_each(options_.beside, list);
  held_.assign(per_rank_.size(), std::vector<Held>(kernels_.size()));
  signals_.assign(kernels_.size(), {});
  for (const auto rank : indices(per_rank_)) {
    const Stack& stack = per_rank_[rank];
    for (const auto k : indices(stack.kernels)) {
      Held& held = held_[rank][as_size(id_of(stack.kernels[k]))];
      held.instances = std::max<std::int64_t>({1, held.instances, stack.instances[k]});
      const auto* members = find_value(stack.members, as_int(k));
      if (members) held.members = *members;
    }
  }
  // The shards that executed a kernel at once for its rows do so when it is measured.
  for (const KernelCase& k : options_.beside) {
    if (!shards_of(k).empty()) continue;
    for (auto& held : held_) {
      auto& instances = held[as_size(id_of(k))].instances;
      if (instances == 0) instances = std::max(1, k.sets);
    }
  }
}

// One argument set per instance, or evenly fewer where `bytes_max` is not enough: never fewer than
// the ring that keeps constants cold, as long as that is enough for them.
void StagedStacks::afford_sets(std::vector<Held>& held, std::int64_t bytes_max) const {
  for (const auto id : indices(held)) {
    held[id].sets = as_int(std::min<std::int64_t>(held[id].instances, 1 << 20));
  }
  for (const bool keeps_ring : {true, false}) {
    const auto wanted = as_double(bytes_of(held));
    if (wanted <= as_double(bytes_max)) return;
    const double share = as_double(bytes_max) / wanted;
    for (const auto id : indices(held)) {
      if (held[id].sets == 0) continue;
      const auto fitting = as_int(share * as_double(held[id].sets));
      const int ring = keeps_ring ? std::max(1, kernels_[id].sets) : 1;
      held[id].sets = std::clamp(fitting, std::min(ring, held[id].sets), held[id].sets);
    }
  }
}

std::int64_t StagedStacks::bytes_of(const std::vector<Held>& held) const {
  std::int64_t bytes = 0;
  for (const auto id : indices(held)) {
    if (held[id].sets > 0) bytes += arena_bytes(with_sets(kernels_[id], held[id].sets));
  }
  return bytes;
}

std::int64_t StagedStacks::least_of(const std::vector<Held>& held) const {
  std::vector<KernelCase> together;
  for (const auto id : indices(held)) {
    if (held[id].instances > 0) together.push_back(kernels_[id]);
  }
  return least_bytes(together);
}

// Refuses what needs more than this run may ever use, in memory of this machine.
std::optional<WorkerFailure> StagedStacks::plan_memory() {
  // Those that share a machine.
  const auto ranks =
      options_.job ? std::int64_t{options_.job->nodes.front().ranks} : std::ssize(per_rank_);
  const RunMemory memory = run_memory();
  const auto room = as_double(memory.may_use_bytes() + halmark::bytes_of(arenas()));
  const auto share = as_int64(options_.memory_fraction * room) / ranks;
  std::vector<std::int64_t> wanted, least;
  for (auto& held : held_) {
    least.push_back(least_of(held));
    afford_sets(held, std::max(share, least.back()));
    wanted.push_back(std::max(bytes_of(held), options_.walk_bytes / ranks));
  }
  if (options_.job) return std::nullopt;
  if (per_rank_.front().kernels.front().backend == "cpu") {
    const std::int64_t least_of_all = std::accumulate(least.begin(), least.end(), std::int64_t{0});
    if (auto why = memory_refusal(least_of_all, least.size(), memory)) {
      return refusal("the stack " + std::move(*why));
    }
  }
  grow_arenas(arenas(), wanted,
              {.fraction = options_.memory_fraction,
               .least = std::move(least),
               .should_stop = options_.should_stop});
  return std::nullopt;
}

std::optional<WorkerFailure> StagedStacks::start() {
  const KernelCase& first = per_rank_.front().kernels.front();
  std::vector<ShardPlace> places;
  for (const Stack& stack : per_rank_) {
    if (stack.place) places.push_back(*stack.place);
  }
  const bool collective = std::ranges::any_of(kernels_, &KernelCase::is_collective);
  auto started = Crew::start({.group = {.backend = first.backend,
                                        .device = first.device,
                                        .parts = std::max(1, first.parts),
                                        .shards_at_once = as_int(per_rank_.size()),
                                        .is_collective = collective,
                                        .places = std::move(places)},
                              .plugin_path = options_.plugin_path,
                              .plugin_path_by_backend = options_.plugin_path_by_backend,
                              .open_options = options_.open_options,
                              .environment = options_.environment,
                              .cache_dir = options_.cache_dir,
                              .limits = options_.limits,
                              .needs_group = collective,
                              .cuts = rank_cuts(per_rank_),
                              .arenas = arenas(),
                              .job = options_.job ? &*options_.job : nullptr});
  if (!started) return started.failure;
  crew_ = std::move(*started);
  return std::nullopt;
}

std::optional<WorkerFailure> StagedStacks::stage_all() {
  for (const bool is_collective : {false, true}) {
    for (const auto id : indices(kernels_)) {
      if (kernels_[id].is_collective() != is_collective) continue;
      if (auto failure = stage(id)) return failure;
    }
  }
  return std::nullopt;
}

// On all ranks at once that hold it.
std::optional<WorkerFailure> StagedStacks::stage(std::size_t id) {
  const KernelCase& kernel_case = kernels_[id];
  std::vector<std::optional<protocol::Stage>> requests(per_rank_.size());
  for (std::size_t rank = 0; rank < per_rank_.size(); ++rank) {
    const Held& held = held_[rank][id];
    if (held.sets == 0) continue;
    requests[rank] = {
        .id = as_int64(id),
        .kernel = kernel_case.kernel,
        .problem = complete_problem(kernel_case.problem),
        .config = kernel_case.config,
        .mode = kernel_case.staging(),
        .sets = held.sets,
        .seed = options_.seed,
        .rank = held.rank(rank),
        .ranks = as_int(held.members.empty() ? per_rank_.size() : held.members.size()),
        .group = group_name(held.members)};
  }
  auto outcomes = crew_->stage_each(requests);
  for (const auto rank : indices(outcomes)) {
    if (!outcomes[rank]) continue;
    auto& outcome = *outcomes[rank];
    if (!outcome) {
      culprit_ = kernel_case;
      outcome.failure.reason = kernel_case.problem.text() + " on rank " + std::to_string(rank) +
                               ": " + outcome.failure.reason;
      return outcome.failure;
    }
    held_[rank][id].staged = std::move(*outcome);
    note_sets(kernel_case, held_[rank][id]);
  }
  return std::nullopt;
}

void StagedStacks::note_sets(const KernelCase& kernel_case, const Held& held) {
  if (held.staged.sets >= held.instances || find_contract(kernel_case.problem.op) == nullptr) {
    return;
  }
  shared_instances_.push_back(kernel_case.problem.text() + ": " + std::to_string(held.staged.sets) +
                              " sets for " + std::to_string(held.instances) + " instances");
}

std::optional<StagedStacks::Kernel> StagedStacks::kernel(const KernelCase& kernel_case) const {
  const auto id = as_size(id_of(kernel_case));
  for (std::size_t rank = 0; id < kernels_.size() && rank < held_.size(); ++rank) {
    const Held& held = held_[rank][id];
    if (held.sets > 0) {
      return Kernel{as_int(rank), held.staged, held.correctness, signals_[id]};
    }
  }
  return std::nullopt;
}

void StagedStacks::drop() {
  for (const auto rank : indices(held_)) {
    for (const auto id : indices(kernels_)) {
      if (std::exchange(held_[rank][id].sets, 0) == 0) continue;
      (void)crew_->worker(as_int(rank)).drop(as_int64(id));
    }
  }
}

std::vector<protocol::SequenceRequest> StagedStacks::sequence(std::span<const Stack> stacks,
                                                              std::int64_t repeat,
                                                              std::int64_t warmup) const {
  std::vector<protocol::SequenceRequest> all;
  for (const auto rank : indices(stacks)) {
    protocol::SequenceRequest request{.steps = {},
                                      .repeat = repeat,
                                      .warmup = warmup,
                                      .wall_cap_s = options_.wall_cap_s,
                                      .barrier = {},
                                      .chains_activations = true};
    const Stack& stack = stacks[rank];
    auto ids = mapped(stack.kernels, [&](const KernelCase& k) {
      return id_of(k);
    });  // By id: the instances that one repetition goes through.
    std::map<std::int64_t, std::int32_t> passed;
    for (const StackStep& step : stack.steps) {
      std::int32_t& last = passed[ids[as_size(step.kernel)]];
      last = std::max(last, step.instance + 1);
    }
    for (const StackStep& step : stack.steps) {
      const std::int64_t id = ids[as_size(step.kernel)];
      const int sets = std::max(1, held_[rank][as_size(id)].staged.sets);
      request.steps.push_back(
          {.id = id, .set = step.instance % sets, .advance = passed[id] % sets});
    }
    all.push_back(std::move(request));
  }
  return all;
}

}  // namespace halmark
