#include "cli/tune_measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/tune_certainty.hpp"
#include "core/version.hpp"
#include "journal/writer_lock.hpp"
#include "search/deployment_front.hpp"
#include "search/loop.hpp"

namespace halmark::cli {
namespace {

using Clock = std::chrono::steady_clock;

RunInfo run_info(const TunePlan& plan, const TuneContext& context) {
  return {.command = context.command,
          .plan_hash = plan.hash(),
          .plan_text = plan.text(),
          .fingerprint = context.machine->fingerprint,
          .tool_version = tool_version,
          .tool_build = tool_build,
          .started_utc = journal::utc_now()};
}

// Rows of the same plan and plugin build; another build of the plugin is another series.
RowIndex stored_rows(const TuneContext& context, std::int64_t run) {
  RowIndex out;
  for (Measurement& m : context.store->run_measurements(run)) {
    if (m.plugin_hash != context.plugin->hash && !m.plugin_hash.empty()) continue;
    const auto key = std::pair(m.kernel_case.key(), m.round);
    out.insert_or_assign(key, std::move(m));
  }
  return out;
}

// As `options` say; rows that are stored are not measured again.
std::vector<Measurement> run_campaign(const TuneContext& context, CampaignOptions options,
                                      const RowIndex& stored, std::span<const KernelCase> cases) {
  Progress progress(*context.global, "tune");
  options.lookup = [&](const KernelCase& c, int round) -> std::optional<Measurement> {
    const auto it = stored.find({c.key(), round});
    return it == stored.end() ? std::nullopt : std::optional(it->second);
  };
  options.progress = [&](const CampaignProgress& p) {
    progress.step(static_cast<std::size_t>(p.done), static_cast<std::size_t>(p.total),
                  static_cast<std::size_t>(p.failed), p.current, p.left_s.value_or(-1));
  };
  return Campaign(std::move(options)).run(cases);
}

Told told(const TunePlan& plan, const Point& point, const Evaluation& e) {
  if (!e.estimate) return {.point = point, .outcome = TrialOutcome::failed, .reason = e.reason};
  return {.point = point, .objectives = objective_values(*e.estimate, plan.sweep.objectives)};
}

std::vector<KernelCase> kernels_of(const TunePlan& plan, const std::vector<Point>& points) {
  std::set<KernelCase> unique;
  for (const Point& point : points) {
    const auto it = plan.composers.find(plan.configuration(point));
    if (it == plan.composers.end()) continue;
    unique.insert(it->second.kernels().begin(), it->second.kernels().end());
  }
  return {unique.begin(), unique.end()};
}

// Why a kernel that a configuration needs has no latency, in words of its last row.
void explain_missing(const TunePlan& plan, const MeasuredSource& source, Evaluation& e) {
  if (e.estimate) return;
  const auto it = plan.composers.find(e.configuration);
  if (it == plan.composers.end()) return;
  for (const KernelCase& k : it->second.kernels()) {
    if (source.latency(k)) continue;
    const std::vector<Measurement> rows = source.rows(k);
    if (!rows.empty()) e.status = rows.back().status;
    e.reason = k.problem.text() + ": " + source.why_absent(k);
    return;
  }
}

// What a finished run said of itself stands: its repeats are not begun again.
void take_judged(const std::vector<Evaluation>& judged, std::vector<Evaluation>& evaluations) {
  for (const Evaluation& known : judged) {
    for (Evaluation& e : evaluations) {
      if (e.configuration == known.configuration) e = known;
    }
  }
}

}  // namespace

CampaignOptions campaign_options(const TunePlan& plan, const TuneContext& context,
                                 std::int64_t run) {
  CampaignOptions options = campaign_for(*context.plugin, *context.machine);
  options.rounds = plan.sweep.measure.rounds;
  options.rule = sample_rule(plan.sweep.measure);
  options.wall_cap_s = plan.sweep.measure.wall_cap_s;
  options.seed = plan.sweep.seed;
  options.sink = [&context, run](const Measurement& m) { context.store->append(run, m); };
  options.should_stop = interrupted;
  return options;
}

BoundingDevice bounding(const LocalMachine& machine) {
  return {.device = machine.measured ? &*machine.measured : nullptr, .threads = machine.cores};
}

MeasuringRun::MeasuringRun(const TunePlan& plan, const TuneContext& context)
    : plan_(plan),
      context_(context),
      source_([this](std::span<const KernelCase> cases) { return measure(cases); },
              bounding(*context.machine)) {
  const auto found = context.store->find_run(plan.hash(), context.machine->fingerprint);
  run_.is_resumed = found.has_value();
  run_.id = found ? *found : context.store->begin_run(run_info(plan, context));
  if (run_.is_resumed) stored_ = stored_rows(context, run_.id);
}

std::vector<Measurement> MeasuringRun::measure(std::span<const KernelCase> cases) {
  return measure(cases, campaign_options(plan_, context_, run_.id));
}

std::vector<Measurement> MeasuringRun::measure(std::span<const KernelCase> cases,
                                               CampaignOptions options) {
  std::vector<Measurement> rows = run_campaign(context_, std::move(options), stored_, cases);
  run_.rows.insert(run_.rows.end(), rows.begin(), rows.end());
  return rows;
}

Evaluation MeasuringRun::composed(const Configuration& configuration) const {
  Evaluation e{.configuration = configuration,
               .status = Status::refused,
               .reason = "does not fit in memory"};
  const auto composer = plan_.composers.find(configuration);
  if (composer != plan_.composers.end()) e = composer->second.compose(source_);
  explain_missing(plan_, source_, e);
  return e;
}

const Evaluation& MeasuringRun::evaluate(const Configuration& configuration) {
  return run_.evaluations.emplace_back(composed(configuration));
}

void MeasuringRun::settle() {
  if (interrupted()) return;
  const std::vector<Evaluation> judged = context_.store->evaluations(run_.id);
  if (!judged.empty()) return take_judged(judged, run_.evaluations);
  const auto measure_round = [&](std::span<const KernelCase> cases, int round, double seconds) {
    CampaignOptions options = campaign_options(plan_, context_, run_.id);
    options.rounds = 1;
    options.first_round = round;
    options.should_stop = [deadline = Clock::now() + std::chrono::duration<double>(seconds)] {
      return interrupted() || Clock::now() >= deadline;
    };
    return measure(cases, std::move(options));
  };
  const auto evaluate_again = [&] {
    for (Evaluation& e : run_.evaluations) e = composed(e.configuration);
  };
  const std::string note =
      settle_front(plan_, source_, run_.evaluations, {measure_round, evaluate_again});
  if (!note.empty()) run_.notes.push_back(note);
}

TuneRun MeasuringRun::finish() {
  for (const Measurement& m : run_.rows) run_.measuring_s += m.wall_s;
  run_.front = deployment_front(run_.evaluations, plan_.sweep.objectives);
  if (!interrupted()) {
    std::set<std::string> known;
    for (const Evaluation& e : context_.store->evaluations(run_.id)) {
      known.insert(e.configuration.key());
    }
    for (const Evaluation& e : run_.evaluations) {
      if (!known.contains(e.configuration.key())) context_.store->append(run_.id, e);
    }
  }
  return std::move(run_);
}

TuneRun measure_plan(const TunePlan& plan, const TuneContext& context) {
  MeasuringRun run(plan, context);
  const auto sampler = make_sampler(plan.sweep.sampler, *plan.space,
                                    {.seed = plan.sweep.seed,
                                     .trials = static_cast<std::size_t>(plan.sweep.trials),
                                     .objectives = plan.sweep.objectives.size()});
  run_search(*sampler,
             {.trials = static_cast<std::size_t>(plan.sweep.trials),
              .batch = plan.sweep.sampler == "grid" ? 0u : 8u},
             {.evaluate =
                  [&](const std::vector<Point>& points) {
                    run.source().require(kernels_of(plan, points));
                    std::vector<Told> out;
                    for (const Point& point : points) {
                      out.push_back(told(plan, point, run.evaluate(plan.configuration(point))));
                    }
                    return out;
                  },
              .should_stop = interrupted});
  run.settle();
  return run.finish();
}

}  // namespace halmark::cli
