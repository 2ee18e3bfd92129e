#include "onboard/onboard_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/fields/json_visitor.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::onboard {
namespace {

using report::rounded_percent_text;

std::string minutes_text(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

struct FamilyPlan {
  std::size_t fitted = 0, held_out = 0;
  double share = 0, seconds = 0;
};

std::map<std::string, FamilyPlan> families_of(const Plan& plan) {
  std::map<std::string, FamilyPlan> out;
  for (const Candidate& c : plan.candidates.fitted) {
    FamilyPlan& family = out[c.family];
    ++family.fitted;
    family.share += c.share;
    family.seconds += c.seconds;
  }
  for (std::size_t i = 0; i < plan.held_out; ++i) {
    ++out[plan.candidates.held_out[i].family].held_out;
  }
  return out;
}

std::string family_table(const std::vector<FamilyError>& families) {
  report::TextTable table({"kernels", "fitted", "held out", "error", "p90", "inside"},
                          {false, true, true, true, true, true});
  for (const FamilyError& f : families) {
    table.add({f.family, std::to_string(f.fitted),
               std::to_string(f.held_out) +
                   (f.unreached > 0 ? fmt::format(" ({} unreached)", f.unreached) : ""),
               rounded_percent_text(f.median), rounded_percent_text(f.p90),
               rounded_percent_text(f.inside)});
  }
  return table.text();
}

std::string step_table(const std::vector<StepError>& steps) {
  report::TextTable table({"step", "measured", "forecast", "90 % interval", "error", "inside"},
                          {false, true, true, true, true, true});
  for (const StepError& s : steps) {
    table.add({s.model + ' ' + s.phase, report::duration_text(s.measured_ns),
               report::duration_text(s.ns), report::duration_range_text(s.low_ns, s.high_ns),
               report::signed_percent_text(s.error()), s.is_inside() ? "yes" : "no"});
  }
  return table.text();
}

// Of the steps of a phase: within how much, and how many lie inside.
std::string step_sentence(const Outcome& outcome, const std::string& phase) {
  double worst = 0;
  std::size_t all = 0, inside = 0;
  for (const StepError& s : outcome.steps) {
    if (s.phase != phase) continue;
    worst = std::max(worst, std::abs(s.error()));
    ++all;
    inside += s.is_inside() ? 1 : 0;
  }
  if (all == 0)
    return "no " + phase + " step of another model was executed: nothing is known of them";
  return fmt::format(
      "{} steps of models that were not measured were within {} ({} of {} inside of "
      "their interval)",
      phase, rounded_percent_text(worst), inside, all);
}

}  // namespace

std::vector<std::string> sentences(const Plan& plan, const Outcome& outcome) {
  std::vector<std::string> out;
  const FamilyError& all = outcome.families.back();
  if (all.median) {
    out.push_back(
        fmt::format("single kernels that were kept back: half within {}, nine of ten "
                    "within {}, {} inside of their 90 % interval",
                    rounded_percent_text(all.median), rounded_percent_text(all.p90),
                    rounded_percent_text(all.inside)));
  } else {
    out.emplace_back("no kernel was kept back: nothing is known of the error");
  }
  out.push_back(step_sentence(outcome, "decode"));
  out.push_back(step_sentence(outcome, "prefill"));
  if (all.median && (*all.median > plan.request.goal)) {
    out.push_back(fmt::format("that misses the goal of {}: more --minutes measure more",
                              rounded_percent_text(plan.request.goal)));
  }
  out.push_back("measured: " + join(plan.request.dtypes, ", ") +
                (outcome.measured_range.empty() ? "" : ", " + outcome.measured_range) +
                "; beyond it intervals widen and are not calibrated");
  out.emplace_back(
      "not measured: collectives and links between devices, what an engine adds to its kernels");
  return out;
}

Json outcome_json(const Plan& plan, const Outcome& outcome) {
  return {{"device", plan.device.id},
          {"fingerprint", plan.device.fingerprint},
          {"backend", plan.request.backend},
          {"dtypes", plan.request.dtypes},
          {"seed", plan.request.seed},
          {"goal", plan.request.goal},
          {"measured_s", outcome.seconds},
          {"ended", outcome.end},
          {"fitted", outcome.fitted},
          {"failed", outcome.failed},
          {"faster_than_possible", outcome.too_fast},
          {"held_models", plan.candidates.held_models},
          {"families", json_fields::written(outcome.families)},
          {"steps", json_fields::written(outcome.steps)},
          {"unrun", outcome.unrun},
          {"believe", sentences(plan, outcome)}};
}

report::View plan_view(const Plan& plan) {
  report::TextTable table({"kernels", "fitted from", "measuring all", "held out", "of steps"},
                          {false, true, true, true, true});
  double all_share = 0;
  const auto families = families_of(plan);
  for (const auto& [name, family] : families) all_share += family.share;
  Json data = Json::array();
  for (const auto& [name, family] : families) {
    const double share = all_share > 0 ? family.share / all_share : 0;
    table.add({name, std::to_string(family.fitted), minutes_text(family.seconds),
               std::to_string(family.held_out), rounded_percent_text(share)});
    data.push_back({{"family", name},
                    {"fitted_from", family.fitted},
                    {"held_out", family.held_out},
                    {"seconds", family.seconds},
                    {"share_of_steps", share}});
  }
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < plan.steps; ++i) {
    steps.push_back(plan.candidates.steps[i].configuration.key());
  }
  const double chosen_s = plan.total_s - plan.held_s - plan.steps_s;
  std::string text =
      fmt::format("{} on {}:{} ({}), at most {}\n{}", plan.device.id, plan.request.backend,
                  plan.request.device, plan.device.name, minutes_text(plan.total_s), table.text());
  text += fmt::format(
      "measured in this order: {} kernels kept back, never fitted ({}); what lowers the doubt "
      "about "
      "the others most per second, until the kernels kept back are within {} or {} are over; then "
      "{} whole steps ({})\n",
      plan.held_out, minutes_text(plan.held_s), rounded_percent_text(plan.request.goal),
      minutes_text(chosen_s), plan.steps, minutes_text(plan.steps_s));
  for (const std::string& step : steps) text += "  " + step + '\n';
  text += fmt::format(
      "kept back whole, drawn by seed {}: {}\nit will be able to say: decode and prefill steps of "
      "any model and layout on this device in {}, with the error on what was kept back; not "
      "collectives, not what an engine adds\nwritten to {}\n",
      plan.request.seed, join(plan.candidates.held_models, ", "), join(plan.request.dtypes, ", "),
      plan.folder.string());
  return {.data = {{"device", plan.device.id},
                   {"folder", plan.folder.string()},
                   {"seconds", plan.total_s},
                   {"families", std::move(data)},
                   {"steps", steps},
                   {"held_models", plan.candidates.held_models}},
          .text = std::move(text)};
}

