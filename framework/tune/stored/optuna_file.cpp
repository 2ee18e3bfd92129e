#include "tune/stored/optuna_file.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "journal/store.hpp"
#include "study/storage/copy.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tune/stored/stored_study.hpp"
#include "tune/stored/study_trials.hpp"

namespace halmark::tune {
namespace {

namespace fs = std::filesystem;

constexpr std::array sqlite_endings = {".db", ".sqlite", ".sqlite3", ".study"};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "halmark-study-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(ExitCode::error, "no folder can be made", pattern,
                  "set TMPDIR to a writable one");
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// What `body` stores, as the bytes of the file that it is stored in.
std::string stored_bytes(const std::string& path, const std::function<void(StudyStore&)>& body) {
  const TemporaryFolder folder;
  const std::string file = folder.file("study");
  const bool is_sqlite =
      std::ranges::any_of(sqlite_endings, [&](const char* end) { return path.ends_with(end); });
  const std::string location = (is_sqlite ? "sqlite:" : "journal:") + file;
  body(*open_study_store(location, StudyAccess::or_create));
  return read_input(file, study_input);
}

// "2026-11-21T04:17:27Z" as rows have it: "2026-11-21 04:17:27.000000".
std::string row_time(const std::string& utc) {
  if (utc.size() < 19) return utc;
  std::string out = utc.substr(0, 19);
  out[10] = ' ';
  return out + ".000000";
}

void store_study(StudyStore& to, const StudyInfo& study, std::vector<TrialRow> rows) {
  to.transact([&](StudyTransaction& transaction) {
    transaction.create(transaction.create_study(study).id, rows);
  });
}

std::string run_studies(const RunReport& report, const std::string& path) {
  std::vector<Objective> objectives;
  for (const std::string& name : report.objectives) {
    if (const auto objective = parse_objective(name)) objectives.push_back(*objective);
  }
  const auto all = open_study_store("memory:", StudyAccess::or_create);
  for (const Phase phase : {Phase::decode, Phase::prefill, Phase::training}) {
    store_evaluations(*all, report.title + ' ' + std::string(phase_name(phase)), phase,
                      report.evaluations, objectives);
  }
  return stored_bytes(path, [&](StudyStore& to) {
    for (const StudySummary& study : all->list()) {
      TrialCursor cursor;
      std::vector<TrialRow> rows = all->trials(study.info.id, cursor);
      for (TrialRow& row : rows) row.started_utc = row.completed_utc = row_time(report.started_utc);
      store_study(to, study.info, std::move(rows));
    }
  });
}

// What is chosen or given in a case, by the name of its parameter.
std::map<std::string, ParamValue> facts_of(const KernelCase& c) {
  const Problem& problem = c.problem;
  std::map<std::string, ParamValue> out = {
      {"op", problem.op},
      {"place", ShardPlace{c.backend, c.device, c.parts, 0}.text()},
      {"shards_at_once", std::int64_t{c.shards_at_once}},
      {"mode", std::string(cache_mode_name(c.mode)) + ':' + std::to_string(c.sets)}};
  for (const Param& p : problem.params.items()) {
    // Types by name, as everywhere: Params knows which of its values are types.
    const std::string text = Params{p}.text().substr(p.name.size() + 1);
    const bool is_number = text == std::to_string(p.value);
    out.emplace(p.name, is_number ? ParamValue(p.value) : ParamValue(text));
  }
  if (!c.kernel.empty()) out.emplace("kernel", c.kernel);
  if (const std::string config = c.config.text(); !config.empty()) out.emplace("config", config);
  if (!c.neighbours.empty()) out.emplace("neighbours", c.neighbours);
  return out;
}

// The distribution of each fact; of one choice where it is the same wherever it is known.
std::map<std::string, std::shared_ptr<const ParamDistribution>> choices_of(
    const std::vector<std::map<std::string, ParamValue>>& cases) {
  std::map<std::string, std::vector<ParamValue>> values;
  for (const auto& facts : cases) {
    for (const auto& [name, value] : facts) values[name].push_back(value);
  }
  std::map<std::string, std::shared_ptr<const ParamDistribution>> out;
  for (auto& [name, choices] : values) {
    out[name] = std::make_shared<const ParamDistribution>(
        ParamDistribution{.choices = distinct_choices(std::move(choices))});
  }
  return out;
}

TrialRow kernel_trial(const KernelPoint& point, const std::string& time) {
  TrialRow out{.state = TrialState::fail, .started_utc = time, .completed_utc = time};
  const auto add = [&](const char* key, const Json& value) {
    out.user.emplace_back(key, dump_json(value));
  };
  add("halmark:case", point.key);
  add("halmark:status", status_name(point.status));
  if (!point.reason.empty()) add("halmark:reason", point.reason);
  if (!has_latency(point.status) || !point.duration_ns) return out;
  out.state = TrialState::complete;
  out.values = {*point.duration_ns};
  if (point.low_ns && point.high_ns) {
    add("halmark:duration_interval_ns", Json::array({*point.low_ns, *point.high_ns}));
  }
  add("halmark:processes", point.rounds);
  add("halmark:implementation", point.implementation);
  if (point.mfu) add("halmark:mfu", *point.mfu);
  return out;
}

}  // namespace

std::string optuna_front(const FrontPlace& place, const std::string& path) {
  const FrontOrigin origin = front_origin(place);
  if (origin.study.empty()) {
    return run_studies(stored_report(*open_store_read_only(place.database), origin.run, {}), path);
  }
  const auto from = open_study_store(place.studies, StudyAccess::existing);
  const StudySummary study = find_study(*from, origin.study);
  return stored_bytes(path,
                      [&](StudyStore& to) { copy_study(*from, study.info, to, study.info.name); });
}

std::string optuna_kernels(const RunReport& report, std::span<const Measurement> rows,
                           const std::string& path) {
  std::map<std::string, const KernelCase*> by_key;
  for (const Measurement& row : rows) by_key.emplace(row.kernel_case.key(), &row.kernel_case);
  auto cases = mapped(report.kernels,
                      [&](const KernelPoint& point) { return facts_of(*by_key.at(point.key)); });
  const auto choices = choices_of(cases);
  std::vector<TrialRow> trials;
  for (const auto i : indices(cases)) {
    trials.push_back(kernel_trial(report.kernels[i], row_time(report.started_utc)));
    for (const auto& [name, value] : cases[i]) {
      const auto& distribution = choices.at(name);
      const auto& all = distribution->choices;
      if (all.size() == 1) {
        trials.back().user.emplace_back(name, dump_json(param_json(value)));
        continue;
      }
      const auto index = std::ranges::find(all, value) - all.begin();
      trials.back().params.push_back({name, as_double(index), distribution});
    }
  }
  const std::string title = report.title.empty() ? "bench" : report.title;
  StudyInfo study{.name = title + " kernels", .directions = {StudyDirection::minimize}};
  study.user = {{"halmark:command", dump_json(report.command)},
                {"halmark:fingerprint", dump_json(report.fingerprint)}};
  study.system = {{std::string(metric_names_attribute), "[\"duration_ns\"]"}};
  return stored_bytes(path, [&](StudyStore& to) { store_study(to, study, std::move(trials)); });
}

}  // namespace halmark::tune
