#include "tune/stored/stored_front.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "journal/place.hpp"
#include "journal/store.hpp"
#include "report/searched_front.hpp"
#include "study/storage/open.hpp"
#include "tune/stored/stored_report.hpp"
#include "tune/stored/study_trials.hpp"

namespace halmark::tune {
namespace {

// Of a study: what a search found, beside its trials.
constexpr std::string_view front_attribute = "halmark:front";

Json front_json(const SearchedFront& front) {
  Json out = front;
  const Json points =
      json_list(front.points, [](const Evaluation& e) { return e.configuration.key(); });
  out["points"] = points;
  return out;
}

// The points of the stored front, as its trials have them, in its order.
void add_points(StudyStore& store, std::int64_t study, const Json& keys, SearchedFront& out) {
  std::map<std::string, Evaluation> found;
  TrialCursor cursor;
  for (const TrialRow& row : store.trials(study, cursor)) {
    if (const std::string* text = find_attribute(row.user, evaluation_attribute)) {
      const auto e = Json::parse(*text).get<Evaluation>();
      found.emplace(e.configuration.key(), e);
    }
  }
  for (const Json& key : keys) {
    const auto* it = find_value(found, key.get<std::string>());
    if (!it) throw refused("a point of the stored front has no trial", out.origin);
    out.points.push_back(*it);
  }
}

}  // namespace

std::string store_front(StudyStore& store, const SearchedFront& front,
                        std::span<const Evaluation> tried, const TrialTimes& times) {
  const Json document = front_json(front);
  // The same result is the same study, whenever it was found and by whatever command.
  Json of_result = document;
  for (const char* key : {"command", "started_utc"}) of_result.erase(key);
  Json figures = Json::array();
  std::vector<const Evaluation*> members;
  std::set<std::string> points;
  for (const Evaluation& e : front.points) {
    figures.push_back(e);
    points.insert(e.configuration.key());
    members.push_back(&e);
  }
  for (const Evaluation& e : tried) {
    if (!points.contains(e.configuration.key())) members.push_back(&e);
  }
  if (members.size() > stored_trials_max)
    members.resize(std::max(front.points.size(), stored_trials_max));
  if (members.empty()) return {};
  const std::string digest = sha256_of(dump_json(Json::array({of_result, figures})));
  StudyInfo info = study_of(front.title + ' ' + digest.substr(0, 12), front.objectives);
  info.user = {{std::string(front_attribute), dump_json(document)}};
  store_trials(store, info, members, front.objectives, front.levels, points, times);
  return info.name;
}

std::vector<StoredFront> stored_fronts(StudyStore& store) {
  std::vector<StoredFront> out;
  for (const StudySummary& study : store.list()) {
    const std::string* text = find_attribute(study.info.user, front_attribute);
    if (text == nullptr) continue;
    out.push_back({study.info.name, Json::parse(*text).at("started_utc").get<std::string>()});
  }
  std::ranges::stable_sort(out, {}, &StoredFront::started_utc);
  return out;
}

SearchedFront read_stored_front(StudyStore& store, const std::string& name) {
  for (const StudySummary& study : store.list()) {
    if (study.info.name != name) continue;
    const std::string* text = find_attribute(study.info.user, front_attribute);
    if (text == nullptr) break;
    try {
      const Json document = Json::parse(*text);
      auto out = document.get<SearchedFront>();
      out.origin = "study '" + name + "'";
      add_points(store, study.info.id, document.at("points"), out);
      return out;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      throw refused("its front cannot be read: " + std::string(e.what()), "study '" + name + "'");
    }
  }
  auto known = mapped(stored_fronts(store), &StoredFront::study);
  throw refused("no study '" + name + "' with a front", std::string(store.location()),
                known.empty() ? "search first: halmark tune" : suggestion(name, known));
}

std::vector<std::string> keep_front(StudyStore& store, const ServedReport& report,
                                    SearchedFront like, const TrialTimes& times) {
  like.started_utc = utc_microseconds_now();
  const SearchedFront front = searched_front(report, std::move(like));
  if (front.points.empty()) return {};
  return {store_front(store, front, report.tried, times)};
}

std::vector<std::string> keep_front(StudyStore& store, const RunReport& report, SearchedFront like,
                                    const TrialTimes& times) {
  like.started_utc = utc_microseconds_now();
  SearchedFront all = searched_front(report, std::move(like));
  // Of no use to who launches a point.
  for (Evaluation& e : all.points) e.estimate->operators.clear();
  std::vector<std::string> out;
  for (const Phase phase : {Phase::decode, Phase::prefill, Phase::training}) {
    const auto is_other = [&](const Evaluation& e) {
      return e.configuration.workload.phase != phase;
    };
    SearchedFront front = all;
    std::erase_if(front.points, is_other);
    if (front.points.empty()) continue;
    front.title += ' ' + std::string(phase_name(phase));
    std::vector<Evaluation> tried = report.evaluations;
    std::erase_if(tried, is_other);
    out.push_back(store_front(store, front, tried, times));
  }
  return out;
}

namespace {

// Beside a file the studies are another one, which may not be there yet; a server is asked.
bool has_studies(const FrontPlace& place) {
  const std::string beside = studies_of(place.database);
  if (place.studies != beside) return true;
  if (!is_postgresql_url(beside)) return is_database_there(place.database + ".study");
  try {
    open_study_store(beside, StudyAccess::existing);
    return true;
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::refused) throw;
    return false;
  }
}

SearchedFront front_of_run(const Store& store, std::int64_t run) {
  const RunReport report = stored_report(store, run, {});
  SearchedFront out = searched_front(report, SearchedFront{});
  out.origin = "run " + std::to_string(run);
  out.started_utc = report.started_utc;
  return out;
}

// Times of both stores compare as text.
std::string moment(std::string text) {
  std::ranges::replace(text, 'T', ' ');
  return text.substr(0, 19);
}

}  // namespace

