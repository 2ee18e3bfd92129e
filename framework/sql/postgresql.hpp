// A PostgreSQL server: statements in transactions, a connection that is made again, and errors in
// our words. Built without its client library, opening one says so.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/text/error.hpp"
#include "sql/session.hpp"

namespace halmark::postgresql {

// What differs between those who keep something in a server.
struct SessionWords {
  std::string store = "the study";       // "the study could not be stored"
  std::string rows = "the last trials";  // "the server was lost while it stored the last trials"
  std::string instead = {};              // what to do without a client library, if anything
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

// "\\x0aff": bytes as the text of a bytea, and back.
std::string bytea_text(std::string_view bytes);
std::string bytea_bytes(std::string_view bytea);

class Session : public sql::Session {
 public:
  // Connects. Throws Error: exit 5 without the client library, and exit 1, as everything here does,
  // where the server cannot be reached (ServerLost) or refuses; what `body` throws of its own
  // passes.
  Session(std::string url, SessionWords words);
  ~Session() override;

  sql::Dialect dialect() const override { return sql::Dialect::postgresql; }
  // The URL without its password.
  const std::string& location() const override { return location_; }

  // How long a transaction waits at its begin for a server that is away; 30 s at first.
  void set_reconnect_limit(std::chrono::milliseconds limit) { reconnect_limit_ = limit; }
  std::chrono::milliseconds reconnect_limit() const { return reconnect_limit_; }

  // Marks may be numbered ($1) too.
  void each(std::string_view sql, std::span<const sql::Value> values,
            const sql::Visit& visit) override;
  std::vector<std::int64_t> insert(std::string_view sql,
                                   std::span<const sql::Value> values) override;
  // Several statements in one text, without values.
  void exec_all(const std::string& sql);

  void read(const std::function<void()>& body) override;
  void read_one_state(const std::function<void()>& body) override;
  // In its turn if there are turns.
  void write(const std::function<void()>& body) override;

 private:
  struct Connection;
  void guarded(const std::function<void()>& body, const char* done);
  void connect();
  enum class Kind { reads, reads_one_state, writes };
  void begin(Kind kind);
  void within(const std::function<void()>& body, Kind kind);

  std::string url_, location_;
  SessionWords words_;
  std::chrono::milliseconds reconnect_limit_ = std::chrono::seconds(30);
  std::unique_ptr<Connection> connection_;
};

}  // namespace halmark::postgresql
