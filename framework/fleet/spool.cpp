#include "fleet/spool.hpp"

#include <filesystem>

#include "core/json/json.hpp"
#include "core/version.hpp"
#include "journal/salvage.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark::fleet {
namespace {

constexpr const char* spool_plan = "units of a fleet that wait for its server";

}  // namespace

void Spool::keep(std::int64_t agent, const WorkUnit& unit, const std::vector<Measurement>& rows) {
  const std::unique_ptr<Store> store = open_store(path_);
  const Json what = {
      {"agent", agent}, {"unit", unit.id}, {"run", unit.run}, {"attempt", unit.attempt}};
  const std::int64_t run = store->begin_run({.command = dump_json(what),
                                             .plan_hash = "spool",
                                             .plan_text = spool_plan,
                                             .fingerprint = "",
                                             .tool_version = tool_version,
                                             .tool_build = tool_build,
                                             .started_utc = journal::utc_now()});
  store->append(run, std::span(rows));
}

bool Spool::is_empty() const {
  std::error_code ignored;
  return !std::filesystem::exists(path_, ignored);
}

std::vector<Spool::Kept> Spool::all() const {
  std::vector<Kept> out;
  if (is_empty()) return out;
  const std::unique_ptr<Store> store = open_store_read_only(path_);
  constexpr std::size_t everything = 1'000'000;
  for (const std::int64_t run : store->latest_runs(everything)) {
    const Json what = parse_json(store->run_info(run).command, path_);
    std::vector<Measurement> rows = store->run_measurements(run);
    if (rows.empty()) continue;  // killed between the two
    out.push_back({.agent = what.at("agent").get<std::int64_t>(),
                   .unit = {.id = what.at("unit").get<std::int64_t>(),
                            .run = what.at("run").get<std::int64_t>(),
                            .attempt = what.at("attempt").get<int>()},
                   .rows = std::move(rows)});
  }
  store->require_sound();
  return out;
}

void Spool::clear() {
  if (!is_empty()) discard_database(path_);
}

}  // namespace halmark::fleet
