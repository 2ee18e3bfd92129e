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

// A server as the module `postgresql` has it, which brings the client library and two dozen others.
class Connection : public sql::Session {
 public:
  // How long a transaction waits at its begin for a server that is away; 30 s at first.
  virtual void set_reconnect_limit(std::chrono::milliseconds limit) = 0;
  virtual std::chrono::milliseconds reconnect_limit() const = 0;
  // Several statements in one text, without values.
  virtual void exec_all(const std::string& sql) = 0;
};

class Session : public sql::Session {
 public:
  // Connects. Throws Error: exit 5 without the client library, and exit 1, as everything here does,
  // where the server cannot be reached (ServerLost) or refuses; what `body` throws of its own
  // passes.
  Session(const std::string& url, const SessionWords& words);

  sql::Dialect dialect() const override { return sql::Dialect::postgresql; }
  // The URL without its password.
  const std::string& location() const override { return connection_->location(); }
  void set_reconnect_limit(std::chrono::milliseconds limit) {
    connection_->set_reconnect_limit(limit);
  }
  std::chrono::milliseconds reconnect_limit() const { return connection_->reconnect_limit(); }
  // Marks may be numbered ($1) too.
  void each(std::string_view sql, std::span<const sql::Value> values,
            const sql::Visit& visit) override {
    connection_->each(sql, values, visit);
  }
  std::vector<std::int64_t> insert(std::string_view sql,
                                   std::span<const sql::Value> values) override {
    return connection_->insert(sql, values);
  }
  void exec_all(const std::string& sql) { connection_->exec_all(sql); }
  void read(const std::function<void()>& body) override { connection_->read(body); }
  void read_one_state(const std::function<void()>& body) override {
    connection_->read_one_state(body);
  }
  // In its turn if there are turns.
  void write(const std::function<void()>& body) override { connection_->write(body); }

 private:
  std::unique_ptr<Connection> connection_;
};

}  // namespace halmark::postgresql
