// Copies of a results database and of the studies beside it, each verified before it has its name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/views/view.hpp"

namespace halmark::tune {

inline constexpr std::size_t backups_kept = 7;

struct BackedUp {
  std::string from, to;
  std::uintmax_t bytes = 0;
};

struct Backup {
  std::vector<BackedUp> files;       // the database, then its studies where there are any
  std::vector<std::string> removed;  // older backups of the same files, beyond those that are kept
};

// Throws Error where a database does not verify.
using Verifier = std::function<void(const std::string& path)>;

// Into `folder` ("" = "backups" beside the database), which is made: FILE.2026-11-27T10:20:30Z, of
// which the latest `kept` stay. `verify` is of the copy of the database; a copy of studies is read
// whole. Throws Error: exit 2 where there is no database or a copy does not verify; nothing is
// removed then.
Backup back_up(const std::string& database, const std::string& folder, const Verifier& verify,
               std::size_t kept = backups_kept);
// Before a night: nothing where there is no database yet. A backup that fails ends no night: the
// text, of at most one line, says what happened.
std::string nightly_backup(const std::string& database, const Verifier& verify);
report::View backup_view(const Backup& backup);

}  // namespace halmark::tune
