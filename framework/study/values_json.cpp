#include "study/values_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

[[noreturn]] void unreadable(std::string_view what, std::string_view where) {
  throw refused("a distribution cannot be read: " + std::string(what), std::string(where));
}

double number_at(const Json& in, const char* key, std::string_view where) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_number()) unreadable(std::string("no number '") + key + "'", where);
  return it->get<double>();
}

double step_at(const Json& in, const char* key) {
  const auto it = in.find(key);
  return it != in.end() && it->is_number() ? std::max(0.0, it->get<double>()) : 0;
}

// As a 64-bit integer has it, so that it can be written again.
void check_whole(double value, std::string_view where) {
  if (!(std::fabs(value) < 0x1p63) || value != std::floor(value)) {
    unreadable("an integer is none of 64 bits", where);
  }
}

bool log_at(const Json& in) {
  const auto it = in.find("log");
  return it != in.end() && it->is_boolean() && it->get<bool>();
}

std::vector<ParamValue> choices_at(const Json& in, std::string_view where) {
  const auto it = in.find("choices");
  if (it == in.end() || !it->is_array() || it->empty()) unreadable("no list 'choices'", where);
  return mapped(*it, [&](const Json& choice) { return param_value_of(choice, "choices"); });
}

ParamDistribution numeric(ParamDistribution::Kind kind, const Json& in, std::string_view where,
                          const char* step_key = "step") {
  ParamDistribution out{.kind = kind,
                        .low = number_at(in, "low", where),
                        .high = number_at(in, "high", where),
                        .step = step_at(in, step_key),
                        .is_log = log_at(in)};
  if (kind != ParamDistribution::Kind::integer) return out;
  out.step = std::max(1.0, out.step);
  for (const double whole : {out.low, out.high, out.step}) check_whole(whole, where);
  return out;
}

Json integer_json(double value) { return as_int64(std::llround(value)); }

}  // namespace

Json param_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

ParamValue param_value_of(const Json& json, std::string_view name) {
  if (json.is_null()) return nullptr;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  const bool fits =
      json.is_number_integer() &&
      (!json.is_number_unsigned() ||
       json.get<std::uint64_t>() <= as_uint64(std::numeric_limits<std::int64_t>::max()));
  if (fits) return json.get<std::int64_t>();
  throw refused("'" + std::string(name) + "' must be null, true, false, a number or a string");
}

std::string distribution_text(const ParamDistribution& d) {
  using Kind = ParamDistribution::Kind;
  Json attributes, choices = Json::array();
  switch (d.kind) {
    case Kind::integer:
      attributes = {{"log", d.is_log},
                    {"step", integer_json(d.step)},
                    {"low", integer_json(d.low)},
                    {"high", integer_json(d.high)}};
      return dump_json({{"name", "IntDistribution"}, {"attributes", attributes}});
    case Kind::real:
      attributes = {{"step", d.step > 0 ? Json(d.step) : Json()},
                    {"low", d.low},
                    {"high", d.high},
                    {"log", d.is_log}};
      return dump_json({{"name", "FloatDistribution"}, {"attributes", attributes}});
    case Kind::categorical:
      for (const ParamValue& choice : d.choices) choices.push_back(param_json(choice));
      attributes["choices"] = choices;
      return dump_json({{"name", "CategoricalDistribution"}, {"attributes", attributes}});
  }
  return {};
}

ParamDistribution parse_distribution(std::string_view text, std::string_view where) {
  using Kind = ParamDistribution::Kind;
  const Json json = parse_json(text, where);
  if (!json.is_object()) unreadable("it is no object", where);
  const bool is_short = json.contains("type");
  const Json& name_json = is_short ? json.at("type") : json.value("name", Json());
  if (!name_json.is_string()) unreadable("it has no name", where);
  const auto name = name_json.get<std::string>();
  if (!is_short && !json.contains("attributes")) unreadable("it has no attributes", where);
  const Json& in = is_short ? json : json.at("attributes");
  if (name == "IntDistribution" || name == "IntUniformDistribution" || name == "int") {
    return numeric(Kind::integer, in, where);
  }
  if (name == "FloatDistribution" || name == "UniformDistribution" || name == "float") {
    return numeric(Kind::real, in, where);
  }
  if (name == "CategoricalDistribution" || name == "categorical") {
    return {.kind = Kind::categorical, .choices = choices_at(in, where)};
  }
  if (name == "DiscreteUniformDistribution") return numeric(Kind::real, in, where, "q");
  if (name == "LogUniformDistribution" || name == "IntLogUniformDistribution") {
    ParamDistribution out =
        numeric(name.starts_with("Int") ? Kind::integer : Kind::real, in, where);
    out.is_log = true;
    return out;
  }
  unreadable("its class is '" + name + "'", where);
}

std::vector<std::string> metric_names(const StudyInfo& study) {
  std::vector<std::string> out;
  if (const std::string* text = find_attribute(study.system, metric_names_attribute)) {
    for (const Json& name : parse_json(*text, study.name)) {
      if (name.is_string()) out.push_back(name.get<std::string>());
    }
  }
  if (out.size() == study.directions.size()) return out;
  out.clear();
  for (const auto i : indices(study.directions)) {
    out.push_back("value " + std::to_string(i));
  }
  return out;
}

std::vector<double> constraint_values(const TrialRow& row) {
  std::vector<double> out;
  const auto add = [&](const Json& value) {
    if (value.is_number()) out.push_back(value.get<double>());
  };
  for (const auto& [key, text] : row.system) {
    if (key != constraints_attribute && !key.starts_with(named_constraint_prefix)) continue;
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_array()) {
      for (const Json& value : json) add(value);
    } else {
      add(json);
    }
  }
  return out;
}

std::vector<double> violations_of(const TrialRow& row) {
  std::vector<double> out;
  const std::string* amounts = find_attribute(row.user, violations_attribute);
  const Json own = amounts != nullptr ? Json::parse(*amounts, nullptr, false) : Json();
  if (!own.is_array()) {
    std::ranges::copy_if(constraint_values(row), std::back_inserter(out),
                         [](double g) { return g > 0; });
    return out;
  }
  for (const Json& amount : own) {
    if (amount.is_number()) out.push_back(amount.get<double>());
  }
  return out;
}

Json trial_json(const TrialRow& row) {
  // JSON has no infinities: they are words here.
  const auto value_json = [](double value) -> Json {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  };
  Json params = Json::object();
  for (const TrialParam& param : row.params) {
    params[param.name] = param_json(param.distribution->value(param.internal));
  }
  const Json values = json_list(row.values, value_json);
  Json out = {{"trial", row.number}, {"state", state_name(row.state)}, {"params", params}};
  out["values"] = values;
  std::vector<double> constraints = constraint_values(row);
  if (constraints.empty()) constraints = violations_of(row);
  if (!constraints.empty()) out["constraints"] = constraints;
  return out;
}

Json objectives_json(const StudyInfo& study) {
  Json out = Json::array();
  const std::vector<std::string> names = metric_names(study);
  for (const auto i : indices(names)) {
    const bool is_max = study.directions[i] == StudyDirection::maximize;
    out.push_back({{"name", names[i]}, {"direction", is_max ? "maximize" : "minimize"}});
  }
  return out;
}

Json study_summary_json(const StudySummary& study) {
  Json states = Json::object();
  for (const auto i : indices(trial_states)) {
    states[std::string(state_name(static_cast<TrialState>(i)))] = study.counts[i];
  }
  return {{"name", study.info.name},
          {"trials", study.trials()},
          {"states", states},
          {"objectives", objectives_json(study.info)}};
}

}  // namespace halmark
