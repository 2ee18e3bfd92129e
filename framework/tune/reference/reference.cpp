#include "tune/reference/reference.hpp"

#include <functional>
#include <map>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "expression/language.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "plan/schema/file_schema.hpp"
#include "report/glossary.hpp"
#include "simulate/fabric/fabric_schema.hpp"

namespace halmark::tune {
namespace {

Json optional_limit(double limit) {
  return limit >= ValidityThresholds::never ? Json(nullptr) : Json(limit);
}

std::string limit_text(double limit) {
  return limit >= ValidityThresholds::never ? "never" : number_text(limit, 6);
}

Json gate_json() {
  Json out = Json::array();
  const ValidityThresholds thresholds;
  for (const GateSignal& signal : gate_signals()) {
    const Limit& limit = thresholds.*signal.limit;
    out.push_back({{"signal", std::string(signal.name)},
                   {"key", signal.key.empty() ? Json(nullptr) : Json(std::string(signal.key))},
                   {"suspect_above", optional_limit(limit.suspect)},
                   {"invalid_above", optional_limit(limit.invalid)}});
  }
  return {{"signals", out},
          {"samples_that_did_not_overlap_suspect_above", thresholds.dropped_fraction_suspect},
          {"half_width_that_excuses_a_wall_cap", thresholds.deadline_half_width},
          {"timer_disagreement_quarantined_above", thresholds.slope_disagreement}};
}

std::string gate_markdown() {
  const ValidityThresholds thresholds;
  std::string out =
      "# Signals of the validity gate, and their limits\n\nA measurement with a signal above its "
      "first limit is `suspect`: it counts, and is marked. Above the second it is `invalid`: "
      "shown, "
      "and in no front. A key of `[measure]` in a sweep replaces the first limit; `halmark aa` "
      "finds those of a machine. A signal that cannot be read counts against nothing. Written by "
      "`halmark config schema gate --markdown`.\n\n| signal | suspect above | invalid above | key "
      "| "
      "meaning |\n|---|---|---|---|---|\n";
  for (const GateSignal& signal : gate_signals()) {
    const Limit& limit = thresholds.*signal.limit;
    const report::Term* term = report::find_term(signal.name);
    out += "| " + std::string(signal.name) + " | " + limit_text(limit.suspect) + " | " +
           limit_text(limit.invalid) + " | " +
           (signal.key.empty() ? "" : '`' + std::string(signal.key) + '`') + " | " +
           (term != nullptr ? std::string(term->meaning) : "") + " |\n";
  }
  return out + "\nBeside these: more than " + limit_text(thresholds.dropped_fraction_suspect) +
         " of co-measured samples without overlap are suspect; a wall cap is suspect unless the "
         "half-width is below " +
         limit_text(thresholds.deadline_half_width) +
         "; a device timer that disagrees with the wall clock by more than " +
         limit_text(thresholds.slope_disagreement) +
         " is quarantined, and so is what no device can reach.\n";
}

std::vector<std::pair<std::string, std::vector<LanguageWord>>> language() {
  return {{"Values", expression_values()},
          {"Operators, the loosest first", expression_operators()},
          {"Functions", expression_functions()}};
}

Json language_json() {
  Json out = Json::object();
  for (const auto& [title, words] : language()) {
    for (const LanguageWord& word : words) {
      out[title].push_back({{"word", std::string(word.word)},
                            {"meaning", std::string(word.meaning)},
                            {"example", std::string(word.example)}});
    }
  }
  return out;
}

std::string language_markdown() {
  std::string out =
      "# Expressions\n\n`when` and `expression` of a search space are conditions over its "
      "parameters and facts. They are judged before anything runs, over ranges too: a constraint "
      "that no value of an open parameter can meet is left at once. A condition that hangs on a "
      "parameter without a value counts as met. The examples hold with `tp = 4` and the fact "
      "`name = \"bf16\"`. Written by `halmark config schema expression --markdown`.\n";
  for (const auto& [title, words] : language()) {
    out += "\n## " + title + "\n\n| | meaning | example |\n|---|---|---|\n";
    for (const LanguageWord& word : words) {
      out += "| `" + std::string(word.word) + "` | " + std::string(word.meaning) + " | `" +
             std::string(word.example) + "` |\n";
    }
  }
  return out;
}

Json glossary_json() {
  Json out = Json::array();
  for (const report::Topic& topic : report::glossary_topics()) {
    for (const report::Term& term : topic.terms) {
      out.push_back({{"topic", std::string(topic.name)},
                     {"word", std::string(term.word)},
                     {"meaning", std::string(term.meaning)}});
    }
  }
  return out;
}

struct Reference {
  std::function<Json()> json;
  std::function<std::string()> markdown;
};

Reference of_file(std::function<FileSchema()> schema) {
  return {[schema] { return json_schema(schema()); },
          [schema] { return schema_markdown(schema()); }};
}

const Reference& known(const std::string& name) {
  static const std::map<std::string, Reference> all = [] {
    std::map<std::string, Reference> out = {
        {"expression", {language_json, language_markdown}},
        {"fabric", of_file(fabric::fabric_schema)},
        {"gate", {gate_json, gate_markdown}},
        {"glossary", {glossary_json, report::glossary_markdown}}};
    for (const std::string& kind : plan_schema_names()) {
      out[kind] = of_file([kind] { return plan_schema(kind); });
    }
    return out;
  }();
  const auto* found = find_value(all, name);
  if (found) return *found;
  throw refused("no reference of '" + printable(name) + "'", {},
                suggestion(name, reference_names()));
}

}  // namespace

std::vector<std::string> reference_names() {
  std::vector<std::string> out = plan_schema_names();
  out.insert(out.end(), {"fabric", "expression", "gate", "glossary"});
  return out;
}

Json reference_json(const std::string& name) { return known(name).json(); }

std::string reference_markdown(const std::string& name) { return known(name).markdown(); }

}  // namespace halmark::tune
