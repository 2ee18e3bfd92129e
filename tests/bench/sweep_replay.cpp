#include "sweep_replay.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "core/numeric/statistics.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "search/pareto/front_loss.hpp"
#include "search/proposer.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/untried.hpp"

namespace halmark::bench {
namespace {

std::string digest_of(const KernelCase& k) { return sha256_of(k.key()).substr(0, 12); }

Estimate estimate_of(const Composer& composer,
                     const std::function<double(const KernelCase&)>& median_ns) {
  const auto step = tune::step_of(composer, [&](const KernelCase& k) {
    const double ns = median_ns(k);
    return KernelTime{ns, ns, ns, 0, true};
  });
  return step.value();
}

// A tenth of the front's extent beyond its worst values, however small that is.
Objectives strict_reference(const std::vector<Objectives>& figures) {
  std::vector<Objectives> front;
  for (const std::size_t f : non_dominated(figures)) front.push_back(figures[f]);
  Objectives out = front_reference(front);
  for (std::size_t m = 0; m < out.size(); ++m) {
    const auto by = [&](const Objectives& p) { return p[m]; };
    const double low = std::ranges::min(front, {}, by)[m],
                 high = std::ranges::max(front, {}, by)[m];
    if (high > low) out[m] = high + 0.1 * (high - low);
  }
  return out;
}

}  // namespace

RecordedKernels::RecordedKernels(const std::string& name) {
  const std::string at = test::in_source("/tests/data/" + name);
  std::ifstream rows(at + ".tsv"), device(at + ".toml");
  if (!rows || !device) throw Error(ExitCode::error, "no " + at + ".tsv and .toml");
  std::stringstream text;
  text << device.rdbuf();
  device_ = parse_device(text.str(), at + ".toml");
  for (std::string line; std::getline(rows, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string digest, status;
    if (line.starts_with("machine")) {
      fields >> digest >> threads_ >> memory_bytes_ >> has_bf16_;
      continue;
    }
    Row row;
    int round = 0;
    fields >> digest >> round >> status >> row.median_ns >> row.wall_s;
    row.is_ok = status == "ok";
    rows_[digest].push_back(row);
    rounds_ = std::max(rounds_, round + 1);
  }
}

const RecordedKernels::Row& RecordedKernels::row(const KernelCase& kernel_case, int round) const {
  const auto own = rows_.find(digest_of(kernel_case));
  if (own == rows_.end()) throw Error(ExitCode::error, "not recorded: " + kernel_case.key());
  return own->second[static_cast<std::size_t>(round) % own->second.size()];
}

double RecordedKernels::median_ns(const KernelCase& kernel_case) const {
  std::vector<double> medians;
  for (int round = 0; round < rounds_; ++round) {
    medians.push_back(row(kernel_case, round).median_ns);
  }
  return median(medians);
}

tune::Target RecordedKernels::target() const {
  tune::Target out;
  out.measured = device_;
  out.fingerprint = device_.fingerprint;
  out.cores = threads_;
  out.memory_bytes = memory_bytes_;
  return out;
}

// What is measured in one process and one state of the machine.
std::string SweepReplay::together(const KernelCase& kernel_case) const {
  const std::span<const Stack> stacks = plan_->composers().stacks_of(kernel_case);
  return stacks.empty() ? kernel_case.key() : stacks.front().kernels.front().key();
}

int SweepReplay::recorded_round(const std::string& together, int round) const {
  if (round < recorded_.rounds()) return round + static_cast<int>(seed_ % 97);
  return static_cast<int>(
      hash_combine(hash_combine(seed_, xxh3_of(together)), static_cast<std::uint64_t>(round)) % 97);
}

double SweepReplay::median_ns(const KernelCase& kernel_case, const std::string& together,
                              int round) const {
  if (scatter_ == 0) {
    return recorded_.row(kernel_case, recorded_round(together, round)).median_ns;
  }
  const auto normal = [&](const std::string& of, std::uint64_t purpose) {
    return Stream(hash_combine(seed_, xxh3_of(of)), static_cast<std::uint64_t>(round), purpose)
        .normal();
  };
  return recorded_.median_ns(kernel_case) *
         std::exp(scatter_ * (std::sqrt(0.7) * normal(together, 1) +
                              std::sqrt(0.3) * normal(kernel_case.key(), 2)));
}

std::vector<Measurement> SweepReplay::measure(std::int64_t, std::span<const KernelCase> cases,
                                              const MeasureSettings&,
                                              const CampaignOptions& options) {
  std::vector<Measurement> out;
  for (int round = options.first_round; round < options.first_round + options.rounds; ++round) {
    const auto order = static_cast<std::uint64_t>(round);
    for (const GroupedCases& grouped : round_order(cases, order, options.stacks_of)) {
      for (const std::size_t index : grouped.cases) {
        Measurement& m = out.emplace_back();
        m.kernel_case = cases[index];
        m.round = round;
        const std::string with = together(m.kernel_case);
        const auto& like = recorded_.row(m.kernel_case, recorded_round(with, round));
        m.status = like.is_ok ? Status::ok : Status::suspect;
        m.plugin_hash = context_.plugin_hash;
        m.duration_ns_median = median_ns(m.kernel_case, with, round);
        m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
        m.wall_s = grouped.stacks.empty()
                       ? like.wall_s
                       : stack_s_.at(with) / static_cast<double>(grouped.cases.size());
      }
    }
  }
  return out;
}

SweepReplay::SweepReplay(const RecordedKernels& recorded, Sweep sweep, std::uint64_t seed,
                         double scatter)
    : recorded_(recorded), seed_(seed), scatter_(scatter) {
  sweep.seed = seed;
  // The exhaustive sweep has as many rounds as were recorded.
  if (scatter == 0) sweep.measure.limits.rounds = sweep.measure.rounds = recorded.rounds();
  plan_ = tune::measured_plan(std::move(sweep), recorded.target(), recorded.has_bf16(),
                              {test::in_source("/configs/models")},
                              {test::in_source("/configs/fabrics")});
  store_ = open_store((folder_.path() / "a.db").string());
  context_.plugin_hash = "00ff";
  context_.store = store_.get();
  context_.fleet = this;
  for (const KernelCase& k : plan_->forecast().kernels) {
    for (int round = 0; round < recorded.rounds(); ++round) {
      const double wall_s = recorded.row(k, round).wall_s / recorded.rounds();
      stack_s_[together(k)] += wall_s;
      exhaustive_s_ += wall_s * plan_->sweep().measure.rounds;
    }
  }
  evaluator_ =
      std::make_unique<tune::MeasuredEvaluator>(*plan_, plan_->composers(), context_, all_);
  for (const tune::TuneProblem& problem : plan_->problems()) add_truth(problem);
}

void SweepReplay::add_truth(const tune::TuneProblem& problem) {
  Truth& truth = truth_.emplace_back();
  std::vector<double> steps_ns;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    const Configuration c = problem.at(problem.space().point(i));
    const auto& entry = plan_->composers().of(c);
    if (!entry.composer) continue;
    const Estimate e =
        estimate_of(*entry.composer, [&](const KernelCase& k) { return recorded_.median_ns(k); });
    truth.configurations.push_back(c);
    truth.figures.push_back(minimised(e, problem.objectives()));
    steps_ns.push_back(e.step_ns);
  }
  truth.fastest = static_cast<std::size_t>(std::ranges::min_element(steps_ns) - steps_ns.begin());
}

double SweepReplay::loss(const std::map<KernelCase, std::vector<double>>& medians,
                         bool is_strict) const {
  double worst = 0;
  for (std::size_t p = 0; p < truth_.size(); ++p) {
    const Truth& truth = truth_[p];
    FrontLoss loss(truth.configurations.size());
    loss.add(truth.figures, is_strict ? strict_reference(truth.figures) : Objectives());
    std::vector<std::size_t> measured;
    std::vector<Objectives> figures;
    for (std::size_t c = 0; c < truth.configurations.size(); ++c) {
      const Composer& composer = *plan_->composers().of(truth.configurations[c]).composer;
      if (!std::ranges::all_of(composer.kernels(),
                               [&](const KernelCase& k) { return medians.contains(k); }))
        continue;
      measured.push_back(c);
      figures.push_back(minimised(
          estimate_of(composer, [&](const KernelCase& k) { return median(medians.at(k)); }),
          plan_->problems()[p].objectives()));
    }
    for (const std::size_t f : non_dominated(figures)) loss.report(measured[f]);
    worst = std::max(worst, loss.expected());
  }
  return worst;
}

SweepReplay::Way SweepReplay::way(double share) {
  constexpr std::size_t step = 10;  // rows between two looks
  std::map<KernelCase, std::vector<double>> medians;
  Way out;
  std::size_t row = 0;
  for (const Measurement& m : evaluator_->rows()) {
    medians[m.kernel_case].push_back(m.duration_ns_median);
    out.all_s += m.wall_s;
    if (++row % step != 0 && row != evaluator_->rows().size()) continue;
    out.loss = loss(medians, true);
    if (out.loss > share) out.within_s = out.all_s;
  }
  if (out.loss > share) out.within_s = exhaustive_s_;
  out.loss_as_stated = loss(medians, false);
  out.has_fastest = true;
  for (const Truth& truth : truth_) {
    const auto& kernels =
        plan_->composers().of(truth.configurations[truth.fastest]).composer->kernels();
    out.has_fastest = out.has_fastest && std::ranges::all_of(kernels, [&](const KernelCase& k) {
                        return medians.contains(k);
                      });
  }
  return out;
}

}  // namespace halmark::bench
