#include "tune/search/gain/gain_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/numeric/statistics.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "report/text/quantity.hpp"

namespace halmark::tune {
namespace {

constexpr std::uint64_t draws = 128;
constexpr std::size_t batch_actions = 4;
// Beside the first of a batch others are measured that promise at least this share of it.
constexpr double worth_share = 0.25;
// A share of the front's hypervolume that no second is spent on.
constexpr double gain_least = 2e-4;
// From this share on it goes before the rounds that are left of the front.
constexpr double gain_before_rounds = 0.01;

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

GainSearch::GainSearch(MeasuredEvaluator& evaluator)
    : evaluator_(evaluator),
      sweep_(evaluator.plan().sweep()),
      peaks_(*evaluator.context().store, evaluator.run(), evaluator.plan().target()) {
  const TunePlan& plan = evaluator.plan();
  for (const TuneProblem& problem : plan.problems()) {
    fields_.emplace_back(problem, evaluator.composers(), table_);
  }
  kernels_ = believed_kernels(evaluator, peaks_, table_.cases());
  seconds_ = predict_cost(table_.cases(), 1, sample_rule(sweep_.measure),
                          peaks_.device(table_.cases().front()), plan.target().cores,
                          [&](const KernelCase& k) { return plan.composers().stacks_of(k); })
                 .case_seconds;
  rounds_.resize(kernels_.size(), 0);
  is_failed_.resize(kernels_.size(), false);
}

void GainSearch::take_rows() {
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const std::vector<Measurement> rows = evaluator_.source().rows(table_.cases()[k]);
    rounds_[k] = static_cast<int>(rows.size());
    kernels_[k].medians_ns = process_medians_ns(rows);
    is_failed_[k] = !rows.empty() && kernels_[k].medians_ns.empty();
  }
}

GainSearch::Judged GainSearch::judged() {
  take_rows();
  const KernelBelief belief(kernels_);
  std::vector<std::vector<KernelTime>> drawn;
  for (std::uint64_t d = 0; d < draws; ++d) drawn.push_back(belief.draw(sweep_.seed, d));
  std::vector<KernelTime> medians;
  for (const BelievedKernel& k : kernels_) {
    const double ns = k.medians_ns.empty() ? 0 : median(k.medians_ns);
    medians.push_back({ns, ns, ns, k.bound_ns, !k.medians_ns.empty()});
  }
  Judged out;
  for (const GainField& field : fields_) out.emplace_back(field, drawn, medians, is_failed_);
  return out;
}

int GainSearch::rounds_of(const GainField::Member& member) const {
  int out = std::numeric_limits<int>::max();
  for (const std::size_t k : member.kernels) out = std::min(out, rounds_[k]);
  return out;
}

std::vector<std::size_t> GainSearch::kernels_at(const GainField::Member& member, int round,
                                                const std::vector<bool>& is_chosen) const {
  std::vector<std::size_t> out;
  for (const std::size_t k : member.kernels) {
    if (rounds_[k] <= round && !is_chosen[k]) out.push_back(k);
  }
  return out;
}

// As predicted, by how much predictions missed so far.
double GainSearch::seconds_of(std::span<const std::size_t> kernels) const {
  double out = 0;
  for (const std::size_t k : kernels) out += seconds_[k];
  const double measured_s = evaluator_.measured_s();
  return predicted_s_ > 0 && measured_s > 0 ? out * measured_s / predicted_s_ : out;
}

double GainSearch::seconds_left() const { return sweep_.budget_s - evaluator_.measured_s(); }

// Of the rounds that are left of what stands on a front.
double GainSearch::rest_of_front_s(const Judged& now) const {
  std::vector<std::size_t> kernels;
  std::vector<bool> is_chosen(kernels_.size(), false);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    for (const std::size_t place : now[f].front()) {
      for (const std::size_t k : fields_[f].members()[now[f].alive()[place]].kernels) {
        if (is_chosen[k]) continue;
        is_chosen[k] = true;
        for (int round = rounds_[k]; round < sweep_.measure.rounds; ++round) kernels.push_back(k);
      }
    }
  }
  return seconds_of(kernels);
}

std::size_t GainSearch::tried() const {
  std::size_t out = 0;
  for (const GainField& field : fields_) {
    for (const auto& member : field.members()) out += rounds_of(member) > 0 ? 1 : 0;
  }
  return out;
}

bool GainSearch::is_within_regret(const Judged& now) const {
  if (!sweep_.regret) return false;
  return std::ranges::all_of(now, [&](const BelievedField& field) {
    return field.alive().empty() || field.loss().expected() <= *sweep_.regret;
  });
}

// Nothing where no gain is worth a second, or none of it is within the budget. A phase without any
// figure gets its first whatever it takes.
GainSearch::Action GainSearch::best_action(const Judged& now, const std::vector<bool>& is_chosen,
                                           double left_s, bool may_try) const {
  Action best;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const BelievedField& field = now[f];
    for (std::size_t place = 0; place < field.alive().size(); ++place) {
      if (field.loss().is_reported(place)) continue;
      const GainField::Member& member = fields_[f].members()[field.alive()[place]];
      const int round = rounds_of(member);
      if (round >= sweep_.measure.rounds || (round == 0 && !may_try)) continue;
      // One more round of n takes 1 / (n + 1) of what is in doubt.
      const double gain = field.loss().gain(place) / (round + 1);
      if (gain < gain_least) continue;
      std::vector<std::size_t> kernels = kernels_at(member, round, is_chosen);
      const double seconds = seconds_of(kernels);
      const double given_s = gain >= gain_before_rounds ? left_s : left_s - rest_of_front_s(now);
      if (seconds > given_s && field.has_figure()) continue;
      const double worth = gain / std::max(seconds, 1e-3);
      if (worth <= best.worth) continue;
      best = {.field = f,
              .place = place,
              .round = round,
              .kernels = std::move(kernels),
              .seconds = seconds,
              .worth = worth};
    }
  }
  return best;
}

