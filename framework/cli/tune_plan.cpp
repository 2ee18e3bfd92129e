#include "cli/tune_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "cli/console/terminal.hpp"
#include "core/digest.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "model/pricing/memory.hpp"
#include "plan/trim.hpp"

namespace halmark::cli {
namespace {

constexpr std::int64_t ring_bytes_max = 512ll << 20;
// Before `peaks` has found it: enough on the machines seen so far.
constexpr std::int64_t plateau_prior_bytes = 256ll << 20;

std::vector<PlanGroup> groups_of(const Sweep& sweep, const PrecisionFacts& facts) {
  std::vector<PlanGroup> out;
  for (const SweepWorkload& w : sweep.workloads) {
    for (const Precision& precision : precisions_of(sweep, w, facts)) {
      for (const std::int64_t batch : w.batches) {
        out.push_back({fmt::format("{} batch {} {}", phase_name(w.phase), batch, precision.name),
                       {w.phase, batch, w.new_tokens, w.context, sweep.routing_skew},
                       precision});
      }
    }
  }
  return out;
}

SearchDomain degrees(const std::string& name, bool is_wanted, std::int64_t largest) {
  SearchDomain out{.name = name, .kind = DomainKind::ordinal, .values = {std::int64_t{1}}};
  for (std::int64_t n = 2; is_wanted && n <= largest; ++n) out.values.emplace_back(n);
  return out;
}

// Degrees are 1, 2, ...: the level of their domain plus one.
int degree(const Point& point, std::size_t domain) { return static_cast<int>(point[domain]) + 1; }

// A closure over values: the space outlives this function.
std::unique_ptr<Space> make_space(const Sweep& sweep, const ModelSpec& spec,
                                  const std::vector<PlanGroup>& groups, int cores) {
  const std::vector<std::int64_t> shards = shard_counts(sweep, cores);
  const std::int64_t largest = *std::ranges::max_element(shards);
  const auto wants = [&](const char* strategy) {
    return std::ranges::find(sweep.strategies, strategy) != sweep.strategies.end();
  };
  SearchDomain group{.name = "workload"};
  for (const PlanGroup& g : groups) group.values.emplace_back(g.name);
  const auto parallel = [](const Point& p) {
    return Parallel{.dp = degree(p, 1), .tp = degree(p, 2), .pp = degree(p, 3), .ep = degree(p, 4)};
  };
  const auto devices = [](const Point& p) { return degree(p, 1) * degree(p, 2) * degree(p, 3); };
  std::vector<Constraint> constraints = {
      {"shard_count",
       {"dp", "tp", "pp"},
       [shards, devices](const Point& p) {
         return std::ranges::find(shards, devices(p)) != shards.end();
       }},
      {"ep_exceeds_group",
       {"dp", "tp", "ep"},
       [](const Point& p) { return degree(p, 1) * degree(p, 2) % degree(p, 4) == 0; }},
      {"impossible_split",
       {"workload", "dp", "tp", "pp", "ep"},
       [&spec, groups, parallel](const Point& p) {
         const PlanGroup& g = groups[static_cast<std::size_t>(p[0])];
         return !check_configuration(spec, {.model = spec.id,
                                            .parallel = parallel(p),
                                            .precision = g.precision,
                                            .workload = g.workload});
       }}};
  return std::make_unique<Space>(
      std::vector<SearchDomain>{group, degrees("dp", wants("data"), largest),
                                degrees("tp", wants("tensor"), largest),
                                degrees("pp", wants("pipeline"), largest),
                                degrees("ep", wants("expert") && spec.moe, largest)},
      std::move(constraints));
}

// Composers of every valid point that fits; the others are left out with their reason.
void add_composers(TunePlan& plan, const LocalMachine& machine) {
  for (std::size_t i = 0; i < plan.space->size(); ++i) {
    const Configuration configuration = plan.configuration(plan.space->point(i));
    const int parts = configuration.parallel.devices();
    auto built = build_graph(plan.spec, configuration);
    const auto* refusal = std::get_if<Refusal>(&built);
    if (refusal == nullptr) {
      OperatorGraph& graph = std::get<OperatorGraph>(built);
      require_measurable(graph);
      const auto short_of = check_memory(memory_use(graph), machine.machine.memory_bytes / parts);
      if (!short_of) {
        plan.composers.try_emplace(configuration, std::move(graph), plan.placement(machine, parts),
                                   device_facts(machine, parts));
        continue;
      }
      plan.left_out.push_back(configuration.key() + ": " + short_of->text);
      continue;
    }
    plan.left_out.push_back(configuration.key() + ": " + refusal->text);
  }
}

// Kernel cases of the composers, and which groups need which.
struct Demand {
  std::vector<KernelCase> kernels;
  std::vector<TrimGroup> groups;
};

Demand demand_of(const TunePlan& plan) {
  Demand out;
  std::map<KernelCase, std::int32_t> index;
  for (const PlanGroup& g : plan.groups) {
    out.groups.push_back({g.name, std::string(phase_name(g.workload.phase)), {}});
  }
  for (const auto& [configuration, composer] : plan.composers) {
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      if (plan.groups[g].workload != configuration.workload ||
          plan.groups[g].precision != configuration.precision) {
        continue;
      }
      for (const KernelCase& k : composer.kernels()) {
        const auto [it, is_new] =
            index.try_emplace(k, static_cast<std::int32_t>(out.kernels.size()));
        if (is_new) out.kernels.push_back(k);
        out.groups[g].kernels.push_back(it->second);
      }
    }
  }
  for (TrimGroup& g : out.groups) {
    std::ranges::sort(g.kernels);
    g.kernels.erase(std::ranges::unique(g.kernels).begin(), g.kernels.end());
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> shard_counts(const Sweep& sweep, int cores) {
  if (!sweep.shards.empty()) return sweep.shards;
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= cores; ++n) out.push_back(n);
  return out;
}

protocol::SampleRule sample_rule(const MeasureSettings& settings) {
  return {.min_samples = settings.samples_min,
          .warmup_cap_s = settings.warmup_cap_s,
          .budget_s = settings.sample_budget_s};
}

std::int64_t ring_bytes(const LocalMachine& machine, int parts) {
  const std::int64_t plateau = machine.measured && machine.measured->ring_plateau_bytes
                                   ? *machine.measured->ring_plateau_bytes
                                   : plateau_prior_bytes;
  return std::min({plateau, ring_bytes_max, machine.machine.memory_bytes / 4 / parts});
}

DeviceFacts device_facts(const LocalMachine& machine, int parts) {
  return {.measured = machine.measured,
          .datasheet = machine.datasheet,
          .shard = {.threads = std::max(1, machine.cores / parts), .parts = parts}};
}

Configuration TunePlan::configuration(const Point& point) const {
  const PlanGroup& g = groups[static_cast<std::size_t>(point[0])];
  return {.model = spec.id,
          .parallel = {.dp = degree(point, 1),
                       .tp = degree(point, 2),
                       .pp = degree(point, 3),
                       .ep = degree(point, 4)},
          .precision = g.precision,
          .workload = g.workload};
}

StackPlacement TunePlan::placement(const LocalMachine& machine, int parts) const {
  return {.backend = sweep.backend,
          .device = sweep.device,
          .parts = parts,
          .ring_bytes = ring_bytes(machine, parts),
          .winners = &winners};
}

std::size_t TunePlan::kernels_with_winner() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(kernels, [](const KernelCase& k) { return !k.kernel.empty(); }));
}

