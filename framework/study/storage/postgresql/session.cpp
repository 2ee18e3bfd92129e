// A server may restart between two transactions: the next one waits for it. Within one nothing is
// tried again, because nobody could say what was stored.
#include "study/storage/postgresql/session.hpp"

#include <chrono>
#include <thread>

#include "core/text/error.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/location.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {
namespace {

// Halmark's writers queue here; Optuna's at the row of the study, which new trials lock too.
constexpr const char* take_turn = "SELECT pg_advisory_xact_lock(1212238155, 1)";
constexpr auto reconnect_max = std::chrono::seconds(30);

}  // namespace

void Column::add(std::string_view text) {
  begin_item() += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void Column::add(double value) {
  begin_item() +=
      std::string_view(value_type_name(value)) == "FINITE" ? number_text(value) : "NULL";
}

void Column::add_or_null(std::string_view text) {
  if (text.empty()) {
    begin_item() += "NULL";
  } else {
    add(text);
  }
}

std::string text_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return field.is_null() ? std::string() : std::string(field.c_str(), field.size());
}

double value_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return typed_value(field.is_null(), field.is_null() ? 0 : field.as<double>(),
                     row[column + 1].c_str());
}

PostgresqlSession::PostgresqlSession(std::string url)
    : url_(std::move(url)), location_(without_password(url_)) {
  guarded([&] { connect(); });
}

void PostgresqlSession::read(const std::function<void()>& body) {
  if (is_open()) return body();
  within(body, false);
}

void PostgresqlSession::write(const std::function<void()>& body) {
  within(
      [&] {
        exec(take_turn);
        body();
      },
      true);
}

void PostgresqlSession::within(const std::function<void()>& body, bool commits) {
  guarded([&] {
    begin();
    try {
      body();
      if (commits) work_->commit();
    } catch (...) {
      work_.reset();
      throw;
    }
    work_.reset();
  });
}

void PostgresqlSession::guarded(const std::function<void()>& body) {
  const std::string remedy = "what was acknowledged before is stored";
  try {
    body();
  } catch (const pqxx::in_doubt_error&) {
    throw Error(ExitCode::error, "the server was lost while it stored the last trials", location_,
                "whether it has them shows when the study is opened again");
  } catch (const pqxx::broken_connection& e) {
    throw Error(ExitCode::error, std::string("the server cannot be reached: ") + e.what(),
                location_, remedy);
  } catch (const pqxx::failure& e) {
    throw Error(ExitCode::error, std::string("the study could not be stored: ") + e.what(),
                location_, remedy);
  }
}

void PostgresqlSession::connect() {
  connection_ = std::make_unique<pqxx::connection>(url_);
  // What is said about tables that are made on purpose is of no use to anybody.
  pqxx::nontransaction(*connection_).exec("SET TIME ZONE 'UTC'; SET client_min_messages = warning");
}

// A server that restarts is waited for; nothing is lost, because nothing has begun.
void PostgresqlSession::begin() {
  const auto deadline = std::chrono::steady_clock::now() + reconnect_max;
  for (auto pause = std::chrono::milliseconds(100);; pause *= 2) {
    try {
      if (!connection_) connect();
      work_ = std::make_unique<pqxx::work>(*connection_);
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

}  // namespace halmark::journal
