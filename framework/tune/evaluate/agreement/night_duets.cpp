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
constexpr int nights_of_new_build = 2;                  // in which it still meets the old one
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

}  // namespace

std::string build_before(const Store& store, std::int64_t night, const std::string& now) {
  std::vector<std::int64_t> runs =
      store.latest_runs(nights_back, store.run_info(night).fingerprint);
  std::erase_if(runs, [&](std::int64_t run) { return run >= night; });
  int nights = 1;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const auto machine = store.machine(*run);
    if (!machine || machine->build.empty()) continue;
    if (machine->build != now) return machine->build;
    if (++nights > nights_of_new_build) break;
  }
  return {};
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
