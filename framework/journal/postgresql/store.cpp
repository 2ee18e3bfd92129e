// Store on a PostgreSQL server.

#include "core/lists.hpp"
#include "core/text/url.hpp"
#include "journal/postgresql/rows.hpp"
#include "journal/postgresql/tables.hpp"
#include "journal/postgresql/writer.hpp"
#include "journal/shared_store.hpp"

namespace halmark {
namespace {

using namespace journal;

struct OpenedServer {
  explicit OpenedServer(const std::string& url)
      : connection(libpq_url(url), {.store = "the results database",
                                    .rows = "the last rows",
                                    .instead = "name a file with --db"}) {}
  postgresql::Session connection;
};

// The connection is a base, so that it outlives what refers to it.
class PostgresqlStore : private OpenedServer, public SharedStore {
 public:
  PostgresqlStore(const std::string& url, const std::string& node)
      : OpenedServer(url),
        SharedStore(std::make_unique<PostgresqlRows>(connection)),
        writer_(connection, node) {
    prepare_tables(connection);
  }

  std::int64_t begin_run(const RunInfo& run) override {
    require_sound_runs();
    return writer_.begin_run(run);
  }
  std::int64_t find_or_begin_run(const RunInfo& run) override {
    require_sound_runs();
    return writer_.find_or_begin_run(run);
  }
  void append_with(std::int64_t run, std::span<const Measurement> rows,
                   const std::function<void(postgresql::Session&)>& also) override {
    std::vector<Entry> entries =
        mapped(rows, [&](const Measurement& row) { return entry_of(row); });
    writer_.append(run, entries, also);
  }
  postgresql::Session& session() override { return connection; }

  RunSamples retire_samples(std::int64_t run, const std::string& policy) override {
    require_sound_samples(run);
    return writer_.retire_samples(run, policy);
  }

  // The server gives what is free to later rows by itself.
  void shrink() override {}

 protected:
  void write(std::int64_t run, const std::vector<Entry>& entries) override {
    writer_.append(run, entries);
  }

 private:
  PostgresqlWriter writer_;
};

class PostgresqlReader : private OpenedServer, public Store {
 public:
  explicit PostgresqlReader(const std::string& url)
      : OpenedServer(url), Store(std::make_unique<PostgresqlRows>(connection)) {
    connection.read([&] { require_tables(connection); });
  }

  std::int64_t begin_run(const RunInfo&) override { throw only_reads(); }
  RunSamples retire_samples(std::int64_t, const std::string&) override { throw only_reads(); }
  void shrink() override { throw only_reads(); }

 protected:
  void write(std::int64_t, const std::vector<Entry>&) override { throw only_reads(); }

 private:
  Error only_reads() const {
    return {ExitCode::error, "a row could not be stored: the database was opened for reading",
            connection.location()};
  }
};

}  // namespace

std::unique_ptr<SharedStore> open_shared_store(const std::string& url, const std::string& node) {
  return std::make_unique<PostgresqlStore>(url, node);
}

std::unique_ptr<Store> open_shared_store_read_only(const std::string& url) {
  return std::make_unique<PostgresqlReader>(url);
}

}  // namespace halmark
