#include "verify/database.hpp"

#include <map>

#include "core/digest.hpp"
#include "journal/check.hpp"

namespace halmark {

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
  for_each_entry(path, [&](const StoredEntry& entry) {
    ++out.entries;
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
  return out;
}

}  // namespace halmark