TunePlan make_plan(const Sweep& sweep, const LocalMachine& machine, WinnerTable winners) {
  TunePlan plan{.sweep = sweep, .spec = load_model(sweep.model, config_dirs("models"))};
  plan.winners = std::move(winners);
  plan.has_peaks = machine.measured.has_value();
  if (sweep.routing_skew != 0 && !plan.spec.moe) {
    throw refused("routing_skew is given, but " + plan.spec.id + " has no experts",
                  sweep.routing_skew_where, "leave it out, or name a mixture of experts");
  }
  plan.groups = groups_of(sweep, precision_facts(plan.spec, machine.has_bf16));
  if (plan.groups.empty())
    throw refused("no workload is left", sweep.file, "add dtype f32 or int8");
  plan.space = make_space(sweep, plan.spec, plan.groups, machine.cores);
  add_composers(plan, machine);

  const Demand demand = demand_of(plan);
  const CampaignCost cost =
      predict_cost(demand.kernels, sweep.measure.rounds, sample_rule(sweep.measure),
                   machine.measured ? &*machine.measured : nullptr, machine.cores);
  std::vector<double> seconds;
  double all_cases = 0;
  for (const double one_round : cost.case_seconds) {
    seconds.push_back(one_round * sweep.measure.rounds);
    all_cases += seconds.back();
  }
  // What is to be certified is the whole sweep: its budget ends the measuring, not the space.
  const bool is_whole = sweep.sampler == certify_sampler;
  const TrimResult trimmed =
      trim_to_budget(demand.groups, seconds, std::max(0.0, cost.seconds - all_cases),
                     is_whole ? std::numeric_limits<double>::infinity() : sweep.budget_s);
  plan.predicted_s = trimmed.seconds;
  plan.left_out.insert(plan.left_out.end(), trimmed.left_out.begin(), trimmed.left_out.end());
  if (!std::ranges::all_of(trimmed.is_kept, [](bool kept) { return kept; })) {
    std::vector<PlanGroup> kept;
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      if (trimmed.is_kept[g]) kept.push_back(plan.groups[g]);
    }
    std::erase_if(plan.composers, [&](const auto& item) {
      return std::ranges::none_of(kept, [&](const PlanGroup& g) {
        return g.workload == item.first.workload && g.precision == item.first.precision;
      });
    });
    plan.groups = std::move(kept);
    plan.space = make_space(sweep, plan.spec, plan.groups, machine.cores);
  }
  plan.kernels = demand_of(plan).kernels;
  if (plan.composers.empty()) {
    throw refused("no configuration of this sweep is possible here", sweep.file,
                  plan.left_out.empty() ? "" : plan.left_out.front());
  }
  return plan;
}

