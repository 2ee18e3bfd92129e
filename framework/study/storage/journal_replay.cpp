#include "study/storage/journal_replay.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/json/json.hpp"
#include "core/json/json_type.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {
namespace {

// Values of one line of a journal file, which Python writes: what is no JSON, and what rows have of
// it. Each throws std::invalid_argument or an exception of JSON for a value that cannot be read.

std::string text_of_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void set(Attributes& attributes, const std::string& key, const Json& value) {
  auto* it = find_or_null(attributes, key, &Attributes::value_type::first);
  if (it) {
    it->second = text_of_json(value);
  } else {
    attributes.emplace_back(key, text_of_json(value));
  }
}

// The bare words NaN and Infinity in quotes, so that a JSON parser takes the line.
// Those words as numbers too; null is NaN.
// "2026-11-21T10:20:30.123456" or with "+00:00" behind it, as rows have it; "" where there is none.
// From "values", or from the one "value" of older versions.
std::string with_quoted_words(std::string_view line) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size();) {
    if (!in_string) {
      bool is_word = false;
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (!line.substr(i).starts_with(word)) continue;
        out.append("\"").append(word).append("\"");
        i += word.size();
        is_word = true;
        break;
      }
      if (is_word) continue;
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      out += line[i++];
      out += line[i++];
      continue;
    }
    if (line[i] == '"') in_string = !in_string;
    out += line[i++];
  }
  return out;
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "Infinity") return HUGE_VAL;
  if (json == "-Infinity") return -HUGE_VAL;
  if (json == "NaN" || json.is_null()) return std::nan("");
  throw std::invalid_argument("a value is no number");
}

std::string time_of(const Json& line, const char* key) {
  const auto it = line.find(key);
  if (it == line.end() || !it->is_string()) return {};
  std::string out = it->get<std::string>().substr(0, 26);
  if (out.size() > 10) out[10] = ' ';
  return out;
}

void set_all(Attributes& attributes, const Json& line, const char* key) {
  const auto it = line.find(key);
  if (it == line.end() || !it->is_object()) return;
  for (const auto& [name, value] : it->items()) set(attributes, name, value);
}

void set_values(TrialRow& row, const Json& line) {
  const auto values = line.find("values");
  if (values != line.end() && values->is_array()) {
    row.values.clear();
    for (const Json& value : *values) row.values.push_back(number_of(value));
    return;
  }
  const auto value = line.find("value");
  if (value != line.end() && !value->is_null()) row.values = {number_of(*value)};
}

TrialState state_at(const Json& line) {
  const auto state = line.value("state", 0);
  if (state < 0 || state >= as_int(trial_states)) {
    throw std::invalid_argument("unknown state " + std::to_string(state));
  }
  return static_cast<TrialState>(state);
}

enum Operation {
  op_create_study,
  op_delete_study,
  op_study_user_attribute,
  op_study_system_attribute,
  op_create_trial,
  op_trial_param,
  op_trial_state,
  op_trial_intermediate,
  op_trial_user_attribute,
  op_trial_system_attribute,
  op_discard,  // another writer's; changes nothing here
};

}  // namespace

void StudyReplay::apply(std::string_view line, std::size_t line_number) {
  const std::string where = path_ + ':' + std::to_string(line_number);
  // Past so many brackets a parser that recurses is not safe; this gate counts their depth.
  constexpr std::ptrdiff_t brackets_max = 4096;
  if (std::ranges::count(line, '[') + std::ranges::count(line, '{') > brackets_max) {
    (void)parse_json(with_quoted_words(line), where);
  }
  const bool has_words = line.find("NaN") != line.npos || line.find("Infinity") != line.npos;
  const Json json = has_words ? Json::parse(with_quoted_words(line), nullptr, false)
                              : Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("op_code")) {
    throw refused("this line is no operation on a study", where,
                  line_number == 1 ? "name another file" : "restore a backup");
  }
  try {
    operate(json);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw refused(std::string("this operation cannot be read: ") + e.what(), where);
  }
}

void StudyReplay::operate(const Json& line) {
  switch (line.at("op_code").get<int>()) {
    case op_create_study:
      return create_study(line);
    case op_delete_study:
      if (Study* study = study_of(line)) study->info.reset();
      return;
    case op_study_user_attribute:
      return set_study_attribute(line, true);
    case op_study_system_attribute:
      return set_study_attribute(line, false);
    case op_create_trial:
      return create_trial(line);
    case op_trial_param:
      return set_param(line);
    case op_trial_state:
      return set_state(line);
    case op_trial_intermediate:
      return set_intermediate(line);
    case op_trial_user_attribute:
      return set_attribute(line, true);
    case op_trial_system_attribute:
      return set_attribute(line, false);
    case op_discard:
      return;
    default:
      throw std::invalid_argument("unknown op_code " + line.at("op_code").dump());
  }
}

void StudyReplay::create_study(const Json& line) {
  auto name = line.at("study_name").get<std::string>();
  if (find(name) != nullptr) return;
  StudyInfo info{.id = std::ssize(studies_), .name = std::move(name)};
  for (const Json& direction : line.at("directions")) {
    info.directions.push_back(static_cast<StudyDirection>(direction.get<int>()));
  }
  studies_.push_back({.info = std::move(info)});
}

void StudyReplay::set_study_attribute(const Json& line, bool is_user) {
  Study* study = study_of(line);
  if (study == nullptr) return;
  set_all(is_user ? study->info->user : study->info->system, line,
          is_user ? "user_attr" : "system_attr");
}

