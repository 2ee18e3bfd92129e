#include "tune/plan/plan.hpp"

#include <algorithm>
#include <set>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "plan/shard_places.hpp"
#include "search/sampler.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {

namespace {

std::string hash_of(std::span<const KernelCase> kernels) {
  std::string keys;
  for (const KernelCase& k : kernels) keys += k.key() + '\n';
  return sha256_of(keys);
}

}  // namespace

std::vector<std::int64_t> shard_counts(const Sweep& sweep, int cores) {
  if (!sweep.shards.empty()) return sweep.shards;
  if (!sweep.shards_on.empty()) {
    std::set<std::int64_t> sizes;
    for (const auto& places : sweep.shards_on) sizes.insert(std::ssize(places));
    return {sizes.begin(), sizes.end()};
  }
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= cores; ++n) out.push_back(n);
  return out;
}

void check_sampler(const Sweep& sweep) {
  std::vector<std::string> known = sampler_names();
  known.emplace_back(certify_sampler);
  known.emplace_back(proposals_sampler);
  if (contains(known, sweep.sampler)) return;
  throw refused("there is no sampler '" + sweep.sampler + "'", sweep.sampler_where,
                suggestion(sweep.sampler, known));
}

std::string sampler_help() {
  return sampler_list() + "certify measures only what proves that nothing beats the front\n";
}

protocol::SampleRule sample_rule(const MeasureSettings& settings) {
  return {.min_samples = settings.samples_min,
          .warmup_cap_s = settings.warmup_cap_s,
          .budget_s = settings.sample_budget_s,
          .disturbed_share =
              settings.limits.disturbed_share.value_or(protocol::SampleRule{}.disturbed_share)};
}

namespace {

Json limits_json(const MeasureLimits& limits) {
  Json out = Json::object();
  for (const LimitRow& row : limit_rows()) {
    if (limits.*row.value) out[row.key] = *(limits.*row.value);
  }
  return out;
}

}  // namespace

TunePlan::TunePlan(Sweep sweep, ModelSpec spec, Target target, std::span<const std::int64_t> shards,
                   const PrecisionFacts& precisions, bool is_measured)
    : sweep_(std::move(sweep)),
      spec_(std::move(spec)),
      target_(std::move(target)),
      problems_(problems_of(sweep_, spec_, shards, precisions)),
      is_measured_(is_measured),
      composers_(std::make_unique<Composers>(spec_, target_, is_measured)) {
  check_sampler(sweep_);
  if (!is_measured) return;
  refuse_endless_grid();
  look_ahead();
  list_possible();
  refuse_regret();
  if (sweep_.sampler == "grid" && !covers_everything()) trim();
  if (forecast_.kernels.empty()) {
    ExitCode exit_code = ExitCode::refused;
    for (const Configuration& c : forecast_.configurations) {
      const auto& refusal = composers_->of(c).refusal;
      if (refusal) exit_code = std::max(exit_code, exit_code_of(*refusal));
    }
    throw Error(exit_code, "no configuration of this sweep is possible here", sweep_.file,
                left_out_.empty() ? "" : left_out_.front());
  }
}

// What a grid leaves out is chosen from all its kernels, and their graphs take seconds beyond here.
void TunePlan::refuse_endless_grid() const {
  if (sweep_.sampler != "grid" || configurations() <= forecast_configurations_max) return;
  throw refused("sampler grid measures everything, and " + std::to_string(configurations()) +
                    " configurations are more than the " +
                    std::to_string(forecast_configurations_max) + " that it takes",
                sweep_.sampler_where.empty() ? sweep_.file : sweep_.sampler_where,
                "take fewer values, or a sampler that chooses: auto");
}

std::string why_unbounded(std::span<const Objective> objectives) {
  for (const Objective o : objectives) {
    if (o == Objective::latency || o == Objective::throughput || o == Objective::memory) continue;
    return std::string(objective_name(o)) + " has no bound";
  }
  return {};
}

std::string TunePlan::why_not_by_gain() const {
  if (sweep_.sampler != "auto") return "sampler " + sweep_.sampler + " says what is measured";
  if (sweep_.nightly) return "a night measures what it is asked for";
  if (!forecast_.is_whole) {
    return std::to_string(configurations()) + " configurations are more than the " +
           std::to_string(forecast_configurations_max) + " that are priced beforehand";
  }
  if (target_.fabric) return "a fabric prices what joins the devices";
  return why_unbounded(sweep_.objectives);
}

bool TunePlan::is_chosen_by_gain() const {
  return (sweep_.regret || !covers_everything()) && why_not_by_gain().empty();
}