std::optional<FrontOrigin> latest_origin(const FrontPlace& place) {
  std::optional<StoredFront> stored;
  if (!place.run && has_studies(place)) {
    if (!place.study.empty()) return FrontOrigin{.study = place.study};
    const auto all = stored_fronts(*open_study_store(place.studies, StudyAccess::existing));
    if (!all.empty()) stored = all.back();
  }
  if (!place.study.empty()) {
    throw refused("no studies are there", without_password(place.studies),
                  "search first: halmark tune");
  }
  if (place.run || is_database_there(place.database)) {
    const auto store = open_store_read_only(place.database);
    const auto run = place.run ? place.run : store->latest_sweep();
    if (run &&
        (!stored || moment(stored->started_utc) < moment(store->run_info(*run).started_utc))) {
      return FrontOrigin{.run = *run};
    }
  }
  if (!stored) return std::nullopt;
  return FrontOrigin{.study = stored->study};
}

FrontOrigin front_origin(const FrontPlace& place) {
  if (auto found = latest_origin(place)) return *found;
  throw refused("no search is stored", without_password(place.database),
                "search first: halmark tune SWEEP.toml");
}

SearchedFront find_front(const FrontPlace& place) {
  const FrontOrigin origin = front_origin(place);
  if (origin.study.empty()) return front_of_run(*open_store_read_only(place.database), origin.run);
  return read_stored_front(*open_study_store(place.studies, StudyAccess::existing), origin.study);
}

StoredKernels stored_kernels(const FrontPlace& place, const ReportingMachine& machine) {
  const auto store = open_store_read_only(place.database);
  const auto run = place.run ? place.run : store->latest_run();
  if (!run) throw refused("the database holds no run", without_password(place.database));
  return {stored_report(*store, *run, machine), store->run_measurements(*run)};
}

}  // namespace halmark::tune
