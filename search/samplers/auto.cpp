// What to use when nobody chose. A space that the budget covers is a grid. Otherwise Sobol points
// first, or where points are known by what they promise, those in that order; then a portfolio:
// Gaussian processes, Parzen estimators, evolution, local search and that order take turns on one
// history, each with the share of trials that its recent successes earn. A success is
// a trial that enters the front; it counts by how its gain of hypervolume ranks among recent ones,
// because in wide spaces of several objectives nearly everything enters. What one proposes the
// others learn from. Models of objectives cost more with every trial; from a stated number of
// trials on, evolution and even draws go on alone, whatever the clock says: a search can be
// repeated.
#include <algorithm>
#include <array>
#include <map>

#include "core/lists.hpp"
#include "search/proposer.hpp"
#include "search/samplers/listed.hpp"
#include "search/samplers/selection.hpp"
#include "search/surrogate/improvement.hpp"

namespace halmark {
namespace {

constexpr std::size_t start_trials = 12;
// By then models take milliseconds a trial, evolution microseconds.
constexpr std::size_t hand_over_trials = 1500;
// Behind the hand-over: constraints between parameters (a product of degrees) keep evolution, which
// changes few of them at a time, from layouts that nothing near its population has.
constexpr std::size_t even_every = 10;
constexpr double memory = 0.97;           // weight of a success that is one trial older
constexpr double share_min = 0.1;         // of each source
constexpr std::size_t near_the_best = 5;  // one objective: a success is to be among so many
constexpr std::size_t recent_gains = 30;
constexpr std::uint64_t purpose_source = 0xa06f;

struct Source {
  std::string_view name;
  std::size_t first;  // trial from which it is asked
  double prior;       // successes that it is credited with at first, of four trials
};

constexpr std::size_t source_count = 5;
constexpr std::size_t population = 2, listed = 4;  // of the sources
constexpr std::array<Source, source_count> sources{Source{"gp", 0, 2}, Source{"tpe", 0, 2},
                                                   Source{"nsga2", 50, 1}, Source{"pls", 0, 1},
                                                   Source{"listed", 0, 2}};

std::unique_ptr<Sampler> start_of(const Space& space, const SamplerOptions& options, bool is_grid) {
  if (!options.first.empty()) return make_listed(space, options);
  return make_sampler(is_grid ? "grid" : "sobol", space, options);
}

bool is_number(double y) { return std::isfinite(y); }

class Auto : public Sampler {
 public:
  Auto(const Space& space, const SamplerOptions& options)
      : options_(options),
        history_(space),
        is_grid_(space.is_countable() && (space.size() <= start_trials ||
                                          (options.trials > 0 && space.size() <= options.trials))),
        start_(start_of(space, options, is_grid_)) {
    for (const auto k : indices(sources)) {
      credits_[k].successes = sources[k].prior;
      if (!is_grid_ && k != listed) {
        members_.push_back(make_sampler(sources[k].name, space, options));
      }
    }
  }

  std::string_view name() const override { return "auto"; }

  std::string state() const override {
    std::string out = "auto: ";
    if (is_grid_) return out + "grid, the budget covers the space";
    const std::string start(is_listed() ? "listed" : "sobol");
    if (is_handed_over()) {
      return out + std::string(sources[population].name) + ", every tenth trial " + start;
    }
    if (history_.size() < start_trials) return out + start + ", to begin with";
    const auto shares = shares_at(history_.size());
    for (const auto k : indices(sources)) {
      if (!has(k)) continue;
      out += (k == 0 ? "" : ", ") + std::string(sources[k].name) + ' ' +
             std::to_string(as_int(std::lround(100 * shares[k]))) + " %";
    }
    return out;
  }

  std::vector<std::string> answered_by() const override { return answered_by_; }

  void heed(const std::function<bool()>& should_stop) override {
    should_stop_ = should_stop;
    start_->heed(should_stop);
    for (const auto& member : members_) member->heed(should_stop);
  }

  std::vector<Point> ask(std::size_t count) override {
    std::vector<Point> out;
    answered_by_.clear();
    while (out.size() < count && !(should_stop_ && should_stop_())) {
      Sampler& source = source_of(history_.size());
      std::vector<Point> next = source.ask(1);
      if (next.empty()) break;
      answered_by_.push_back(source.answered_by().front());
      if (!is_handed_over()) proposers_[history_.size()] = answered_by_.back();
      const Told pending{.point = next.front(), .outcome = TrialOutcome::pending};
      history_.add_pending(next.front());
      for (Sampler* other : everybody()) {
        if (other != &source) other->tell({pending});
      }
      out.push_back(std::move(next.front()));
    }
    return out;
  }

  void tell(const std::vector<Told>& outcomes) override {
    for (const Told& told : outcomes) {
      const bool was_known = history_.knows(told.point);
      const std::size_t trial = history_.tell(told);
      if (!told.proposer.empty() && !is_handed_over()) proposers_[trial] = told.proposer;
      for (Sampler* member : everybody()) {
        if (!was_known || told.outcome != TrialOutcome::pending) member->tell({told});
      }
      if (told.outcome == TrialOutcome::pending || is_grid_ || is_handed_over()) continue;
      const double worth = worth_of(history_.trials()[trial]);
      if (trial >= start_trials) credit(trial, worth);
      proposers_.erase(trial);
    }
  }