void TunePlan::refuse_regret() const {
  if (!sweep_.regret) return;
  const std::string why = why_not_by_gain();
  if (why.empty()) return;
  throw refused("what a front loses is not estimated for this sweep: " + why, sweep_.regret_where,
                "leave out regret, or let sampler auto choose by latency, throughput and memory");
}

void TunePlan::look_ahead() {
  forecast_ = forecast_of(*this);
  left_out_.clear();
  for (const Configuration& c : forecast_.configurations) {
    const Composers::Entry& entry = composers_->of(c);
    if (entry.refusal) left_out_.push_back(c.key() + ": " + entry.refusal->text);
  }
}

void TunePlan::list_possible() {
  if (!forecast_.is_whole) return;
  for (const Configuration& c : forecast_.configurations) {
    if (composers_->of(c).composer) possible_.push_back(c);
  }
}

// A grid takes everything or names what it leaves out; other samplers end with the budget.
void TunePlan::trim() {
  const Trimmed trimmed = trim_to_budget(*this);
  if (trimmed.left_out.empty()) return;
  problems_ = trimmed.problems;
  look_ahead();
  append_all(left_out_, trimmed.left_out);
}

bool TunePlan::covers_everything() const {
  if (sweep_.sampler == proposals_sampler) return false;  // nobody knows what will be proposed
  // A night takes what fits and leaves the rest to the next one.
  return forecast_.is_whole && (sweep_.nightly || forecast_.seconds <= sweep_.budget_s);
}

std::uint64_t TunePlan::configurations() const {
  std::uint64_t out = 0;
  for (const TuneProblem& problem : problems_) out += problem.space().size();
  return out;
}

std::size_t TunePlan::kernels_with_winner() const {
  return as_size(std::ranges::count_if(forecast_.kernels,
                                       [](const KernelCase& k) { return !k.kernel.empty(); }));
}

Json TunePlan::json() const {
  Json problems = json_list(problems_, [](const TuneProblem& problem) { return problem.json(); });
  Json objectives = json_list(problems_.front().objectives(), objective_name);
  Json out = {{"plan", 2},
              {"sweep", sweep_.name},
              {"model", spec_.id},
              {"backend", target_.backend},
              {"sampler", sweep_.sampler},
              {"seed", std::to_string(sweep_.seed)},
              {"trials", sweep_.trials},
              {"objectives", std::move(objectives)},
              {"problems", std::move(problems)}};
  for (const auto& places : sweep_.shards_on) {
    out["shards_on"].push_back(shard_places_text(places));
  }
  if (target_.nodes > 0) {
    out["nodes"] = {{"count", target_.nodes}, {"ranks_each", target_.ranks_per_node}};
  }
  if (spec_.moe) out["routing_skew"] = sweep_.routing_skew;
  if (spec_.fuses_qkv) out["fused_qkv"] = true;
  if (target_.fabric) {
    out["fabric"] = {{"id", target_.fabric->id}, {"sha256", fabric_digest(*target_.fabric)}};
  }
  if (!is_measured_) return out;
  out["rounds"] = sweep_.measure.rounds;
  out["sample_budget_s"] = sweep_.measure.sample_budget_s;
  out["repeat_budget_s"] = sweep_.measure.repeat_budget_s;
  // Absent where there are none: plans of earlier versions keep their hash.
  if (Json limits = limits_json(sweep_.measure.limits); !limits.empty()) out["limits"] = limits;
  if (sweep_.nightly) out["nightly_s"] = sweep_.budget_s;
  out["left_out"] = left_out_;
  // Which kernels are run in which way: rings, cuts of the device, winners.
  out["kernels"] = {{"count", forecast_.kernels.size()},
                    {"sha256", hash_of(forecast_.kernels)},
                    {"of", forecast_.is_whole ? "everything" : "the first batch"}};
  return out;
}

std::string TunePlan::text() const { return json().dump(1); }

std::string TunePlan::hash() const { return sha256_of(text()); }

// `auto` covers a space as a grid where its budget of trials does; measuring is budgeted by time.
std::unique_ptr<Sampler> sampler_for(const TunePlan& plan, const TuneProblem& problem,
                                     std::vector<Point> first) {
  const Sweep& sweep = plan.sweep();
  const bool is_certified = sweep.sampler == certify_sampler;
  std::uint64_t trials = as_uint64(sweep.trials);
  if (trials == 0 && (is_certified || plan.covers_everything())) trials = problem.space().size();
  const bool is_other = is_certified || sweep.sampler == proposals_sampler;
  return make_sampler(is_other ? "grid" : sweep.sampler, problem.space(),
                      SamplerOptions{.seed = sweep.seed,
                                     .trials = as_size(trials),
                                     .objectives = problem.objectives().size(),
                                     .first = std::move(first)});
}

}  // namespace halmark::tune
