#include "tune/evaluate/agreement/night_duets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/numeric/clock.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "tune/evaluate/agreement/duets.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t nights_back = 30;
constexpr int nights_of_new_build = 7;                  // in which it still meets the old one
constexpr std::size_t first_batch = 4, batch_max = 16;  // kernels that share workers

DuetOptions duet_options(const MeasuredEvaluator& evaluator, const NightBuilds& builds) {
  const MeasureSettings& settings = evaluator.plan().sweep().measure;
  DuetOptions out{.sides = {side_of(*builds.good), side_of(*builds.here)}};
  out.rule = sample_rule(settings);
  out.wall_cap_s = settings.wall_cap_s;
  out.limits = evaluator.context().worker_limits;
  out.thresholds = thresholds_of(settings.limits);
  out.seed = evaluator.plan().sweep().seed;
  out.should_stop = [&evaluator] { return evaluator.is_interrupted(); };
  return out;
}

// Of the nights of this machine before `night`, the latest that states one.
std::string last_build(const Store& store, std::int64_t night) {
  std::vector<std::int64_t> runs =
      store.latest_runs(nights_back, store.run_info(night).fingerprint);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const auto machine = *run < night ? store.machine(*run) : std::nullopt;
    if (machine && !machine->build.empty()) return machine->build;
  }
  return {};
}

}  // namespace

std::string build_before(const Store& store, std::int64_t night, const std::string& now) {
  std::vector<std::int64_t> runs =
      store.latest_runs(nights_back, store.run_info(night).fingerprint);
  std::erase_if(runs, [&](std::int64_t run) { return run >= night; });
  int nights = 1;
  std::string before;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const auto machine = store.machine(*run);
    if (!machine || machine->build.empty()) continue;
    if (machine->build != now) {
      if (before.empty()) before = machine->build;
    } else if (!before.empty() || ++nights > nights_of_new_build) {
      return {};
    }
  }
  return before;
}

std::vector<KernelCase> open_cases(const MeasuredEvaluator& evaluator, const NightBuilds& builds,
                                   std::span<const KernelCase> cases) {
  if (!builds.good) return {};
  const auto& undecided = evaluator.context().night.undecided;
  if (builds.is_first || !undecided) return {cases.begin(), cases.end()};
  return undecided(cases, evaluator.run());
}

NightBuilds builds_of_night(const MeasuredEvaluator& evaluator) {
  const MeasureContext& context = evaluator.context();
  NightBuilds out;
  if (context.night.builds_folder.empty()) return out;
  const auto kept = keep_running_build(context.plugin_path, context.worker_limits,
                                       context.night.builds_folder, journal::utc_now());
  if (!kept) {
    out.note = "this build is not kept: " + kept.failure;
    return out;
  }
  out.here = *kept;
  out.now = kept->id;
  const std::string before = build_before(*context.store, evaluator.run(), out.now);
  if (before.empty()) return out;
  out.good = find_kept_build(context.night.builds_folder, before);
  const auto last = last_build(*context.store, evaluator.run());
  out.is_first = last != out.now;
  if (!out.good) {
    out.note = "the build of the nights before (" + before.substr(0, 12) +
               ") is not stored any more: no interleaved pair tells a change of the code from one "
               "of the machine";
  }
  return out;
}

std::vector<std::string> measure_night_duets(MeasuredEvaluator& evaluator,
                                             const NightBuilds& builds,
                                             std::span<const KernelCase> cases, double budget_s) {
  std::vector<std::string> notes;
  if (!builds.note.empty()) notes.push_back(builds.note);
  if (!builds.good || cases.empty()) return notes;
  const DuetOptions options = duet_options(evaluator, builds);
  const auto begin = SteadyClock::now();
  std::size_t done = 0;
  while (done < cases.size() && seconds_since(begin) < budget_s && !evaluator.is_interrupted()) {
    const double left_s = budget_s - seconds_since(begin);
    const auto fitting = static_cast<std::size_t>(
        done == 0 ? first_batch : left_s / seconds_since(begin) * static_cast<double>(done));
    const auto batch = cases.subspan(
        done, std::min(std::clamp<std::size_t>(fitting, 1, batch_max), cases.size() - done));
    for (const Duet& duet : measure_duets(batch, options, news_floor)) {
      evaluator.context().store->append(evaluator.run(), duet);
    }
    done += batch.size();
  }
  notes.push_back(
      fmt::format("another build than the nights before: {} of {} kernels, the most changed "
                  "first, interleaved with build {} in {:.0f} s",
                  done, cases.size(), builds.good->id.substr(0, 12), seconds_since(begin)));
  return notes;
}

}  // namespace halmark::tune
