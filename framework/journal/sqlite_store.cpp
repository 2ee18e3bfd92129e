// Store on SQLite: WAL, FULL, one writing connection, every row with a checksum and a chain.
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <filesystem>

#include "core/json/duet_json.hpp"
#include "core/json/json.hpp"
#include "core/json/winner_json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/empty_log.hpp"
#include "journal/file/open_file.hpp"
#include "journal/row_codec.hpp"
#include "journal/row_figures.hpp"
#include "journal/run_chains.hpp"
#include "journal/samples/stored_samples.hpp"
#include "journal/sqlite_writer.hpp"
#include "journal/stored_row.hpp"
#include "journal/writer_lock.hpp"

namespace halmark {
namespace {

using namespace journal;

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
        log_(access == Access::read_write ? "" : path),
        db_(open_file(path, access)) {}

  std::int64_t begin_run(const RunInfo& run) override {
    reading([&] { chains_.check_runs(); });
    require_sound();
    return writer_.begin_run(run);
  }

  void append(std::int64_t run, const Measurement& m) override { write(run, {entry_of(m)}); }
  void append(std::int64_t run, const Evaluation& e) override { write(run, {entry_of(e)}); }
  void append(std::int64_t run, const Validation& v) override { write(run, {entry_of(v)}); }
  void append(std::int64_t run, const Winner& w) override { write(run, {entry_of(w)}); }
  void append(std::int64_t run, const Duet& d) override { write(run, {entry_of(d)}); }
  void append(std::int64_t run, const UsedPeaks& p) override { write(run, {entry_of(p)}); }
  void append(std::int64_t run, const RunMachine& m) override { write(run, {entry_of(m)}); }

  void append(std::int64_t run, std::span<const Measurement> measurements) override {
    std::vector<Entry> entries;
    for (const Measurement& m : measurements) entries.push_back(entry_of(m));
    write(run, entries);
  }

  std::vector<Measurement> measurements(std::string_view case_key,
                                        std::string_view fingerprint) const override {
    return reading([&] {
      SQLite::Statement query(
          db_, select(columns_with_block(schema_version_of(db_)),
                      "kind = 'measurement' AND key = ? AND run IN (SELECT id FROM run WHERE "
                      "fingerprint = ?)"));
      query.bind(1, std::string(case_key));
      query.bind(2, std::string(fingerprint));
      return read<Measurement>(query, measurement_from).values;
    });
  }

