// Store on SQLite: WAL, FULL, one writing connection, every row with a checksum and a chain.
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>

#include "core/json/winner_json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/open_file.hpp"
#include "journal/row_codec.hpp"
#include "journal/schema.hpp"
#include "journal/store.hpp"
#include "journal/writer_lock.hpp"

namespace halmark {
namespace {

using namespace journal;

std::string run_chain_start(const RunInfo& run) {
  Encoder encoder;
  encoder.text(run.command).text(run.plan_hash).text(run.plan_text).text(run.fingerprint);
  encoder.text(run.tool_version).text(run.tool_build).text(run.started_utc);
  return sha256_of(encoder.bytes());
}

struct Entry {
  std::string_view kind;
  std::string key, body, samples;
  bool has_samples = false;
};

Entry entry_of(const Measurement& m) {
  return {"measurement", m.kernel_case.key(), dump_json(Json(m)), pack_samples(m), true};
}

Entry entry_of(const Evaluation& e) {
  return {"evaluation", e.configuration.key(), dump_json(Json(e)), {}, false};
}

Entry entry_of(const Validation& v) {
  return {"validation", v.deployment_key, dump_json(validation_json(v)), {}, false};
}

Entry entry_of(const Winner& w) {
  return {"winner", winner_key(w.question), dump_json(Json(w)), {}, false};
}

Entry entry_of(const UsedPeaks& p) {
  return {
      "peaks", "", dump_json({{"device_text", p.device_text}, {"threads", p.threads}}), {}, false};
}

Entry entry_of(const RunMachine& m) {
  return {"machine", "", dump_json({{"lines", m.lines}}), {}, false};
}

// The lock file lies beside the database, so what is refused is refused before it.
std::unique_ptr<WriterLock> writer_role(const std::string& path) {
  judge_file(path);
  std::error_code ignored;  // the lock file says what is wrong with the folder
  std::filesystem::create_directories(std::filesystem::absolute(path).parent_path(), ignored);
  return std::make_unique<WriterLock>(path);
}

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, Access access)
      : path_(path),
        lock_(access == Access::read_write ? writer_role(path) : nullptr),
        db_(open_file(path, access)) {}

