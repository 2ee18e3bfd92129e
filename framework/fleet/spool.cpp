#include "fleet/spool.hpp"

#include <filesystem>

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/version.hpp"
#include "journal/salvage.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark::fleet {
namespace {

constexpr const char* spool_plan = "units of a fleet that wait for its server";

// Whose rows a run of the spool holds.
template <class V, Of<Spool::Kept> M>
void fields(V& v, M& m) {
  v("agent", m.agent);
  v("unit", m.unit.id);
  v("run", m.unit.run);
  v("attempt", m.unit.attempt);
}

}  // namespace

void Spool::keep(std::int64_t agent, const WorkUnit& unit, const std::vector<Measurement>& rows) {
  const std::unique_ptr<Store> store = open_store(path_);
  const Kept whose{.agent = agent, .unit = unit};
  Json what;
  json_fields::Writer writer(what);
  fields(writer, whose);
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
    Kept kept{.rows = store->run_measurements(run)};
    if (kept.rows.empty()) continue;  // killed between the two
    const Json what = parse_json(store->run_info(run).command, path_);
    json_fields::Reader reader(what);
    fields(reader, kept);
    out.push_back(std::move(kept));
  }
  store->require_sound();
  return out;
}

void Spool::clear() {
  if (!is_empty()) discard_database(path_);
}

}  // namespace halmark::fleet
