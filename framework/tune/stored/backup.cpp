#include "tune/stored/backup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "journal/copy_database.hpp"
#include "journal/salvage.hpp"
#include "report/text/quantity.hpp"
#include "study/storage/sqlite_copy.hpp"

namespace halmark::tune {
namespace {

namespace fs = std::filesystem;

// In the order of time, so that the latest is the last by name.
std::string utc_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// ".2026-11-27T10:20:30Z", with "-2" and so on behind it where a second has several.
bool is_stamp(std::string_view text) {
  constexpr std::string_view pattern = ".dddd-dd-ddTdd:dd:ddZ";
  if (text.size() < pattern.size()) return false;
  for (const auto i : indices(pattern)) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == 'd' ? !is_digit : text[i] != pattern[i]) return false;
  }
  return text.size() == pattern.size() || text[pattern.size()] == '-';
}

std::vector<fs::path> backups_of(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> out;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(name) && is_stamp(std::string_view(file).substr(name.size()))) {
      out.push_back(entry.path());
    }
  }
  std::ranges::sort(out);
  return out;
}

std::string free_name(const fs::path& folder, const std::string& name, const std::string& stamp) {
  std::error_code absent;
  std::string out = (folder / (name + '.' + stamp)).string();
  for (int i = 2; fs::exists(fs::symlink_status(out, absent)); ++i) {
    out = (folder / (name + '.' + stamp + '-' + std::to_string(i))).string();
  }
  return out;
}

// Nothing has the name of a backup that was not verified.
void copy_verified(const std::string& from, const std::string& to, const Verifier& verify) {
  const std::string part = to + ".part";
  discard_database(part);
  try {
    copy_results_database(from, part);
    verify(part);
    name_database(part, to);
    discard_database(part);  // what a reader of the copy left beside it
  } catch (...) {
    discard_database(part);
    throw;
  }
}

}  // namespace

Backup back_up(const std::string& database, const std::string& folder, const Verifier& verify,
               std::size_t kept) {
  if (database.find("://") != database.npos) {
    throw refused("a database of a server is no file to copy", {}, "pg_dump copies it");
  }
  const fs::path path = fs::absolute(database);
  const std::string name = path.filename().string();
  if (std::error_code code; !fs::is_regular_file(path, code)) {
    throw refused("there is no results database", database, "name one with --db");
  }
  const fs::path to = folder.empty() ? path.parent_path() / "backups" : fs::path(folder);
  std::error_code code;
  require_writable(to / name, "--to");
  const std::string stamp = utc_stamp();
  Backup out;
  out.files.push_back({.from = database, .to = free_name(to, name, stamp)});
  copy_verified(database, out.files.front().to, verify);
  const std::string studies = database + ".study";
  if (fs::is_regular_file(studies, code)) {
    out.files.push_back({.from = studies, .to = free_name(to, name + ".study", stamp)});
    copy_study_file(studies, out.files.back().to);
  }
  for (BackedUp& file : out.files) {
    file.bytes = fs::file_size(file.to, code);
    std::vector<fs::path> all = backups_of(to, fs::path(file.from).filename().string());
    const std::size_t beyond = all.size() > kept ? all.size() - kept : 0;
    for (const auto i : indices(beyond)) {
      if (fs::remove(all[i], code)) out.removed.push_back(all[i].string());
    }
  }
  return out;
}

std::string nightly_backup(const std::string& database, const Verifier& verify) {
  std::error_code absent;
  if (!fs::exists(database, absent)) return {};
  try {
    return "backup: " + back_up(database, {}, verify).files.front().to + '\n';
  } catch (const Error& e) {
    return "halmark: no backup before this night: " + e.line() + '\n';
  }
}

report::View backup_view(const Backup& backup) {
  report::View out{.data = {{"files", Json::array()}, {"removed", backup.removed}}};
  for (const BackedUp& file : backup.files) {
    out.data["files"].push_back({{"from", file.from}, {"to", file.to}, {"bytes", file.bytes}});
    out.text += fmt::format("{}: {}, verified\n", file.to, report::bytes_text(file.bytes));
  }
  for (const std::string& path : backup.removed) out.text += "removed: " + path + '\n';
  return out;
}

}  // namespace halmark::tune
