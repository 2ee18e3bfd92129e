// The plan of a sweep: what may be measured or priced, on what, within which budget. Complete,
// immutable, hashed and printable before any device opens; it holds no list of graphs, so a space
// of 10^9 points has a plan too.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/campaign.hpp"
#include "search/sampler.hpp"
#include "tune/plan/composers.hpp"
#include "tune/plan/target.hpp"
#include "tune/problem/problem.hpp"
#include "tune/problem/step_problem.hpp"

namespace halmark::tune {

// What measuring will take, from graphs of all configurations where they are few, else of those
// that the sampler asks for first.
struct Forecast {
  bool is_whole = false;  // every configuration of the space was looked at
  std::vector<Configuration> configurations;
  std::vector<KernelCase> kernels;  // unique, of these
  double seconds = 0;               // of measuring them, all rounds
  ArenaNeed memory;                 // of their argument sets
};

class TunePlan {
 public:
  // `is_measured`: the sweep is measured on the target. Throws Error (exit 2) for a sweep without a
  // possible configuration.
  TunePlan(Sweep sweep, ModelSpec spec, Target target, std::span<const std::int64_t> shards,
           const PrecisionFacts& precisions, bool is_measured);
  TunePlan(const TunePlan&) = delete;
  TunePlan& operator=(const TunePlan&) = delete;

  const Sweep& sweep() const { return sweep_; }
  const ModelSpec& spec() const { return spec_; }
  const Target& target() const { return target_; }
  std::span<const TuneProblem> problems() const { return problems_; }
  bool is_measured() const { return is_measured_; }
  Composers& composers() const { return *composers_; }
  const Forecast& forecast() const { return forecast_; }
  // Every configuration that may be tried, and what was trimmed to the budget; empty where only the
  // first batch was looked at.
  std::span<const Configuration> possible() const { return possible_; }
  // Configurations that do not fit, and what was trimmed to the budget, each with its reason.
  std::span<const std::string> left_out() const { return left_out_; }
  // The budget is enough for everything that is left.
  bool covers_everything() const;
  // Why what is measured next cannot be chosen by its gain, in words; "" = it can.
  std::string why_not_by_gain() const;
  // It can, and there is something to choose: the budget does not cover everything, or a regret
  // may end it before.
  bool is_chosen_by_gain() const;
  std::uint64_t configurations() const;  // of all problems
  std::size_t kernels_with_winner() const;

  Json json() const;         // canonical: what is stored with a run
  std::string text() const;  // of the JSON
  std::string hash() const;  // SHA-256 of the text

 private:
  void refuse_endless_grid() const;
  void refuse_regret() const;
  void look_ahead();
  void list_possible();
  void trim();

  Sweep sweep_;
  ModelSpec spec_;
  Target target_;
  std::vector<TuneProblem> problems_;
  bool is_measured_;
  std::unique_ptr<Composers> composers_;
  Forecast forecast_;
  std::vector<Configuration> possible_;
  std::vector<std::string> left_out_;
};

// Numbers of shards that a configuration may have: the sweep's list, or 1 to all cores.
std::vector<std::int64_t> shard_counts(const Sweep& sweep, int cores);
// Throws Error (exit 2) with the nearest names.
void check_sampler(const Sweep& sweep);
// "--sampler" for people: one line each.
std::string sampler_help();

// The objective that no bound of times bounds, in words; "" = all have one.
std::string why_unbounded(std::span<const Objective> objectives);

protocol::SampleRule sample_rule(const MeasureSettings& settings);

// Of a problem's sampler: the budget that it may count on where everything is covered. `first`: see
// SamplerOptions.
std::unique_ptr<Sampler> sampler_for(const TunePlan& plan, const TuneProblem& problem,
                                     std::vector<Point> first = {});

}  // namespace halmark::tune