report::View outcome_view(const Plan& plan, const Outcome& outcome) {
  if (outcome.is_interrupted) {
    return {.data = {{"interrupted", true}, {"measured_s", outcome.seconds}},
            .text = "interrupted: every kernel so far is kept; the same command resumes\n"};
  }
  std::string text = fmt::format("{}: {} kernels fitted in {}; {}\n", plan.device.id,
                                 outcome.fitted, minutes_text(outcome.seconds), outcome.end);
  if (outcome.failed > 0) text += fmt::format("{} kernels had no time\n", outcome.failed);
  if (outcome.too_fast > 0) {
    text += fmt::format("{} kernels left out: faster than the measured peaks allow\n",
                        outcome.too_fast);
  }
  text += family_table(outcome.families);
  if (!outcome.steps.empty()) text += step_table(outcome.steps);
  for (const std::string& line : outcome.unrun) text += "not executed: " + line + '\n';
  text += "What may be believed:\n";
  for (const std::string& line : sentences(plan, outcome)) text += "  " + line + '\n';
  text +=
      fmt::format("written to {}, SHA-256 of all: {}\n", plan.folder.string(), outcome.checksum);
  report::View out{.data = outcome_json(plan, outcome), .text = std::move(text)};
  out.data["folder"] = plan.folder.string();
  out.data["sha256"] = outcome.checksum;
  return out;
}

}  // namespace halmark::onboard
