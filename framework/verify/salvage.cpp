// A row may be whole by itself and still say what others do not bear out. Leaving it out may take
// the ground from a further one: the copy is made again until it verifies.
#include "verify/salvage.hpp"

#include <set>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"

namespace halmark {
namespace {

Salvage copied(const std::string& from, const std::string& temporary) {
  std::set<std::int64_t> except;
  std::vector<LeftOut> unfounded;
  for (;;) {
    discard_database(temporary);
    Salvage out{.copy = copy_sound_rows(from, temporary, except),
                .check = check_database(temporary)};
    const std::size_t before = except.size();
    for (const DatabaseFinding& f : out.check.findings) {
      if (f.table != "entry") {
        throw Error(ExitCode::error, "the copy does not verify: " + f.text, temporary);
      }
      if (except.insert(f.row).second) unfounded.push_back({f.table, f.row, f.text});
    }
    if (except.size() > before) continue;
    append_all(out.copy.left_out, unfounded);
    return out;
  }
}

}  // namespace

void require_files(const std::string& from, const std::string& to) {
  for (const std::string& name : {from, to}) {
    if (url_scheme(name).empty()) continue;
    throw refused("only files are copied row by row", without_password(name),
                  "pg_dump copies a server's database; 'halmark verify' names what does not hold");
  }
}

Salvage salvage_database(const std::string& from, const std::string& to) {
  require_files(from, to);
  require_no_database(to);
  const std::string temporary = to + ".new";
  try {
    Salvage out = copied(from, temporary);
    if (out.copy.runs.empty() && !out.copy.left_out.empty()) {
      throw refused("no run of this database can be read", from, "restore a backup");
    }
    name_database(temporary, to);
    return out;
  } catch (...) {
    discard_database(temporary);
    throw;
  }
}

}  // namespace halmark
