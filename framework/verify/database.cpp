#include "verify/database.hpp"

#include <map>

#include "core/json/winner_json.hpp"
#include "core/text/digest.hpp"
#include "journal/check.hpp"
#include "journal/store.hpp"

namespace halmark {
namespace {

// A winner is a conclusion: it must follow from the rounds of its run that lie in the database.
std::string fault_of_winner(const StoredEntry& entry, std::span<const Measurement> rows) {
  try {
    const auto stored = parse_json(entry.winner_body, "body").get<Winner>();
    std::vector<Variant> variants;
    for (const VariantTime& v : stored.variants) variants.push_back(v.variant);
    const auto again = judge_variants(stored.question, variants, rows);
    if (again && dump_json(Json(*again)) == entry.winner_body) return {};
    return "this winner does not follow from the measurements of run " + std::to_string(entry.run);
  } catch (const std::exception& e) {
    return std::string("this winner cannot be read: ") + e.what();
  }
}

void check_winners(const std::string& path, const std::vector<StoredEntry>& winners,
                   DatabaseCheck& out) {
  if (winners.empty()) return;
  const auto store = open_store_read_only(path);
  std::int64_t run = 0;
  std::vector<Measurement> rows;
  for (const StoredEntry& entry : winners) {
    if (entry.run != run) rows = store->run_measurements(entry.run);
    run = entry.run;
    const std::string fault = fault_of_winner(entry, rows);
    if (!fault.empty()) out.findings.push_back({"entry", entry.id, "body", fault});
  }
}

}  // namespace

DatabaseCheck check_database(const std::string& path) {
  const StoredDatabase stored = read_database(path);
  DatabaseCheck out;
  for (const std::string& line : stored.integrity) out.findings.push_back({"file", 0, "", line});
  for (const auto& orphan : stored.orphans) {
    out.findings.push_back(
        {orphan.table, orphan.row, orphan.column, "names no row of table " + orphan.parent});
  }
  if (stored.schema != stored.expected_schema) {
    out.findings.push_back({"schema", 0, "", "the tables differ from what this halmark makes"});
  }
  std::map<std::int64_t, std::string> chains;
  for (const StoredRun& run : stored.runs) chains[run.id] = run.start_chain;
  std::vector<StoredEntry> winners;
  for_each_entry(path, [&](const StoredEntry& entry) {
    ++out.entries;
    if (entry.kind == "winner") winners.push_back(entry);
    if (static_cast<std::int64_t>(xxh3_of(entry.bytes)) != entry.checksum) {
      out.findings.push_back(
          {"entry", entry.id, "checksum", "the row was changed after it was stored"});
    }
    std::string& chain = chains[entry.run];
    chain = sha256_of(chain + entry.bytes);
    if (chain != entry.chain) {
      out.findings.push_back(
          {"entry", entry.id, "chain",
           "a row of run " + std::to_string(entry.run) +
               " was changed, removed, inserted or moved at or before this one"});
      chain = entry.chain;
    }
  });
  for (const StoredRun& run : stored.runs) {
    ++out.runs;
    out.heads.push_back({run.id, run.chain});
    if (chains[run.id] != run.chain) {
      out.findings.push_back({"run", run.id, "chain", "the last rows of this run are missing"});
    }
  }
  check_winners(path, winners, out);
  return out;
}

}  // namespace halmark
