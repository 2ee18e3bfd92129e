// Store on SQLite: WAL, FULL, one writing connection, every row with a checksum and a chain.

#include "core/input/places.hpp"
#include "core/text/url.hpp"
#include "journal/file/empty_log.hpp"
#include "journal/file/open_file.hpp"
#include "journal/shared_store.hpp"
#include "journal/sqlite/file_session.hpp"
#include "journal/sqlite/sqlite_rows.hpp"
#include "journal/sqlite/sqlite_writer.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark {
namespace {

using namespace journal;

// The lock file lies beside the database, so what is refused is refused before it.
std::unique_ptr<WriterLock> writer_role(const std::string& path) {
  judge_file(path);
  require_writable(path, "--db");
  return std::make_unique<WriterLock>(path);
}

struct OpenedFile {
  OpenedFile(const std::string& name, Access access)
      : path(name),
        lock(access == Access::read_write ? writer_role(name) : nullptr),
        log(access == Access::read_write ? "" : name),
        db(open_file(name, access)) {}
  std::string path;
  std::unique_ptr<WriterLock> lock;
  EmptyLog log;  // goes after the connection
  SQLite::Database db;
  FileSession session{db, path};
};

// The file is a base, so that it outlives what refers to it.
class SqliteStore : private OpenedFile, public Store {
 public:
  SqliteStore(const std::string& name, Access access)
      : OpenedFile(name, access), Store(std::make_unique<SqliteRows>(session)) {}

  std::int64_t begin_run(const RunInfo& run) override {
    require_sound_runs();
    return writer_.begin_run(run);
  }

  RunSamples retire_samples(std::int64_t run, const std::string& policy) override {
    require_sound_samples(run);
    return writer_.retire_samples(run, policy);
  }

  void shrink() override { writer_.shrink(); }

 protected:
  void write(std::int64_t run, const std::vector<Entry>& entries) override {
    writer_.append(run, entries);
  }

 private:
  SqliteWriter writer_{db, session, lock != nullptr};
};

}  // namespace

std::unique_ptr<Store> open_store(const std::string& path) {
  if (is_postgresql_url(path)) return open_shared_store(path, this_node());
  return std::make_unique<SqliteStore>(path, Access::read_write);
}

std::unique_ptr<Store> open_store_read_only(const std::string& path) {
  if (is_postgresql_url(path)) return open_shared_store_read_only(path);
  return std::make_unique<SqliteStore>(path, Access::read_only);
}

}  // namespace halmark
