#include "journal/postgresql/writer.hpp"

#include <chrono>
#include <utility>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/postgresql/rows.hpp"
#include "journal/rows/row_sql.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark::journal {
namespace {

// Transactions that are begun for one append while the server comes and goes.
constexpr int attempts_max = 5;
using Clock = std::chrono::steady_clock;

Error changed_writer(std::int64_t writer, const std::string& location) {
  return refused("this database is damaged: another program changed writer " +
                     std::to_string(writer) + ", which is this process",
                 location, "'halmark verify --db URL' names what does not hold");
}

// The chain behind `entries`, whose first row follows `chain`.
std::string chain_behind(std::int64_t run, std::string chain, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) chain = sha256_of(chain + bytes_of(run, entry));
  return chain;
}

}  // namespace

std::int64_t PostgresqlWriter::insert(const RunInfo& run) {
  return session_.insert(insert_run(session_.dialect()), values_of(run, chain_start(run))).at(0);
}

std::int64_t PostgresqlWriter::begin_run(const RunInfo& run) {
  std::int64_t out = 0;
  session_.write([&] { out = insert(run); });
  return out;
}

std::int64_t PostgresqlWriter::find_or_begin_run(const RunInfo& run) {
  std::int64_t out = 0;
  session_.write([&] {
    session_.exec(postgresql::lock_turn, as_int(postgresql::Turn::runs));
    const auto found =
        session_.exec("SELECT max(id) FROM halmark.run WHERE plan_hash = $1 AND fingerprint = $2",
                      run.plan_hash, run.fingerprint);
    out = found[0][0].is_null() ? insert(run) : found[0][0].integer();
  });
  return out;
}

// The first row of this process in a run makes it one of the run's writers. Others that begin wait
// for the end of the list; rows of those that began before do not (their foreign keys lock less).
PostgresqlWriter::Place& PostgresqlWriter::place_in(std::int64_t run) {
  auto* known = find_value(places_, run);
  if (known) return *known;
  Place place;
  session_.write([&] {
    const auto found =
        session_.exec("SELECT chain FROM halmark.run WHERE id = $1 FOR NO KEY UPDATE", run);
    if (found.empty()) {
      throw Error(ExitCode::error, "there is no run " + std::to_string(run) + " to add rows to",
                  session_.location());
    }
    const WriterRow writer{.node = node_, .started_utc = utc_now()};
    place.chain = writer_start(found[0][0].text(), writer);
    place.writer = session_
                       .exec(
                           "INSERT INTO halmark.writer(run, node, started_utc, start_chain, chain) "
                           "VALUES ($1, $2, $3, $4, $4) RETURNING id",
                           run, writer.node, writer.started_utc, place.chain)[0][0]
                       .integer();
    session_.exec("UPDATE halmark.run SET chain = $1 WHERE id = $2", place.chain, run);
  });
  return places_.emplace(run, std::move(place)).first->second;
}

// Of a lost server nobody hears whether the transaction was committed. The row of this writer says
// so: it was locked in that transaction, so whoever has the lock now sees how it ended. An append
// that failed and is tried again by its caller is met in the same way: it is stored once.
bool PostgresqlWriter::commit(Place& place, const std::string& chain_after,
                              const std::function<void()>& body) {
  const auto deadline = Clock::now() + session_.reconnect_limit();
  std::string chain;
  for (int attempt = 1;; ++attempt) {
    try {
      session_.write([&] {
        const auto found = session_.exec(
            "SELECT chain FROM halmark.writer WHERE id = $1 FOR UPDATE", place.writer);
        chain = found.empty() ? "" : found[0][0].text();
        if (chain != place.chain && chain == place.pending) return;
        if (chain != place.chain) throw changed_writer(place.writer, session_.location());
        body();
        session_.exec("UPDATE halmark.writer SET chain = $1 WHERE id = $2", chain_after,
                      place.writer);
        place.pending = chain = chain_after;
      });
      place.chain = chain;
      return chain == chain_after;
    } catch (const postgresql::ServerLost&) {
      if (attempt == attempts_max || Clock::now() >= deadline) throw;
    }
  }
}

std::string PostgresqlWriter::insert(std::int64_t run, const Place& place,
                                     const std::string& chain_before,
                                     const std::vector<Entry>& entries) {
  std::string chain = chain_before;
  std::vector<sql::Value> rows;
  for (const Entry& entry : entries) {
    chain = sha256_of(chain + bytes_of(run, entry));
    for (sql::Value& value : values_of(run, entry, chain)) rows.push_back(std::move(value));
    rows.emplace_back(place.writer);
  }
  const auto ids = session_.insert(row_sql(insert_row, session_.dialect()), rows);
  if (ids.size() != entries.size()) {
    throw Error(ExitCode::error, "a row was inserted and is not there", session_.location(),
                "start again: what was stored before is complete");
  }
  for (const auto i : indices(ids)) {
    if (!entries[i].has_samples) continue;
    const std::vector<sql::Value> block = {ids[i], sql::Bytes{entries[i].samples}};
    session_.insert("INSERT INTO halmark.sample_block(entry, bytes) VALUES (?, ?)", block);
  }
  return chain;
}

void PostgresqlWriter::append(std::int64_t run, const std::vector<Entry>& entries,
                              const std::function<void(postgresql::Session&)>& also) {
  Place& place = place_in(run);
  if (entries.empty()) return;
  const auto body = [&] {
    insert(run, place, place.chain, entries);
    if (also) also(session_);
  };
  while (!commit(place, chain_behind(run, place.chain, entries), body)) {
    // What was pending is stored, and now known to be.
  }
}

// Rows that others store meanwhile stand behind the one that says so, and keep their samples.
RunSamples PostgresqlWriter::retire_samples(std::int64_t run, const std::string& policy) {
  RunSamples out;
  Place& place = place_in(run);
  std::string chain = place.chain;
  session_.write([&] {
    session_.exec("SELECT chain FROM halmark.writer WHERE id = $1 FOR UPDATE", place.writer);
    out = delete_samples(session_, run);
    if (out.rows == 0) return;
    chain = insert(run, place, place.chain, {entry_of(Retirement{policy, utc_now(), out})});
    session_.exec("UPDATE halmark.writer SET chain = $1 WHERE id = $2", chain, place.writer);
  });
  place.chain = chain;
  return out;
}

}  // namespace halmark::journal
