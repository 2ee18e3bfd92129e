#include "tune/search/gain/gain_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/numeric/statistics.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "report/text/quantity.hpp"

namespace halmark::tune {
namespace {

constexpr std::uint64_t draws = 128;
constexpr std::size_t batch_actions = 4;
// Beside the first of a batch others are measured that promise at least this share of it.
constexpr double worth_share = 0.25;
// A share of the front's hypervolume that no second is spent on, where no regret asks for less.
constexpr double least_worth_measuring = 2e-4;
// From this share on it goes before the rounds that are left of the front.
constexpr double gain_before_rounds = 0.01;
// A regret is reached when it is what is expected to be lost, and more than it is lost in no more
// of the draws than this: what is stated is to hold.
constexpr double broken_share = 0.1;
// Of one stack, where a regret asks for them: what 32 of them do not tell, no further one does.
constexpr int rounds_most = 32;
// No seconds are too few to be counted.
constexpr double seconds_least = 1e-3;

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
  const CampaignCost cost = predict_cost(
      table_.cases(), 1, sample_rule(sweep_.measure), peaks_.device(table_.cases().front()),
      plan.target().cores, [&](const KernelCase& k) { return plan.composers().stacks_of(k); });
  occasions_ = occasions_of(kernels_, cost.case_seconds);
  is_failed_.resize(kernels_.size(), false);
}

void GainSearch::take_rows() {
  for (Occasion& occasion : occasions_) {
    occasion.rounds = 0;
    occasion.measured_s = 0;
    for (const std::size_t k : occasion.kernels) {
      const std::vector<Measurement> rows = evaluator_.source().rows(table_.cases()[k]);
      kernels_[k].medians_ns = process_medians_ns(rows);
      is_failed_[k] = !rows.empty() && kernels_[k].medians_ns.empty();
      occasion.rounds = std::max(occasion.rounds, static_cast<int>(rows.size()));
      for (const Measurement& m : rows) occasion.measured_s += m.wall_s;
    }
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
  std::vector<bool> repeatable;
  for (const Occasion& occasion : occasions_) repeatable.push_back(may_repeat(occasion));
  Judged out;
  for (const GainField& field : fields_) {
    out.fields.emplace_back(field, drawn, medians, is_failed_);
    out.doubts.emplace_back(field, out.fields.back(), kernels_, occasions_, medians, repeatable);
  }
  return out;
}

bool GainSearch::may_repeat(const Occasion& occasion) const {
  return occasion.rounds > 0 &&
         occasion.rounds < (sweep_.regret ? rounds_most : sweep_.measure.rounds);
}

// As measured, or as predicted by how much predictions missed so far.
double GainSearch::seconds_of(const Occasion& occasion) const {
  if (occasion.measured_s > 0) return occasion.measured_s / occasion.rounds;
  double measured_s = 0, predicted_s = 0;
  for (const Occasion& o : occasions_) {
    measured_s += o.measured_s;
    predicted_s += o.rounds * o.predicted_s;
  }
  return occasion.predicted_s * (predicted_s > 0 && measured_s > 0 ? measured_s / predicted_s : 1);
}

double GainSearch::seconds_of(std::span<const std::size_t> occasions) const {
  double out = 0;
  for (const std::size_t o : occasions) out += seconds_of(occasions_[o]);
  return out;
}

double GainSearch::seconds_left() const { return sweep_.budget_s - evaluator_.measured_s(); }

std::vector<std::size_t> GainSearch::occasions_at(const GainField::Member& member, int round,
                                                  const std::vector<bool>& is_taken) const {
  std::set<std::size_t> out;
  for (const std::size_t k : member.kernels) {
    const std::size_t o = kernels_[k].occasion;
    if (occasions_[o].rounds <= round && !is_taken[o]) out.insert(o);
  }
  return {out.begin(), out.end()};
}

bool GainSearch::is_measured(const GainField::Member& member) const {
  return std::ranges::all_of(
      member.kernels, [&](std::size_t k) { return occasions_[kernels_[k].occasion].rounds > 0; });
}

// What gets the rounds of the sweep in the end.
std::vector<const GainField::Member*> GainSearch::finished_last(const Judged& now) const {
  std::vector<const GainField::Member*> out;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const BelievedField& field = now.fields[f];
    for (const std::size_t place : field.front()) {
      if (sweep_.regret && place != field.best()) continue;
      out.push_back(&fields_[f].members()[field.alive()[place]]);
    }
  }
  return out;
}

int GainSearch::rounds_in_the_end() const {
  return sweep_.regret ? std::min(2, sweep_.measure.rounds) : sweep_.measure.rounds;
}

double GainSearch::rest_of_front_s(const Judged& now) const {
  double out = 0;
  std::vector<bool> is_taken(occasions_.size(), false);
  for (const GainField::Member* member : finished_last(now)) {
    for (const std::size_t o : occasions_at(*member, rounds_in_the_end() - 1, is_taken)) {
      out += (rounds_in_the_end() - occasions_[o].rounds) * seconds_of(occasions_[o]);
      is_taken[o] = true;
    }
  }
  return out;
}

std::size_t GainSearch::tried() const {
  std::size_t out = 0;
  for (const GainField& field : fields_) {
    for (const auto& member : field.members()) out += is_measured(member) ? 1 : 0;
  }
  return out;
}

bool GainSearch::is_within_regret(const Judged& now) const {
  if (!sweep_.regret) return false;
  return std::ranges::all_of(now.fields, [&](const BelievedField& field) {
    return field.alive().empty() ||
           (field.loss().expected() <= *sweep_.regret &&
            field.loss().probability_above(*sweep_.regret) <= broken_share);
  });
}

double GainSearch::gain_least() const { return sweep_.regret ? 1e-9 : least_worth_measuring; }

// None where no gain is worth a second, or none of it is within the budget. A phase without any
// figure gets its first whatever it takes.
void GainSearch::propose_first(const Judged& now, const Taken& taken, double reserved_s,
                               Action& best) const {
  for (std::size_t f = 0; taken.may_try && f < fields_.size(); ++f) {
    const BelievedField& field = now.fields[f];
    for (std::size_t place = 0; place < field.alive().size(); ++place) {
      if (field.is_measured(place) || field.loss().is_reported(place)) continue;
      const double gain = field.loss().gain(place);
      if (gain < gain_least()) continue;
      const auto& member = fields_[f].members()[field.alive()[place]];
      std::vector<std::size_t> occasions = occasions_at(member, 0, taken.occasions);
      const double seconds = std::max(seconds_of(occasions), seconds_least);
      const double given_s = taken.left_s - (gain >= gain_before_rounds ? 0 : reserved_s);
      if (is_measured(member) || (seconds > given_s && field.has_figure())) continue;
      if (gain / seconds <= best.worth) continue;
      best = {.occasions = std::move(occasions),
              .seconds = seconds,
              .worth = gain / seconds,
              .is_first = true,
              .field = f,
              .place = place};
    }
  }
}

void GainSearch::propose_round(const Judged& now, const Taken& taken, double reserved_s,
                               Action& best) const {
  for (std::size_t o = 0; o < occasions_.size(); ++o) {
    if (taken.occasions[o]) continue;
    double gain = 0;
    for (const DoubtOfField& doubt : now.doubts) gain += doubt.worth(o);
    const double seconds = std::max(seconds_of(occasions_[o]), seconds_least);
    const double given_s = taken.left_s - (gain >= gain_before_rounds ? 0 : reserved_s);
    if (gain < gain_least() || seconds > given_s || gain / seconds <= best.worth) continue;
    best = {.occasions = {o}, .seconds = seconds, .worth = gain / seconds};
  }
}

// Greedy: each as if those before it in the batch were known already.
std::vector<GainSearch::Action> GainSearch::choose(Judged& now) const {
  std::vector<Action> out;
  Taken taken{.occasions = std::vector<bool>(occasions_.size(), false), .left_s = seconds_left()};
  std::size_t trials = tried();
  const auto trials_max = static_cast<std::size_t>(sweep_.trials);
  while (out.size() < batch_actions && !is_within_regret(now)) {
    taken.may_try = trials_max == 0 || trials < trials_max;
    const double reserved_s = rest_of_front_s(now);
    Action best;
    propose_first(now, taken, reserved_s, best);
    propose_round(now, taken, reserved_s, best);
    if (best.worth == 0 || (!out.empty() && best.worth < worth_share * out.front().worth)) break;
    taken.left_s -= best.seconds;
    for (const std::size_t o : best.occasions) taken.occasions[o] = true;
    if (best.is_first) {
      ++trials;
      now.fields[best.field].loss().report(best.place);
    } else {
      for (DoubtOfField& doubt : now.doubts) doubt.repeat(best.occasions.front());
    }
    out.push_back(std::move(best));
  }
  return out;
}

// The next of the sweep's, as far as the budget goes.
std::vector<GainSearch::Action> GainSearch::rounds_of_front(const Judged& now) const {
  std::vector<Action> out;
  std::vector<bool> is_taken(occasions_.size(), false);
  double left_s = seconds_left();
  for (int round = 1; round < rounds_in_the_end() && out.empty(); ++round) {
    for (const GainField::Member* member : finished_last(now)) {
      Action action{.occasions = occasions_at(*member, round, is_taken)};
      action.seconds = seconds_of(action.occasions);
      if (action.occasions.empty() || action.seconds > left_s) continue;
      left_s -= action.seconds;
      for (const std::size_t o : action.occasions) is_taken[o] = true;
      out.push_back(std::move(action));
    }
  }
  return out;
}

void GainSearch::measure(std::span<const std::size_t> occasions, int round) {
  std::vector<KernelCase> cases;
  for (const std::size_t o : occasions) {
    if (occasions_[o].rounds != round) continue;
    for (const std::size_t k : occasions_[o].kernels) cases.push_back(table_.cases()[k]);
  }
  if (cases.empty()) return;
  std::ranges::sort(cases);
  const std::vector<Measurement> rows =
      evaluator_.measure_rounds(cases, round, 1, SteadyClock::time_point::max());
  for (const Measurement& row : rows) evaluator_.source().add(row);
}

// Rounds of one number together, interleaved.
void GainSearch::measure(std::span<const Action> batch) {
  std::set<std::size_t> occasions;
  std::set<int> rounds;
  for (const Action& action : batch) {
    occasions.insert(action.occasions.begin(), action.occasions.end());
    for (const std::size_t o : action.occasions) rounds.insert(occasions_[o].rounds);
  }
  const std::vector<std::size_t> in_order(occasions.begin(), occasions.end());
  for (const int round : rounds) measure(in_order, round);
}

std::vector<double> GainSearch::losses_of(const Judged& now) {
  std::vector<double> out;
  for (const BelievedField& field : now.fields) out.push_back(field.loss().expected());
  return out;
}

void GainSearch::note_batch(std::span<const Action> batch, double seconds, const Judged& now) {
  const auto first = static_cast<std::size_t>(std::ranges::count(batch, true, &Action::is_first));
  std::set<std::size_t> repeated;
  for (const Action& action : batch) {
    if (!action.is_first) repeated.insert(action.occasions.begin(), action.occasions.end());
  }
  std::vector<std::string> what;
  if (first > 0) what.push_back(counted(first, "configuration"));
  if (!repeated.empty()) what.push_back("further rounds of " + counted(repeated.size(), "stack"));
  std::string line = fmt::format("batch {}: {:.1f} s for {}", batches_.size() + 1, seconds,
                                 fmt::join(what, " and "));
  const std::vector<double> before = std::exchange(losses_, losses_of(now));
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    line += fmt::format("; {} front of {}, expected loss {} (before {})", fields_[f].name(),
                        now.fields[f].front().size(), report::percent_text(losses_[f]),
                        report::percent_text(before[f]));
  }
  if (evaluator_.context().tell) evaluator_.context().tell(line);
  batches_.push_back(std::move(line));
}