// Greedy: each as if those before it in the batch were known already.
std::vector<GainSearch::Action> GainSearch::choose(Judged& now) const {
  std::vector<Action> out;
  std::vector<bool> is_chosen(kernels_.size(), false);
  double left_s = seconds_left();
  std::size_t trials = tried();
  const auto trials_max = static_cast<std::size_t>(sweep_.trials);
  while (out.size() < batch_actions && !is_within_regret(now)) {
    Action best = best_action(now, is_chosen, left_s, trials_max == 0 || trials < trials_max);
    if (best.worth == 0 || (!out.empty() && best.worth < worth_share * out.front().worth)) break;
    left_s -= best.seconds;
    trials += best.round == 0 ? 1 : 0;
    for (const std::size_t k : best.kernels) is_chosen[k] = true;
    now[best.field].loss().report(best.place);
    out.push_back(std::move(best));
  }
  return out;
}

void GainSearch::measure(std::span<const std::size_t> kernels, int round) {
  std::vector<KernelCase> cases;
  for (const std::size_t k : kernels) {
    if (rounds_[k] != round) continue;
    cases.push_back(table_.cases()[k]);
    predicted_s_ += seconds_[k];
  }
  if (cases.empty()) return;
  std::ranges::sort(cases);
  const std::vector<Measurement> rows =
      evaluator_.measure_rounds(cases, round, 1, SteadyClock::time_point::max());
  for (const Measurement& row : rows) evaluator_.source().add(row);
  take_rows();
}

// Rounds of one number together, interleaved.
void GainSearch::measure(std::span<const Action> batch) {
  std::vector<std::size_t> kernels;
  for (const Action& action : batch) {
    kernels.insert(kernels.end(), action.kernels.begin(), action.kernels.end());
  }
  std::ranges::sort(kernels);
  kernels.erase(std::ranges::unique(kernels).begin(), kernels.end());
  for (int round = sweep_.measure.rounds; round-- > 0;) measure(kernels, round);
}

std::vector<std::size_t> GainSearch::unfinished(const Judged& now, int round) const {
  std::vector<std::size_t> out;
  std::vector<bool> is_chosen(kernels_.size(), false);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    for (const std::size_t place : now[f].front()) {
      const auto& member = fields_[f].members()[now[f].alive()[place]];
      const std::vector<std::size_t> own = kernels_at(member, round, is_chosen);
      if (seconds_of(own) > seconds_left() - seconds_of(out)) continue;
      for (const std::size_t k : own) is_chosen[k] = true;
      out.insert(out.end(), own.begin(), own.end());
    }
  }
  return out;
}

bool GainSearch::complete() {
  const std::size_t rows = evaluator_.rows().size();
  for (int round = 1; round < sweep_.measure.rounds && !evaluator_.is_interrupted(); ++round) {
    measure(unfinished(judged(), round), round);
  }
  return evaluator_.rows().size() > rows;
}

std::vector<double> GainSearch::losses_of(const Judged& now) {
  std::vector<double> out;
  for (const BelievedField& field : now) out.push_back(field.loss().expected());
  return out;
}

void GainSearch::note_batch(std::span<const Action> batch, double seconds) {
  const auto fresh = static_cast<std::size_t>(
      std::ranges::count(batch, 0, [](const Action& a) { return a.round; }));
  std::vector<std::string> what;
  if (fresh > 0) what.push_back(counted(fresh, "configuration"));
  if (batch.size() > fresh) what.push_back(counted(batch.size() - fresh, "further round"));
  notes_.push_back(fmt::format("batch {}: {:.1f} s for {}", notes_.size() + 1, seconds,
                               fmt::join(what, " and ")));
}

void GainSearch::note_change(const Judged& now) {
  const std::vector<double> before = std::exchange(losses_, losses_of(now));
  if (notes_.empty()) return;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    notes_.back() += fmt::format("; {} front of {}, expected loss {} (before {})",
                                 fields_[f].name(), now[f].front().size(),
                                 report::percent_text(losses_[f]), report::percent_text(before[f]));
  }
}

void GainSearch::note_end() {
  losses_ = losses_of(judged());
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const auto measured = std::ranges::count_if(
        fields_[f].members(), [&](const auto& member) { return rounds_of(member) > 0; });
    notes_.push_back(fmt::format(
        "{}: {} of {} configurations were measured; {} of the front's hypervolume is expected to "
        "be lost by that",
        fields_[f].name(), measured, fields_[f].members().size(),
        report::percent_text(losses_[f])));
  }
}

void GainSearch::measure() {
  while (!evaluator_.is_interrupted()) {
    Judged now = judged();
    note_change(now);
    const std::vector<Action> batch = choose(now);
    if (batch.empty()) {
      // A front of one process each may look another after more of them.
      if (complete()) continue;
      break;
    }
    const double began_s = evaluator_.measured_s();
    const std::size_t rows = evaluator_.rows().size();
    measure(batch);
    if (evaluator_.rows().size() == rows) break;  // no worker measured anything
    note_batch(batch, evaluator_.measured_s() - began_s);
  }
  if (!evaluator_.is_interrupted()) note_end();
}

std::vector<Evaluation> GainSearch::evaluations() const {
  std::vector<Evaluation> out;
  for (const GainField& field : fields_) {
    for (const auto& member : field.members()) {
      if (rounds_of(member) > 0) out.push_back(evaluator_.composed(member.configuration));
    }
  }
  return out;
}

}  // namespace halmark::tune
