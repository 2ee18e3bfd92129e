#include "journal/file/new_file.hpp"

#include <SQLiteCpp/Backup.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/text/error.hpp"

namespace halmark::journal {
namespace {

namespace fs = std::filesystem;

Error name_is_taken(const std::string& name) {
  return refused("this file exists, and is not overwritten", name, "name another one");
}

}  // namespace

void require_absent(const std::string& name) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(name, code))) throw name_is_taken(name);
}

void remove_database(const std::string& path) {
  std::error_code code;
  for (const char* rest : {"", "-journal", "-wal", "-shm"}) fs::remove(path + rest, code);
}

void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

void publish(const std::string& temporary, const std::string& name) {
  int failed = renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) {  // not every filesystem knows it
    require_absent(name);
    failed = rename(temporary.c_str(), name.c_str());
  }
  if (failed != 0) {
    if (errno == EEXIST) throw name_is_taken(name);
    throw Error(ExitCode::error, std::string("the file cannot be made: ") + std::strerror(errno),
                name);
  }
  sync_folder_of(name);
}

void copy_database(SQLite::Database& from, const std::string& to) {
  require_absent(to);
  const std::string temporary = to + ".new";
  remove_database(temporary);
  try {
    {
      SQLite::Database target(temporary, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      SQLite::Backup(target, from).executeStep(-1);
    }
    publish(temporary, to);
  } catch (...) {
    remove_database(temporary);
    throw;
  }
}

}  // namespace halmark::journal