  std::int64_t begin_run(const RunInfo& run) override {
    return guarded([&] {
      SQLite::Statement insert(
          db_,
          "INSERT INTO run(command, plan_hash, plan_text, fingerprint, tool_version, "
          "tool_build, started_utc, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
      int i = 0;
      for (const std::string* text :
           {&run.command, &run.plan_hash, &run.plan_text, &run.fingerprint, &run.tool_version,
            &run.tool_build, &run.started_utc}) {
        insert.bind(++i, *text);
      }
      insert.bind(++i, run_chain_start(run));
      insert.exec();
      return static_cast<std::int64_t>(db_.getLastInsertRowid());
    });
  }

  void append(std::int64_t run, const Measurement& m) override { write(run, {entry_of(m)}); }
  void append(std::int64_t run, const Evaluation& e) override { write(run, {entry_of(e)}); }
  void append(std::int64_t run, const Validation& v) override { write(run, {entry_of(v)}); }
  void append(std::int64_t run, const Winner& w) override { write(run, {entry_of(w)}); }
  void append(std::int64_t run, const UsedPeaks& p) override { write(run, {entry_of(p)}); }
  void append(std::int64_t run, const RunMachine& m) override { write(run, {entry_of(m)}); }

  void append(std::int64_t run, std::span<const Measurement> measurements) override {
    std::vector<Entry> entries;
    for (const Measurement& m : measurements) entries.push_back(entry_of(m));
    write(run, entries);
  }

  std::vector<Measurement> measurements(std::string_view case_key,
                                        std::string_view fingerprint) const override {
    SQLite::Statement query(db_, select("kind = 'measurement' AND key = ? AND run IN (SELECT id "
                                        "FROM run WHERE fingerprint = ?)"));
    query.bind(1, std::string(case_key));
    query.bind(2, std::string(fingerprint));
    return read<Measurement>(query, &SqliteStore::measurement_from);
  }

  std::vector<Measurement> run_measurements(std::int64_t run) const override {
    return of_run<Measurement>(run, "measurement", &SqliteStore::measurement_from);
  }

  std::vector<Evaluation> evaluations(std::int64_t run) const override {
    return of_run<Evaluation>(run, "evaluation", [](const Json& body, std::string_view) {
      return body.get<Evaluation>();
    });
  }

  std::vector<Validation> validations(std::int64_t run) const override {
    return of_run<Validation>(run, "validation", [](const Json& body, std::string_view) {
      return validation_from(body);
    });
  }

  std::vector<Winner> winners(std::int64_t run) const override {
    return of_run<Winner>(run, "winner",
                          [](const Json& body, std::string_view) { return body.get<Winner>(); });
  }

  std::vector<UsedPeaks> used_peaks(std::int64_t run) const override {
    return of_run<UsedPeaks>(run, "peaks", [](const Json& body, std::string_view) {
      return UsedPeaks{.device_text = body.at("device_text").get<std::string>(),
                       .threads = body.at("threads").get<int>()};
    });
  }

  std::optional<RunMachine> machine(std::int64_t run) const override {
    std::vector<RunMachine> known =
        of_run<RunMachine>(run, "machine", [](const Json& body, std::string_view) {
          return RunMachine{body.at("lines").get<std::vector<std::string>>()};
        });
    return known.empty() ? std::nullopt : std::optional(std::move(known.back()));
  }

  std::vector<std::int64_t> runs_with_winners(std::string_view fingerprint) const override {
    SQLite::Statement query(db_,
                            "SELECT DISTINCT run FROM entry JOIN run ON run.id = entry.run WHERE "
                            "kind = 'winner' AND fingerprint = ? ORDER BY run");
    query.bind(1, std::string(fingerprint));
    std::vector<std::int64_t> out;
    while (step(query)) out.push_back(query.getColumn(0).getInt64());
    return out;
  }

  std::optional<std::int64_t> find_run(std::string_view plan_hash,
                                       std::string_view fingerprint) const override {
    SQLite::Statement query(db_, "SELECT max(id) FROM run WHERE plan_hash = ? AND fingerprint = ?");
    query.bind(1, std::string(plan_hash));
    query.bind(2, std::string(fingerprint));
    return first_id(query);
  }

  std::optional<std::int64_t> latest_run() const override {
    SQLite::Statement query(db_, "SELECT max(id) FROM run");
    return first_id(query);
  }

  std::optional<std::int64_t> latest_sweep() const override {
    SQLite::Statement query(db_, "SELECT max(id) FROM run WHERE plan_text != ''");
    return first_id(query);
  }

  RunInfo run_info(std::int64_t run) const override {
    SQLite::Statement query(db_,
                            "SELECT command, plan_hash, plan_text, fingerprint, tool_version, "
                            "tool_build, started_utc FROM run WHERE id = ?");
    query.bind(1, run);
    if (!query.executeStep()) {
      throw refused("there is no run " + std::to_string(run), path_);
    }
    const auto text = [&](int i) { return query.getColumn(i).getString(); };
    return {text(0), text(1), text(2), text(3), text(4), text(5), text(6)};
  }

  std::string chain_head(std::int64_t run) const override {
    SQLite::Statement query(db_, "SELECT chain FROM run WHERE id = ?");
    query.bind(1, run);
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
  }

  std::vector<std::string> damaged() const override { return damaged_; }

 private:
  template <class Body>
  auto guarded(Body body) -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& e) {
      throw Error(ExitCode::error, std::string("a row could not be stored: ") + e.what(), path_,
                  "free space there and start again: what was stored before is complete");
    }
  }

  void write(std::int64_t run, const std::vector<Entry>& entries) {
    guarded([&] {
      SQLite::Transaction transaction(db_, SQLite::TransactionBehavior::IMMEDIATE);
      std::string chain = chain_head(run);
      SQLite::Statement insert(db_,
                               "INSERT INTO entry(run, kind, key, body, samples, checksum, "
                               "chain) VALUES (?, ?, ?, ?, ?, ?, ?)");
      for (const Entry& e : entries) {
        const std::string bytes = encode({run, e.kind, e.key, e.body, e.samples, e.has_samples});
        chain = sha256_of(chain + bytes);
        insert.reset();
        insert.clearBindings();
        insert.bind(1, run);
        insert.bind(2, std::string(e.kind));
        insert.bind(3, e.key);
        insert.bind(4, e.body);
        if (e.has_samples) {
          insert.bind(5, e.samples.data(), static_cast<int>(e.samples.size()));
        }
        insert.bind(6, static_cast<std::int64_t>(xxh3_of(bytes)));
        insert.bind(7, chain);
        insert.exec();
      }
      SQLite::Statement update(db_, "UPDATE run SET chain = ? WHERE id = ?");
      update.bind(1, chain);
      update.bind(2, run);
      update.exec();
      transaction.commit();
    });
  }

  static std::string select(const std::string& condition) {
    return "SELECT id, run, kind, key, body, samples, checksum FROM entry WHERE " + condition +
           " ORDER BY id";
  }

  // Rows whose checksum or content does not hold are left out and named.
  template <class Value, class Decode>
  std::vector<Value> read(SQLite::Statement& query, Decode decode) const {
    std::vector<Value> out;
    while (step(query)) {
      const std::int64_t id = query.getColumn(0).getInt64();
      const SQLite::Column blob = query.getColumn(5);
      const std::string samples(static_cast<const char*>(blob.getBlob()),
                                static_cast<std::size_t>(blob.getBytes()));
      const std::string kind = query.getColumn(2).getString(), key = query.getColumn(3).getString(),
                        body = query.getColumn(4).getString();
      const std::string bytes =
          encode({query.getColumn(1).getInt64(), kind, key, body, samples, !blob.isNull()});
      if (static_cast<std::int64_t>(xxh3_of(bytes)) != query.getColumn(6).getInt64()) {
        damaged_.push_back("entry " + std::to_string(id) + ": checksum does not match");
        continue;
      }
      try {
        out.push_back(decode(Json::parse(body), samples));
      } catch (const std::exception& e) {
        damaged_.push_back("entry " + std::to_string(id) + ": " + e.what());
      }
    }
    return out;
  }

  bool step(SQLite::Statement& query) const {
    try {
      return query.executeStep();
    } catch (const SQLite::Exception& e) {
      throw Error(ExitCode::error, std::string("the rows cannot be read: ") + e.what(), path_,
                  "halmark verify says what is damaged");
    }
  }

  template <class Value, class Decode>
  std::vector<Value> of_run(std::int64_t run, const char* kind, Decode decode) const {
    SQLite::Statement query(db_, select("run = ? AND kind = ?"));
    query.bind(1, run);
    query.bind(2, kind);
    return read<Value>(query, decode);
  }

  static Measurement measurement_from(const Json& body, std::string_view samples) {
    Measurement m = body.get<Measurement>();
    unpack_samples(samples, m);
    return m;
  }

  static std::optional<std::int64_t> first_id(SQLite::Statement& query) {
    if (!query.executeStep() || query.getColumn(0).isNull()) return std::nullopt;
    return query.getColumn(0).getInt64();
  }

  std::string path_;
  std::unique_ptr<WriterLock> lock_;
  SQLite::Database db_;
  mutable std::vector<std::string> damaged_;
};

}  // namespace

std::unique_ptr<Store> open_store(const std::string& path) {
  return std::make_unique<SqliteStore>(path, journal::Access::read_write);
}

std::unique_ptr<Store> open_store_read_only(const std::string& path) {
  return std::make_unique<SqliteStore>(path, journal::Access::read_only);
}

}  // namespace halmark