void StudyReplay::create_trial(const Json& line) {
  Study* study = study_of(line);
  if (study == nullptr) return;
  TrialRow row{.id = next_trial_id(),
               .number = as_int(study->trials.size()),
               .state = state_at(line),
               .started_utc = time_of(line, "datetime_start"),
               .completed_utc = time_of(line, "datetime_complete")};
  if (const auto params = line.find("params"); params != line.end()) {
    const Json& distributions = line.at("distributions");
    for (const auto& [name, value] : params->items()) {
      auto distribution = texts_.parsed(distributions.at(name).get_ref<const std::string&>());
      study->first.try_emplace(name, distribution);
      row.params.push_back({name, number_of(value), std::move(distribution)});
    }
  }
  set_values(row, line);
  set_all(row.user, line, "user_attrs");
  set_all(row.system, line, "system_attrs");
  if (const auto steps = line.find("intermediate_values"); steps != line.end()) {
    for (const auto& [step, value] : steps->items()) {
      row.intermediate.emplace_back(std::stoll(step), number_of(value));
    }
  }
  study->trials.push_back(row.id);
  study_of_trial_.push_back(as_size(study - studies_.data()));
  trials_.push_back(std::move(row));
}

void StudyReplay::set_param(const Json& line) {
  TrialRow* row = updatable(line);
  if (row == nullptr) return;
  auto name = line.at("param_name").get<std::string>();
  auto distribution = texts_.parsed(line.at("distribution").get_ref<const std::string&>());
  Study& study = studies_[study_of_trial_[as_size(row->id)]];
  const auto first = study.first.try_emplace(name, distribution).first;
  if (!first->second->is_compatible(*distribution)) return;
  log_.push_back(row->id);
  const double internal = number_of(line.at("param_value_internal"));
  auto* it = find_or_null(row->params, name, &TrialParam::name);
  if (it) {
    *it = {std::move(name), internal, std::move(distribution)};
  } else {
    row->params.push_back({std::move(name), internal, std::move(distribution)});
  }
}

void StudyReplay::set_state(const Json& line) {
  TrialRow* row = updatable(line);
  if (row == nullptr) return;
  const TrialState state = state_at(line);
  if (state == TrialState::running && row->state == TrialState::running) return;
  if (state == TrialState::running) row->started_utc = time_of(line, "datetime_start");
  if (is_finished(state)) row->completed_utc = time_of(line, "datetime_complete");
  row->state = state;
  log_.push_back(row->id);
  set_values(*row, line);
}

void StudyReplay::set_intermediate(const Json& line) {
  TrialRow* row = updatable(line);
  if (row == nullptr) return;
  const auto step = line.at("step").get<std::int64_t>();
  const double value = number_of(line.at("intermediate_value"));
  auto* it = find_or_null(row->intermediate, step, [](const auto& v) { return v.first; });
  if (it) {
    it->second = value;
  } else {
    row->intermediate.emplace_back(step, value);
  }
}

void StudyReplay::set_attribute(const Json& line, bool is_user) {
  TrialRow* row = updatable(line);
  if (row == nullptr) return;
  set_all(is_user ? row->user : row->system, line, is_user ? "user_attr" : "system_attr");
  log_.push_back(row->id);
}

StudyReplay::Study* StudyReplay::study_of(const Json& line) {
  const auto id = line.at("study_id").get<std::int64_t>();
  if (id < 0 || as_size(id) >= studies_.size()) return nullptr;
  Study& study = studies_[as_size(id)];
  return study.info ? &study : nullptr;
}

TrialRow* StudyReplay::updatable(const Json& line) {
  const auto id = line.at("trial_id").get<std::int64_t>();
  if (id < 0 || id >= next_trial_id()) return nullptr;
  TrialRow& row = trials_[as_size(id)];
  return is_finished(row.state) ? nullptr : &row;
}

std::vector<StudySummary> StudyReplay::list() const {
  std::vector<StudySummary> out;
  for (const Study& study : studies_) {
    if (!study.info) continue;
    StudySummary summary{.info = *study.info};
    for (const std::int64_t id : study.trials) {
      const TrialState state = trials_[as_size(id)].state;
      ++summary.counts[as_size(state)];
    }
    out.push_back(std::move(summary));
  }
  return out;
}

const StudyInfo* StudyReplay::find(std::string_view name) const {
  for (const Study& study : studies_) {
    if (study.info && study.info->name == name) return &*study.info;
  }
  return nullptr;
}

const StudyInfo* StudyReplay::find(std::int64_t id) const {
  if (id < 0 || as_size(id) >= studies_.size()) return nullptr;
  const Study& study = studies_[as_size(id)];
  return study.info ? &*study.info : nullptr;
}

std::vector<TrialRow> StudyReplay::trials(std::int64_t study, TrialCursor& cursor) const {
  std::vector<TrialRow> out;
  if (find(study) == nullptr) return out;
  std::set<std::int64_t> changed;
  for (auto at = as_size(std::max<std::int64_t>(cursor.log_at, 0)); at < log_.size(); ++at) {
    changed.insert(log_[at]);
  }
  cursor.log_at = std::ssize(log_);
  for (const std::int64_t id : changed) {
    const auto* seen = find_value(cursor.unfinished, id);
    const TrialRow* row = trial(id);
    if (!seen || row == nullptr) continue;
    if (row->state != seen->state || row->params.size() != seen->params) {
      out.push_back(*row);
    }
  }
  const std::vector<std::int64_t>& ids = studies_[as_size(study)].trials;
  for (auto it = std::ranges::upper_bound(ids, cursor.last_id); it != ids.end(); ++it) {
    out.push_back(trials_[as_size(*it)]);
  }
  for (const TrialRow& row : out) cursor.see(row);
  std::ranges::stable_sort(out, {}, &TrialRow::number);
  return out;
}

const TrialRow* StudyReplay::trial(std::int64_t id) const {
  return id >= 0 && id < next_trial_id() ? &trials_[as_size(id)] : nullptr;
}

}  // namespace halmark::journal
