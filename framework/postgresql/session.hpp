// One server: statements in transactions, a connection that is made again, and errors in our words.
// Not for two threads at once.
#pragma once

#include <pqxx/pqxx>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/text/error.hpp"

namespace halmark::postgresql {

// What differs between those who keep something in a server.
struct SessionWords {
  std::string store = "the study";       // "the study could not be stored"
  std::string rows = "the last trials";  // "the server was lost while it stored the last trials"
  // Second key of the advisory lock that a writing transaction takes first, so that writers run one
  // after the other. Without it they run beside each other and lock what they need; nobody tries
  // again what the server refused to serialise.
  std::optional<int> turn = std::nullopt;
};

// The connection was lost in a transaction (exit 1). Whether a commit that had begun is stored
// nobody said; what locks a row that the transaction had locked will see it.
class ServerLost : public Error {
 public:
  using Error::Error;
};

// First keys of advisory locks are Halmark's; these are the second ones, one for each who takes
// turns in a database.
enum class Turn : int { studies = 1, tables = 2, runs = 3, fleet = 4 };
inline constexpr const char* lock_turn = "SELECT pg_advisory_xact_lock(1212238155, $1)";

// "" of a column that is NULL.
std::string text_at(const pqxx::row& row, int column);

class Session {
 public:
  // Connects. Throws Error (exit 1), as everything here does, where the server cannot be reached
  // (ServerLost) or refuses; what `body` throws of its own passes.
  Session(std::string url, SessionWords words);

  // Goes into errors: the URL without its password.
  const std::string& location() const { return location_; }
  bool is_open() const { return work_ != nullptr; }

  // How long a transaction waits at its begin for a server that is away; 30 s at first.
  void set_reconnect_limit(std::chrono::milliseconds limit) { reconnect_limit_ = limit; }
  std::chrono::milliseconds reconnect_limit() const { return reconnect_limit_; }

  // In the transaction that is open.
  template <class... Values>
  pqxx::result exec(const char* sql, const Values&... values) {
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
    return work_->exec(sql, pqxx::params{values...});
#else
    return work_->exec_params(sql, values...);
#endif
  }
  // As a literal within a statement.
  std::string quoted(const std::string& text) const { return work_->quote(text); }
  // Several statements in one text, without values.
  void exec_all(const std::string& sql) { work_->exec(sql); }

  // Runs `body` in a transaction and drops it, unless one is open: then in that.
  void read(const std::function<void()>& body);
  // Runs `body` in a transaction of its own, in its turn if there are turns, and commits it.
  void write(const std::function<void()>& body);
  // As `read`, and whatever `body` reads is of one state of the database.
  void read_one_state(const std::function<void()>& body);

 private:
  void guarded(const std::function<void()>& body, const char* done);
  void connect();
  enum class Kind { reads, reads_one_state, writes };
  void begin(Kind kind);
  void within(const std::function<void()>& body, Kind kind);

  std::string url_, location_;
  SessionWords words_;
  std::chrono::milliseconds reconnect_limit_ = std::chrono::seconds(30);
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::transaction_base> work_;
};

}  // namespace halmark::postgresql