 private:
  struct Credit {
    double successes = 1, trials = 4;
  };
  using Shares = std::array<double, source_count>;

  bool is_listed() const { return !options_.first.empty(); }
  bool has(std::size_t source) const { return source != listed || is_listed(); }
  // The list begins, and goes on as one of the sources.
  Sampler& of_source(std::size_t source) const {
    return source == listed ? *start_ : *members_[source];
  }

  // By the trials with an outcome: what models cost does not depend on how many are running.
  bool is_handed_over() const { return history_.finished() >= hand_over_trials; }

  // Those who are still to hear of trials.
  std::vector<Sampler*> everybody() const {
    std::vector<Sampler*> out{start_.get()};
    if (!is_grid_ && is_handed_over()) {
      out.push_back(members_[population].get());
      return out;
    }
    for (const auto& member : members_) out.push_back(member.get());
    return out;
  }

  Shares shares_at(std::size_t trial) const {
    Shares out{};
    double sum = 0;
    for (const auto k : indices(out)) {
      if (trial < sources[k].first || !has(k)) continue;
      out[k] = credits_[k].successes / credits_[k].trials;
      sum += out[k];
    }
    double total = 0;
    for (const auto k : indices(out)) {
      if (trial < sources[k].first || !has(k)) continue;
      out[k] = std::max(out[k] / sum, share_min);
      total += out[k];
    }
    for (double& share : out) share /= total;
    return out;
  }

  // A function of the trial and of what was told before it.
  std::size_t source_number(std::size_t trial) const {
    const Shares shares = shares_at(trial);
    double left = Stream(options_.seed, trial, purpose_source).uniform();
    std::size_t last = 0;
    for (const auto k : indices(shares)) {
      if (shares[k] == 0) continue;
      last = k;
      left -= shares[k];
      if (left < 0) break;
    }
    return last;
  }

  Sampler& source_of(std::size_t trial) const {
    if (is_grid_ || trial < start_trials) return *start_;
    if (!is_handed_over()) return of_source(source_number(trial));
    return trial % even_every == 0 ? *start_ : *members_[population];
  }

  // Of the source that proposed the trial; a uniform draw in its place is nobody's merit.
  void credit(std::size_t trial, double worth) {
    const auto* by = find_value(proposers_, trial);
    std::size_t number = source_number(trial);
    if (by) {
      const auto named = std::ranges::find(sources, *by, &Source::name);
      if (named == sources.end()) return;
      number = as_size(named - sources.begin());
    }
    Credit& c = credits_[number];
    c.successes = memory * c.successes + worth;
    c.trials = memory * c.trials + 1;
  }

  // 0 to 1, among all trials told so far.
  double worth_of(const Trial& t) {
    if (t.outcome != TrialOutcome::complete) return 0;
    if (t.objectives.size() == 1) return is_near_the_best(t) ? 1 : 0;
    const double gain = enter_front(t.objectives);
    const auto beaten = std::ranges::count_if(gains_, [&](double g) { return g < gain; });
    const double among = as_double(gains_.size());
    gains_.push_back(gain);
    if (gains_.size() > recent_gains) gains_.erase(gains_.begin());
    return gain > 0 ? (as_double(beaten) + 1) / (among + 1) : 0;
  }

  bool is_near_the_best(const Trial& t) const {
    std::size_t better = 0;
    for (const Trial& other : history_.trials()) {
      if (other.outcome != TrialOutcome::complete) continue;
      if (dominates(other.objectives, t.objectives) && ++better >= near_the_best) return false;
    }
    return true;
  }

  // What it adds to the hypervolume of the front that it joins, 0 where it does not. One, where
  // that is not to be had cheaply.
  double enter_front(const Objectives& y) {
    for (const Objectives& f : front_) {
      if (f == y || dominates(f, y)) return 0;
    }
    std::vector<Objectives> rivals = front_;
    std::erase_if(front_, [&](const Objectives& f) { return dominates(y, f); });
    front_.push_back(y);
    const bool is_finite = std::ranges::all_of(
        front_, [](const Objectives& f) { return std::ranges::all_of(f, is_number); });
    if (y.size() > 3 || !is_finite) return 1;
    return OpenRegion(rivals, reference_beyond(front_)).gain(y);
  }

  SamplerOptions options_;
  History history_;
  bool is_grid_;
  std::unique_ptr<Sampler> start_;
  std::vector<std::unique_ptr<Sampler>> members_;
  std::array<Credit, source_count> credits_;
  std::vector<Objectives> front_;                 // distinct values
  std::vector<double> gains_;                     // of the last trials, oldest first
  std::map<std::size_t, std::string> proposers_;  // of trials that are not told yet
  std::vector<std::string> answered_by_;
  std::function<bool()> should_stop_;
};

}  // namespace

std::unique_ptr<Sampler> make_auto(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Auto>(space, options);
}

}  // namespace halmark