  std::vector<Measurement> run_measurements(std::int64_t run) const override {
    return of_run<Measurement>(run, "measurement", measurement_from);
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

  std::vector<Duet> duets(std::int64_t run) const override {
    return of_run<Duet>(run, "duet",
                        [](const Json& body, std::string_view) { return body.get<Duet>(); });
  }

  std::vector<UsedPeaks> used_peaks(std::int64_t run) const override {
    return of_run<UsedPeaks>(run, "peaks", [](const Json& body, std::string_view) {
      return UsedPeaks{.device_text = body.at("device_text").get<std::string>(),
                       .threads = body.at("threads").get<int>(),
                       .devices = body.value("devices", std::vector<std::string>{})};
    });
  }

  std::optional<RunMachine> machine(std::int64_t run) const override {
    std::vector<RunMachine> known =
        of_run<RunMachine>(run, "machine", [](const Json& body, std::string_view) {
          return RunMachine{.lines = body.at("lines").get<std::vector<std::string>>(),
                            .build = body.value("build", std::string()),
                            .ends_night = body.value("ends_night", false)};
        });
    return known.empty() ? std::nullopt : std::optional(std::move(known.back()));
  }

  std::vector<std::int64_t> runs_with_winners(std::string_view fingerprint) const override {
    return reading([&] {
      chains_.check_runs();
      SQLite::Statement query(db_,
                              "SELECT DISTINCT run FROM entry JOIN run ON run.id = entry.run WHERE "
                              "kind = 'winner' AND fingerprint = ? ORDER BY run");
      query.bind(1, std::string(fingerprint));
      std::vector<std::int64_t> out;
      while (query.executeStep()) out.push_back(query.getColumn(0).getInt64());
      return out;
    });
  }

  std::optional<std::int64_t> find_run(std::string_view plan_hash,
                                       std::string_view fingerprint) const override {
    return first_id("SELECT max(id) FROM run WHERE plan_hash = ? AND fingerprint = ?",
                    {std::string(plan_hash), std::string(fingerprint)});
  }

  std::optional<std::int64_t> latest_run() const override {
    return first_id("SELECT max(id) FROM run");
  }

  std::optional<std::int64_t> latest_sweep() const override {
    return first_id("SELECT max(id) FROM run WHERE plan_text != ''");
  }

  RunInfo run_info(std::int64_t run) const override {
    return reading([&] {
      chains_.check_runs();
      chains_.check_run(run);
      SQLite::Statement query(db_, std::string("SELECT ") + run_columns + " FROM run WHERE id = ?");
      query.bind(1, run);
      if (!query.executeStep()) throw refused("there is no run " + std::to_string(run), path_);
      return run_info_of(query, 0);
    });
  }

  std::vector<std::int64_t> latest_runs(std::size_t count,
                                        std::string_view fingerprint) const override {
    return reading([&] {
      chains_.check_runs();
      SQLite::Statement query(db_,
                              "SELECT id FROM run WHERE ?1 = '' OR fingerprint = ?1 ORDER BY id "
                              "DESC LIMIT ?2");
      query.bind(1, std::string(fingerprint));
      query.bind(2, static_cast<std::int64_t>(count));
      std::vector<std::int64_t> out;
      while (query.executeStep()) out.push_back(query.getColumn(0).getInt64());
      std::ranges::reverse(out);
      return out;
    });
  }

  std::vector<RowFigures> run_figures(std::int64_t run) const override {
    return reading([&] {
      SQLite::Statement query(db_, select(entry_columns, "run = ? AND kind = 'measurement'"));
      query.bind(1, run);
      return figures(query);
    });
  }

  std::vector<RowFigures> case_figures(std::string_view case_key,
                                       std::size_t count) const override {
    return reading([&] {
      SQLite::Statement query(
          db_, select(entry_columns, "kind = 'measurement' AND key = ?") + " DESC LIMIT ?");
      query.bind(1, std::string(case_key));
      query.bind(2, static_cast<std::int64_t>(count));
      std::vector<RowFigures> out = figures(query);
      std::ranges::reverse(out);
      return out;
    });
  }

  // One step through the index per key, however many rows a key has.
  std::vector<std::string> measured_cases(std::string_view prefix) const override {
    return reading([&] {
      SQLite::Statement query(db_,
                              "SELECT min(key) FROM entry WHERE kind = 'measurement' AND key > ?");
      std::vector<std::string> out;
      for (std::string last(prefix);;) {
        query.reset();
        query.bind(1, last);
        if (!query.executeStep() || query.getColumn(0).isNull()) break;
        last = query.getColumn(0).getString();
        if (!last.starts_with(prefix)) break;
        out.push_back(last);
      }
      return out;
    });
  }

  std::vector<RunSamples> samples_by_run() const override {
    return reading([&] { return stored_samples(db_); });
  }

  RunSamples retire_samples(std::int64_t run, const std::string& policy) override {
    reading([&] {
      SQLite::Transaction one_state(db_);
      chains_.follow(run);
      check_blocks(run);
      one_state.commit();
    });
    require_sound();
    return writer_.retire_samples(run, policy);
  }

  DatabaseSize size() const override {
    return reading([&] { return database_size(db_); });
  }

  void shrink() override { writer_.shrink(); }

  std::string chain_head(std::int64_t run) const override {
    return reading([&] {
      SQLite::Statement query(db_, "SELECT chain FROM run WHERE id = ?");
      query.bind(1, run);
      return query.executeStep() ? query.getColumn(0).getString() : std::string();
    });
  }

  std::vector<std::string> damaged() const override { return faults_.lines(); }

  void require_sound() const override {
    if (faults_.lines().empty()) return;
    const std::size_t more = faults_.lines().size() - 1;
    throw damaged_file(
        faults_.lines().front() + (more == 0 ? "" : "; and " + std::to_string(more) + " more"),
        path_);
  }

 private:
  // Damage that SQLite meets is named and refused, whatever was asked.
  template <class Body>
  auto reading(Body body) const -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& e) {
      throw storage_error(&db_, e, "the rows cannot be read", path_);
    }
  }

  void write(std::int64_t run, const std::vector<Entry>& entries) { writer_.append(run, entries); }

