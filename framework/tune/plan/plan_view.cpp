// What a plan says of itself before anything is opened.
#include "tune/plan/plan_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "model/spec/coverage.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::tune {
namespace {

// "6 configurations of 36 combinations"
std::string counts_of(const TuneProblem& problem) {
  std::string out = fmt::format("{}: {} configurations of {} combinations\n", problem.name(),
                                problem.space().size(), problem.space().product());
  for (const auto& [name, count] : problem.space().discarded()) {
    out += fmt::format("  never proposed: {} by {}\n", count, name);
  }
  return out;
}

bool has_choice(const TunePlan& plan) {
  return !plan.covers_everything() && plan.sweep().sampler != "grid";
}

// Of measuring, as far as the budget goes.
double measuring_s(const TunePlan& plan) {
  const double all = plan.forecast().seconds;
  return has_choice(plan) ? std::min(all, plan.sweep().budget_s) : all;
}

std::string minutes_text(double seconds) {
  return seconds < 60 ? fmt::format("{:.2g} s", seconds)
                      : fmt::format("{} minutes", report::significant_text(seconds / 60, 2));
}

// How long it measures, what, and who chooses.
std::string answer_of(const TunePlan& plan) {
  std::uint64_t configurations = 0;
  bool is_countable = true;
  for (const TuneProblem& problem : plan.problems()) {
    is_countable = is_countable && problem.space().is_countable();
    configurations += problem.space().size();
  }
  std::string out = fmt::format("about {} of measuring on {}: {}configuration{} of {}",
                                minutes_text(measuring_s(plan)), plan.sweep().backend,
                                is_countable ? fmt::format("{} ", configurations) : "",
                                configurations == 1 ? "" : "s", plan.spec().id);
  if (!has_choice(plan)) return out + '\n';
  return out + fmt::format("; all would take {}, so {} chooses\n",
                           minutes_text(plan.forecast().seconds), plan.sweep().sampler);
}

std::string budget_of(const TunePlan& plan) {
  const Forecast& ahead = plan.forecast();
  const std::string what = ahead.is_whole
                               ? "all configurations"
                               : fmt::format("the first {}", ahead.configurations.size());
  std::string out = fmt::format(
      "kernels {} unique of {}, {} rounds, predicted measuring time {:.0f} s (basis: {})\n",
      ahead.kernels.size(), what, plan.sweep().measure.rounds, ahead.seconds,
      plan.target().measured ? "measured peaks" : "priors, no peaks measured yet");
  if (!has_choice(plan)) return out;
  return out + fmt::format("budget {:.0f} s: {} chooses what is measured until it is spent\n",
                           plan.sweep().budget_s, plan.sweep().sampler);
}

std::string memory_of(const TunePlan& plan) {
  const ArenaNeed& need = plan.forecast().memory;
  return fmt::format(
      "memory of argument sets: {} MiB for all, {} MiB at the least; this run may use {}\n",
      need.wanted_bytes() >> 20, need.least_at_once >> 20, run_memory().text());
}

std::string table_of_kernels(const TunePlan& plan) {
  std::map<std::string, int> by_op;
  for (const KernelCase& k : plan.forecast().kernels) ++by_op[k.problem.op];
  report::TextTable ops({"op", ">kernels"});
  for (const auto& [op, count] : by_op) ops.add({op, std::to_string(count)});
  return ops.text();
}

std::string strategies_of(const OperatorGraph& graph) {
  std::map<std::string, int> strategies;
  for (const Operator& op : graph.operators) ++strategies[op.strategy];
  std::string out;
  for (const auto& [name, count] : strategies) {
    append_item(out, ", ", name + " " + std::to_string(count));
  }
  return out;
}

std::string table_of_configurations(const TunePlan& plan) {
  report::TextTable points({"workload", "layout", "strategy", ">kernels"});
  for (const Configuration& c : plan.forecast().configurations) {
    const Composers::Entry& entry = plan.composers().of(c);
    if (!entry.composer) continue;
    points.add({fmt::format("{} batch {} {}", phase_name(c.workload.phase), c.workload.batch,
                            c.precision.name),
                c.parallel.text(), strategies_of(entry.composer->graph()),
                std::to_string(entry.composer->kernels().size())});
  }
  return points.text();
}

std::string plan_text(const TunePlan& plan) {
  std::string out = plan.is_measured() ? answer_of(plan) : std::string();
  out += fmt::format("plan {}  model {}  sampler {}\n", plan.hash().substr(0, 12), plan.spec().id,
                     plan.sweep().sampler);
  for (const std::string& line : model_lines(plan.spec())) out += line + '\n';
  if (const auto& fabric = plan.target().fabric) {
    out += fmt::format("fabric {}: {}\n", fabric->id, fabric->name);
  }
  for (const TuneProblem& problem : plan.problems()) out += counts_of(problem);
  if (!plan.is_measured()) return out;
  out += budget_of(plan) + memory_of(plan);
  if (plan.spec().moe) out += fmt::format("routing skew {} %\n", plan.sweep().routing_skew);
  if (plan.target().winners.size() > 0) {
    out += fmt::format("winners: {} of {} kernels run a stored winner, the others their default\n",
                       plan.kernels_with_winner(), plan.forecast().kernels.size());
  }
  for (const std::string& line : plan.left_out()) out += "left out: " + line + '\n';
  return out + '\n' + table_of_kernels(plan) + '\n' + table_of_configurations(plan);
}

Json plan_json(const TunePlan& plan) {
  Json out = plan.json();
  Json discarded = Json::object();
  for (const TuneProblem& problem : plan.problems()) {
    for (const auto& [name, count] : problem.space().discarded()) {
      discarded[problem.name() + ": " + name] = count;
    }
  }
  out["hash"] = plan.hash();
  out["discarded"] = std::move(discarded);
  out["model_notes"] = model_notes(plan.spec());
  if (!plan.is_measured()) return out;
  Json configurations = Json::array();
  for (const Configuration& c : plan.forecast().configurations) {
    if (plan.composers().of(c).composer) configurations.push_back(c);
  }
  Json kernels = json_list(plan.forecast().kernels, [](const KernelCase& k) { return k.key(); });
  out["predicted_s"] = plan.forecast().seconds;
  out["measuring_s"] = measuring_s(plan);
  // What may be used at this moment stands in the text: a plan is the same each time.
  out["memory"] = {{"all_sets_bytes", plan.forecast().memory.wanted_bytes()},
                   {"least_bytes", plan.forecast().memory.least_at_once},
                   {"at_most_bytes", run_memory().at_most_bytes()}};
  out["basis"] = plan.target().measured ? "measured peaks" : "priors";
  out["covers_everything"] = plan.covers_everything();
  out["configurations"] = std::move(configurations);
  out["kernels"] = std::move(kernels);
  out["winners"] = plan.kernels_with_winner();
  return out;
}

}  // namespace

report::View plan_view(const TunePlan& plan) {
  return {.data = plan_json(plan), .text = plan_text(plan)};
}

}  // namespace halmark::tune
