// Tree-structured Parzen estimator for several objectives (Bergstra et al. 2011; Ozaki et al.
// 2022): one mixture of the good, one of the rest, and one of failures, so that a bad region
// teaches what not to ask, beside the share of failures around each candidate. Joint over all
// parameters.
#include <algorithm>

#include "core/lists.hpp"
#include "search/samplers/selection.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/surrogate/failure_model.hpp"
#include "search/surrogate/parzen.hpp"

namespace halmark {
namespace {

constexpr std::size_t start_trials = 10, good_max = 25, candidates = 24, draws_max = 160;
constexpr double good_share = 0.1;
constexpr std::uint64_t purpose_draw = 0x79e;

class Tpe : public Proposer {
 public:
  Tpe(const Space& space, const SamplerOptions& options)
      : Proposer("tpe", space, options),
        sequence_(space.domains().size(), options.seed),
        failures_(space) {}

 private:
  using Form = ParzenMixture::Form;

  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial < start_trials || values_.empty()) {
      return space().from_unit(sequence_.at(trial + attempt));
    }
    if (attempt > 0) return std::nullopt;
    split();
    Stream random = stream(trial, purpose_draw);
    // Both forms take turns: each is blind where the other sees.
    const Form form = random.uniform() < 0.5 ? Form::joint : Form::independent;
    const double dimensions = form == Form::joint ? as_double(space().domains().size()) : 1;
    const double n = as_double(good_.size() + 1);
    const ParzenKernels kernels(space(), 0.2 * std::pow(n, -1 / (dimensions + 4)));
    const double risk_max = guard().is_awake() ? guard().risk_max() : 1;
    std::optional<Point> best;
    double best_score = 0, best_excess = 0;
    std::size_t found = 0;
    for (std::size_t draw = 0; draw < draws_max && found < candidates; ++draw) {
      Point p = good_.draw(kernels, form, random, effort_);
      if (!history().is_new(p)) continue;
      ++found;
      // Those that are too likely to fail are behind all others, by how much.
      const double excess = risk_max < 1 ? std::max(0.0, guard().risk(p) - risk_max) : 0;
      if (best && excess > best_excess) continue;
      const double score = score_of(kernels, p, form);
      if (!best || excess < best_excess || score > best_score) {
        best = std::move(p);
        best_score = score;
        best_excess = excess;
      }
    }
    return best ? best : std::optional(good_.draw(kernels, form, random, effort_));
  }

  double score_of(const ParzenKernels& kernels, const Point& p, Form form) const {
    const double failed = as_double(failed_.size());
    const double w = failed / (failed + as_double(trials_.size()));
    double bad = (1 - w) * rest_.density(kernels, p, form);
    if (w > 0) bad += w * failed_.density(kernels, p, form);
    // Mixtures blur what a failure says about its nearest neighbours: the odds there count, too.
    return std::log(good_.density(kernels, p, form)) - std::log(bad) +
           std::log(failures_.success(p));
  }

  void learn(std::size_t trial) override {
    const Trial& t = history().trials()[trial];
    failures_.learn(t);
    if (t.outcome == TrialOutcome::complete) {
      trials_.push_back(trial);
      values_.push_back(t.objectives);
      is_split_ = false;
    } else {
      failed_.add(space(), t.point);
    }
  }

  void split() {
    if (is_split_) return;
    const auto tenth = as_size(std::ceil(good_share * as_double(values_.size())));
    std::vector<bool> is_good(values_.size(), false);
    for (const std::size_t i : best_points(values_, std::min(tenth, good_max))) is_good[i] = true;
    good_.clear();
    rest_.clear();
    for (const auto i : indices(trials_)) {
      (is_good[i] ? good_ : rest_).add(space(), history().trials()[trials_[i]].point);
    }
    is_split_ = true;
  }

  SobolSequence sequence_;
  std::vector<std::size_t> trials_;  // complete
  std::vector<Objectives> values_;
  ParzenMixture good_, rest_, failed_;
  FailureModel failures_;
  bool is_split_ = false;
};

}  // namespace

std::unique_ptr<Sampler> make_tpe(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Tpe>(space, options);
}

}  // namespace halmark