  static std::string select(const std::string& columns, const std::string& condition) {
    return "SELECT " + columns + " FROM entry WHERE " + condition + " ORDER BY id";
  }

  // What each row names against what lies beside it.
  void check_blocks(std::int64_t run) const {
    SQLite::Statement query(db_, select(columns_with_block(schema_version_of(db_)),
                                        "run = ? AND kind = 'measurement'"));
    query.bind(1, run);
    each_whole_row(query, [&](const StoredRow& row) { samples_of(Json::parse(row.body), row); });
  }

  template <class Value>
  struct Rows {
    std::vector<Value> values;
    std::int64_t whole = 0;  // rows with their checksum
  };

  std::vector<RowFigures> figures(SQLite::Statement& query) const {
    std::vector<RowFigures> out;
    each_whole_row(query, [&](const StoredRow& row) {
      out.push_back({row.run, row.key, figures_from(row.body)});
    });
    return out;
  }

  // Rows whose checksum or content does not hold are left out and named.
  template <class Use>
  std::int64_t each_whole_row(SQLite::Statement& query, Use use) const {
    std::int64_t whole = 0;
    while (query.executeStep()) {
      const StoredRow row = row_of(query);
      const std::string name = "entry " + std::to_string(row.id);
      if (static_cast<std::int64_t>(xxh3_of(row.bytes())) != row.checksum) {
        faults_.add(name + ": checksum does not match");
        continue;
      }
      ++whole;
      try {
        use(row);
      } catch (const std::exception& e) {
        faults_.add(name + ": " + e.what());
      }
    }
    return whole;
  }

  template <class Value, class Decode>
  Rows<Value> read(SQLite::Statement& query, Decode decode) const {
    Rows<Value> out;
    out.whole = each_whole_row(query, [&](const StoredRow& row) {
      const Json body = Json::parse(row.body);
      out.values.push_back(decode(body, samples_of(body, row)));
    });
    return out;
  }

  // Empty where there were none, and where they are retired.
  std::string_view samples_of(const Json& body, const StoredRow& row) const {
    if (row.kind != "measurement") return {};
    const SampleBytes samples = sample_bytes(body, row.samples, row.block);
    const std::string fault = fault_of(samples.state);
    const bool is_retired = samples.state == SampleBytes::State::missing && chains_.is_retired(row);
    if (!fault.empty() && !is_retired) throw std::invalid_argument(fault);
    return samples.bytes;
  }

  template <class Value, class Decode>
  std::vector<Value> of_run(std::int64_t run, const char* kind, Decode decode) const {
    return reading([&] {
      SQLite::Transaction one_state(db_);
      chains_.follow(run);
      SQLite::Statement query(
          db_, select(columns_with_block(schema_version_of(db_)), "run = ? AND kind = ?"));
      query.bind(1, run);
      query.bind(2, kind);
      Rows<Value> out = read<Value>(query, decode);
      if (out.whole != chains_.rows_of(run, kind)) {
        faults_.add("run " + std::to_string(run) + ": an index does not find every " + kind);
      }
      query.reset();
      one_state.commit();
      return std::move(out.values);
    });
  }

  std::optional<std::int64_t> first_id(const char* sql,
                                       const std::vector<std::string>& values = {}) const {
    return reading([&]() -> std::optional<std::int64_t> {
      chains_.check_runs();
      SQLite::Statement query(db_, sql);
      for (std::size_t i = 0; i < values.size(); ++i) {
        query.bind(static_cast<int>(i) + 1, values[i]);
      }
      if (!query.executeStep() || query.getColumn(0).isNull()) return std::nullopt;
      const std::int64_t found = query.getColumn(0).getInt64();
      chains_.check_run(found);
      return found;
    });
  }

  std::string path_;
  std::unique_ptr<WriterLock> lock_;
  EmptyLog log_;  // goes after the connection
  mutable SQLite::Database db_;
  mutable Faults faults_;
  mutable RunChains chains_{db_, faults_};
  SqliteWriter writer_{db_, path_, lock_ != nullptr};
};

}  // namespace

std::unique_ptr<Store> open_store(const std::string& path) {
  return std::make_unique<SqliteStore>(path, journal::Access::read_write);
}

std::unique_ptr<Store> open_store_read_only(const std::string& path) {
  return std::make_unique<SqliteStore>(path, journal::Access::read_only);
}

}  // namespace halmark
