// The journal comes first: a row is stored when it is measured, and what is stored is not measured
// again, so that a run that was stopped goes on where it ended.
#include "tune/evaluate/measured_evaluator.hpp"

#include <algorithm>
#include <chrono>

#include "core/lists.hpp"
#include "core/version.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "plan/device/device_file.hpp"
#include "tune/evaluate/agreement/night_run.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"

namespace halmark::tune {

namespace {

RunInfo run_info(const TunePlan& plan, const MeasureContext& context) {
  const std::string now = journal::utc_now();
  return {.command = context.command,
          .plan_hash = plan.hash(),
          .plan_text = plan.text(),
          .fingerprint = plan.target().fingerprint,
          .tool_version = tool_version,
          .tool_build = tool_build,
          .started_utc = context.night.date.empty() ? now : context.night.date + now.substr(10)};
}

std::optional<std::int64_t> run_to_go_on_with(const TunePlan& plan, const MeasureContext& context) {
  if (context.starts_new_run) return std::nullopt;
  auto run = find_run(*context.store, plan.hash(), plan.target().identity());
  if (run && plan.sweep().nightly && !goes_on_with(*context.store, *run, context.night.date))
    run.reset();
  return run;
}

}  // namespace

MeasuredEvaluator::MeasuredEvaluator(const TunePlan& plan, Composers& composers,
                                     const MeasureContext& context, KernelChooser& chooser)
    : plan_(plan),
      composers_(composers),
      context_(context),
      chooser_(chooser),
      source_(
          [this](std::span<const KernelCase> cases) {
            return run_campaign(cases, campaign_options());
          },
          plan.target().bounding()) {
  if (plan.target().fabric) add_fabric(plan.target(), source_, with_fabric_);
  // No peak of this machine bounds what lies on others too.
  for (int nodes = 2; nodes <= plan.target().nodes; ++nodes) {
    source_.bound_by(device_over_nodes(plan.target().device_text(), nodes), {});
  }
  begin_run();
  if (plan.target().measured) peaks_.emplace(*plan.target().measured, journal::utc_now);
  for (const Target& named : plan.target().named) {
    source_.bound_by(named.device_text(), named.bounding());
    if (!named.measured) continue;
    peaks_of_named_.try_emplace(named.device_text(), *named.measured, journal::utc_now);
  }
  store_peaks();
  if (!is_resumed_) return;
  // Another build of the plugin is another series.
  for (Measurement& m : context.store->run_measurements(run_)) {
    if (!is_of_this_build(m)) continue;
    const auto key = std::pair(m.kernel_case.key(), m.round);
    stored_.insert_or_assign(key, std::move(m));
  }
  context.store->require_sound();
}

void MeasuredEvaluator::begin_run() {
  const auto found = run_to_go_on_with(plan_, context_);
  context_.store->require_sound();  // a run that cannot be found would be measured twice
  KernelMeasurer::Run run;
  if (found) {
    run = {.id = *found, .is_found = true};
  } else if (context_.fleet != nullptr) {
    const bool starts_new_run = context_.starts_new_run || plan_.sweep().nightly;
    run = context_.fleet->begin(run_info(plan_, context_), starts_new_run);
  } else {
    run.id = context_.store->begin_run(run_info(plan_, context_));
  }
  run_ = run.id;
  is_resumed_ = run.is_found;
  if (is_resumed_ || context_.machine_lines.empty()) return;
  context_.store->append(run_, RunMachine{context_.machine_lines});
}

bool MeasuredEvaluator::is_of_this_build(const Measurement& row) const {
  const auto* own = find_value(context_.plugins.hashes, row.kernel_case.backend);
  const std::string& hash = !own ? context_.plugin_hash : *own;
  return row.plugin_hash.empty() || row.plugin_hash == hash;
}

void MeasuredEvaluator::store_peaks() {
  const Target& target = plan_.target();
  if (target.named.empty()) {
    if (peaks_) store_peaks(*peaks_, target, false);
  }
  for (const Target& named : target.named) {
    const auto* own = find_value(peaks_of_named_, named.device_text());
    if (own) store_peaks(*own, named, true);
  }
  stored_revision_ = revision_of_named();
}

void MeasuredEvaluator::store_peaks(const RunPeaks& peaks, const Target& of, bool is_named) {
  UsedPeaks used{device_text(peaks.device()), of.cores};
  if (is_named) used.devices = {of.device_text()};
  std::vector<UsedPeaks> known = context_.store->rows<UsedPeaks>(run_);
  context_.store->require_sound();  // nothing is added to a run that does not hold
  std::erase_if(known, [&](const UsedPeaks& other) { return other.devices != used.devices; });
  if (known.empty() || !(known.back() == used)) context_.store->append(run_, used);
}

int MeasuredEvaluator::revision_of_named() const {
  int out = peaks_ ? peaks_->revision() : 0;
  for (const auto& [device, peaks] : peaks_of_named_) out += peaks.revision();
  return out;
}

CampaignOptions MeasuredEvaluator::campaign_options() {
  const Target& target = plan_.target();
  CampaignOptions options = campaign_of(target.backend, context_.plugin_path, context_.plugin_hash,
                                        peaks_ ? &*peaks_ : nullptr);
  add_plugins(context_.plugins, options);
  options.job = context_.job;
  for (auto& [device, peaks] : peaks_of_named_) options.peaks_by_device[device] = &peaks;
  const MeasureSettings& settings = plan_.sweep().measure;
  options.rounds = settings.rounds;
  options.rule = sample_rule(settings);
  options.wall_cap_s = settings.wall_cap_s;
  options.thresholds = thresholds_of(settings.limits);
  options.seed = plan_.sweep().seed;
  options.sink = [this](const Measurement& m) {
    if (revision_of_named() != stored_revision_) store_peaks();
    context_.store->append(run_, m);
    ++new_rows_;
    note_time(m);
  };
  options.limits = context_.worker_limits;
  options.hangs = &hangs_;
  options.arenas = &arenas_;
  options.should_stop = [this] { return is_interrupted(); };
  options.progress = context_.progress;
  options.stacks_of = [this](const KernelCase& k) { return composers_.stacks_of(k); };
  options.lookup = [this](const KernelCase& c, int round) -> std::optional<Measurement> {
    const auto it = stored_.find({c.key(), round});
    return it == stored_.end() ? std::nullopt : std::optional(it->second);
  };
  return options;
}

std::vector<Measurement> MeasuredEvaluator::run_campaign(std::span<const KernelCase> cases,
                                                         CampaignOptions options) {
  std::vector<Measurement> rows;
  if (context_.fleet != nullptr) {
    // Who measures commits the rows, judged by peaks of its own.
    rows = context_.fleet->measure(run_, cases, plan_.sweep().measure, options);
    new_rows_ += as_size(std::ranges::count_if(rows, [&](const Measurement& m) {
      return !stored_.contains({m.kernel_case.key(), m.round});
    }));
  } else {
    rows = Campaign(std::move(options)).run(cases);
  }
  append_all(rows_, rows);
  if (revision_of_named() == bounding_revision_) return rows;
  bounding_revision_ = revision_of_named();
  if (peaks_) source_.bound_by({.device = &peaks_->device(), .threads = plan_.target().cores});
  for (const Target& named : plan_.target().named) {
    const auto* own = find_value(peaks_of_named_, named.device_text());
    if (!own) continue;
    source_.bound_by(named.device_text(), {.device = &own->device(), .threads = named.cores});
  }
  return rows;
}

std::vector<Measurement> MeasuredEvaluator::measure_rounds(std::span<const KernelCase> cases,
                                                           int first, int rounds,
                                                           SteadyClock::time_point until) {
  CampaignOptions options = campaign_options();
  options.rounds = rounds;
  options.first_round = first;
  options.should_stop = [&] { return is_interrupted() || SteadyClock::now() >= until; };
  return run_campaign(cases, std::move(options));
}

double MeasuredEvaluator::measured_s() const {
  double out = 0;
  for (const Measurement& m : rows_) out += m.wall_s;
  return out;
}

double MeasuredEvaluator::kept_s() const {
  double out = 0;
  for (const auto& [key, m] : stored_) out += m.wall_s;
  return out;
}

// What was measured, and where no collective could be, the fabric.
Composer::Lookup MeasuredEvaluator::lookup(const Composer& composer) const {
  if (with_fabric_.has(SourceKind::fabric)) return placed(with_fabric_, composer.graph());
  return [this](const KernelCase& kernel_case) { return source_.latency(kernel_case); };
}

// Why a kernel that a configuration needs has no latency, in words of its last row.
void MeasuredEvaluator::explain_missing(const Composer& composer, const Composer::Lookup& known,
                                        Evaluation& e) const {
  for (const KernelCase& k : composer.kernels()) {
    if (known(k)) continue;
    const std::vector<Measurement> rows = source_.rows(k);
    if (!rows.empty()) e.status = rows.back().status;
    e.reason = k.problem.text() + ": " + source_.why_absent(k);
    return;
  }
}

void MeasuredEvaluator::note_time(const Measurement& m) {
  using Clock = std::chrono::system_clock;
  const Clock::time_point ended = Clock::now();
  const auto cost = std::chrono::duration<double>(m.wall_s);
  const Clock::time_point began = ended - std::chrono::duration_cast<Clock::duration>(cost);
  const auto [at, is_first] = kernel_times_.emplace(m.kernel_case.key(), TrialTime{began, ended});
  if (!is_first) at->second.ended = ended;
}

std::optional<TrialTime> MeasuredEvaluator::measured_when(const Configuration& configuration) {
  const Composers::Entry& entry = composers_.of(configuration);
  if (!entry.composer) return std::nullopt;
  std::optional<TrialTime> out;
  for (const KernelCase& k : entry.composer->kernels()) {
    const auto* it = find_value(kernel_times_, k.key());
    if (!it) continue;
    if (!out) out = *it;
    out->began = std::min(out->began, it->began);
    out->ended = std::max(out->ended, it->ended);
  }
  return out;
}

Evaluation MeasuredEvaluator::composed(const Configuration& configuration) {
  const Composers::Entry& entry = composers_.of(configuration);
  if (!entry.composer) return refused_evaluation(configuration, *entry.refusal);
  const Composer::Lookup known = lookup(*entry.composer);
  Evaluation out = entry.composer->compose(known);
  if (!out.estimate) explain_missing(*entry.composer, known, out);
  return out;
}

std::vector<Evaluation> MeasuredEvaluator::evaluate(std::span<const Configuration> configurations) {
  chooser_.measure(configurations, composers_, source_);
  return mapped(configurations, [&](const Configuration& c) { return composed(c); });
}

}  // namespace halmark::tune
