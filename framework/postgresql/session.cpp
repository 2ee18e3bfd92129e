// A server may restart between two transactions: the next one waits for it. Within one nothing is
// tried again, because nobody could say what was stored.
#include "postgresql/session.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "core/text/error.hpp"
#include "core/text/url.hpp"

namespace halmark::postgresql {
namespace {

using OneState = pqxx::transaction<pqxx::isolation_level::repeatable_read>;

constexpr std::chrono::milliseconds first_pause{100}, pause_max{2000};

const std::vector<std::pair<std::string, std::string>> give_up_options = {
    {"connect_timeout", "10"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "20000"}};

// The library's own text, as part of a line: it ends lines.
std::string line_of(const std::exception& e) {
  std::string out = e.what();
  std::ranges::replace(out, '\n', ' ');
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

std::string text_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return field.is_null() ? std::string() : std::string(field.c_str(), field.size());
}

Session::Session(std::string url, SessionWords words)
    : url_(std::move(url)), location_(without_password(url_)), words_(std::move(words)) {
  guarded([&] { connect(); }, "opened");
}

void Session::read(const std::function<void()>& body) {
  if (is_open()) return body();
  within(body, Kind::reads);
}

void Session::read_one_state(const std::function<void()>& body) {
  if (is_open()) return body();
  within(body, Kind::reads_one_state);
}

void Session::write(const std::function<void()>& body) {
  within(
      [&] {
        if (words_.turn) exec(lock_turn, *words_.turn);
        body();
      },
      Kind::writes);
}

void Session::within(const std::function<void()>& body, Kind kind) {
  guarded(
      [&] {
        begin(kind);
        try {
          body();
          if (kind == Kind::writes) work_->commit();
        } catch (...) {
          work_.reset();
          throw;
        }
        work_.reset();
      },
      kind == Kind::writes ? "stored" : "read");
}

void Session::guarded(const std::function<void()>& body, const char* done) {
  const std::string remedy = "what was acknowledged before is stored";
  try {
    body();
  } catch (const pqxx::in_doubt_error&) {
    throw ServerLost(ExitCode::error, "the server was lost while it stored " + words_.rows,
                     location_,
                     "whether it has them shows when " + words_.store + " is opened again");
  } catch (const pqxx::broken_connection& e) {
    throw ServerLost(ExitCode::error, "the server cannot be reached: " + line_of(e), location_,
                     remedy);
  } catch (const pqxx::failure& e) {
    throw Error(ExitCode::error, words_.store + " could not be " + done + ": " + line_of(e),
                location_, remedy);
  }
}

// A cable that is cut says nothing: both ends give up on it within half a minute, unless the URL
// says otherwise. The server then ends what was open, and what it had locked is free.
void Session::connect() {
  connection_ = std::make_unique<pqxx::connection>(with_options(url_, give_up_options));
  constexpr int first_with_user_timeout = 120000;
  pqxx::nontransaction session(*connection_);
  session.exec(
      "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = "
      "3");
  if (connection_->server_version() >= first_with_user_timeout) {
    session.exec("SET tcp_user_timeout = 20000");
  }
  // What is said about tables that are made on purpose is of no use to anybody.
  session.exec(
      "SET TIME ZONE 'UTC'; SET client_encoding = 'UTF8'; SET client_min_messages = warning");
}

// A server that restarts is waited for; nothing is lost, because nothing has begun.
void Session::begin(Kind kind) {
  const auto deadline = std::chrono::steady_clock::now() + reconnect_limit_;
  for (auto pause = first_pause;; pause = std::min(2 * pause, pause_max)) {
    try {
      if (!connection_) connect();
      if (kind == Kind::reads_one_state) {
        work_ = std::make_unique<OneState>(*connection_);
      } else {
        work_ = std::make_unique<pqxx::work>(*connection_);
      }
      exec("SELECT 1");
      return;
    } catch (const pqxx::broken_connection&) {
      work_.reset();
      connection_.reset();
      if (std::chrono::steady_clock::now() + pause > deadline) throw;
      std::this_thread::sleep_for(pause);
    }
  }
}

}  // namespace halmark::postgresql