std::string TunePlan::text() const {
  std::string out = "sweep " + sweep.name + "\nmodel " + spec.id + "\nsampler " + sweep.sampler +
                    "\nseed " + std::to_string(sweep.seed) + "\nrounds " +
                    std::to_string(sweep.measure.rounds) + "\nsample_budget_s " +
                    fmt::format("{}", sweep.measure.sample_budget_s) + "\nrepeat_budget_s " +
                    fmt::format("{}", sweep.measure.repeat_budget_s) + '\n';
  if (spec.moe) out += "routing_skew " + std::to_string(sweep.routing_skew) + '\n';
  for (const Objective o : sweep.objectives) {
    out += "objective " + std::string(objective_name(o)) + '\n';
  }
  for (const std::string& line : left_out) out += "left_out " + line + '\n';
  for (const auto& [configuration, composer] : composers)
    out += "deployment " + configuration.key() + '\n';
  for (const KernelCase& k : kernels) out += "kernel " + k.key() + '\n';
  return out;
}

std::string TunePlan::hash() const { return sha256_of(text()); }

std::string plan_report(const TunePlan& plan) {
  std::string out = fmt::format(
      "plan {}  model {}  sampler {}  {} configurations of {} combinations\n"
      "kernels {} unique, {} rounds, predicted measuring time {:.0f} s (basis: {})\n",
      plan.hash().substr(0, 12), plan.spec.id, plan.sweep.sampler, plan.composers.size(),
      plan.space->product(), plan.kernels.size(), plan.sweep.measure.rounds, plan.predicted_s,
      plan.has_peaks ? "measured peaks" : "priors, no peaks measured yet");
  if (plan.spec.moe) out += fmt::format("routing skew {} %\n", plan.sweep.routing_skew);
  if (plan.winners.size() > 0) {
    out += fmt::format("winners: {} of {} kernels run a stored winner, the others their default\n",
                       plan.kernels_with_winner(), plan.kernels.size());
  }
  for (const auto& [name, count] : plan.space->discarded()) {
    out += fmt::format("never proposed: {} by {}\n", count, name);
  }
  for (const std::string& line : plan.left_out) out += "left out: " + line + '\n';
  std::map<std::string, int> by_op;
  for (const KernelCase& k : plan.kernels) ++by_op[k.problem.op];
  TextTable ops({"op", "kernels"}, {false, true});
  for (const auto& [op, count] : by_op) ops.add({op, std::to_string(count)});
  out += '\n' + ops.text() + '\n';
  TextTable points({"workload", "layout", "strategy", "kernels"}, {false, false, false, true});
  for (const auto& [configuration, composer] : plan.composers) {
    std::map<std::string, int> strategies;
    for (const Operator& op : composer.graph().operators) ++strategies[op.strategy];
    std::string strategy;
    for (const auto& [name, count] : strategies) {
      strategy += (strategy.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    points.add({fmt::format("{} batch {} {}", phase_name(configuration.workload.phase),
                            configuration.workload.batch, configuration.precision.name),
                configuration.parallel.text(), strategy,
                std::to_string(composer.kernels().size())});
  }
  return out + points.text();
}

Json plan_json(const TunePlan& plan) {
  Json deployments = Json::array(), kernels = Json::array();
  for (const auto& [configuration, composer] : plan.composers) deployments.push_back(configuration);
  for (const KernelCase& k : plan.kernels) kernels.push_back(k.key());
  Json discarded = Json::object();
  for (const auto& [name, count] : plan.space->discarded()) discarded[name] = count;
  Json out = {{"hash", plan.hash()},
              {"model", plan.spec.id},
              {"sampler", plan.sweep.sampler},
              {"seed", std::to_string(plan.sweep.seed)},
              {"rounds", plan.sweep.measure.rounds},
              {"predicted_s", plan.predicted_s},
              {"basis", plan.has_peaks ? "measured peaks" : "priors"},
              {"configurations", deployments},
              {"kernels", kernels},
              {"winners", plan.kernels_with_winner()},
              {"discarded", discarded},
              {"left_out", plan.left_out}};
  if (plan.spec.moe) out["routing_skew"] = plan.sweep.routing_skew;
  return out;
}

}  // namespace halmark::cli