void GainSearch::note_end(const Judged& now) {
  losses_ = losses_of(now);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const auto measured = std::ranges::count_if(
        fields_[f].members(), [&](const auto& member) { return is_measured(member); });
    notes_.push_back(fmt::format(
        "{}: {} of {} configurations were measured; {} of the front's hypervolume is expected to "
        "be lost by that",
        fields_[f].name(), measured, fields_[f].members().size(),
        report::percent_text(losses_[f])));
  }
}

void GainSearch::measure() {
  Judged now = judged();
  losses_ = losses_of(now);
  while (!evaluator_.is_interrupted()) {
    std::vector<Action> batch = choose(now);
    // A front of one process each may look another after more of them.
    if (batch.empty()) batch = rounds_of_front(now);
    const double began_s = evaluator_.measured_s();
    const std::size_t rows = evaluator_.rows().size();
    measure(batch);
    const bool is_measured = evaluator_.rows().size() > rows;
    now = judged();  // what was chosen counted as known
    if (!is_measured) break;
    note_batch(batch, evaluator_.measured_s() - began_s, now);
  }
  if (!evaluator_.is_interrupted()) note_end(now);
}

std::vector<Evaluation> GainSearch::evaluations() const {
  std::vector<Evaluation> out;
  for (const GainField& field : fields_) {
    for (const auto& member : field.members()) {
      if (is_measured(member)) out.push_back(evaluator_.composed(member.configuration));
    }
  }
  return out;
}

}  // namespace halmark::tune
