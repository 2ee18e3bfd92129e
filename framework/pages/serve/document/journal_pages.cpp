#include "pages/serve/document/journal_pages.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "history/runs.hpp"
#include "history/side.hpp"
#include "history/view/comparison_view.hpp"
#include "journal/place.hpp"
#include "journal/store.hpp"

namespace halmark::pages {
namespace {

constexpr std::size_t runs_max = 40, points_max = 2000;

Json run_json(const history::ListedRun& run) {
  return {{"id", run.id},
          {"command", run.info.command},
          {"started_utc", run.info.started_utc},
          {"tool", run.info.tool_version},
          {"kernels", run.rows},
          {"failed", run.failed},
          {"invalid", run.invalid},
          {"configurations", run.configurations}};
}

Json point_json(const Evaluation& e) {
  const Estimate& estimate = *e.estimate;
  const auto mfu = estimate.mfu ? estimate.mfu : estimate.mfu_datasheet;
  return {{"name", e.configuration.key()},
          {"strategy", e.configuration.parallel.text()},
          {"batch", e.configuration.workload.batch},
          {"devices", e.configuration.devices()},
          {"step_ns", estimate.step_ns},
          {"low_ns", estimate.low_ns},
          {"high_ns", estimate.high_ns},
          {"tokens_per_s", estimate.tokens_per_s},
          {"tokens_per_s_per_device", estimate.tokens_per_s / e.configuration.devices()},
          {"bytes_per_rank", estimate.memory_bytes_per_rank},
          {"mfu", optional_number(mfu)},
          {"from", provenance_name(estimate.provenance)},
          {"status", status_name(e.status)},
          {"measured_ns", optional_number(e.measured_ns)}};
}

}  // namespace

Json journal_runs(const std::string& database) {
  Json runs = Json::array();
  if (!is_database_there(database)) {
    return {{"runs", runs},
            {"reason", "There is no results database yet: halmark tune makes one."}};
  }
  try {
    const auto store = open_store_read_only(database);
    std::vector<history::ListedRun> all = history::list_runs(*store, runs_max, database);
    std::ranges::reverse(all);
    for (const history::ListedRun& run : all) runs.push_back(run_json(run));
  } catch (const Error& error) {
    return {{"runs", Json::array()}, {"reason", error.line()}};
  }
  return {{"runs", std::move(runs)}, {"reason", ""}};
}

Json journal_points(const std::string& database, std::int64_t run) {
  const auto store = open_store_read_only(database);
  Json points = Json::array();
  std::size_t left_out = 0;
  for (const Evaluation& e : store->rows<Evaluation>(run)) {
    if (!e.estimate || !has_latency(e.status)) continue;
    if (points.size() < points_max) {
      points.push_back(point_json(e));
    } else {
      ++left_out;
    }
  }
  store->require_sound();
  return {{"points", std::move(points)}, {"left_out", left_out}};
}

Json journal_comparison(const std::string& database, const std::string& before,
                        const std::string& after) {
  // Numbers of runs alone: a name of the page opens no other file.
  for (const std::string& side : {before, after}) {
    if (!side.empty() && side.find_first_not_of("0123456789") == std::string::npos) continue;
    throw refused("'" + printable(side) + "' is no number of a run");
  }
  const history::Comparison comparison = history::compare_sides(
      history::load_side(before, database), history::load_side(after, database), {});
  return history::comparison_view(comparison).data;
}

}  // namespace halmark::pages
