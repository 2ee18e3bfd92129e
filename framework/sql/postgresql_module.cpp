// A server may restart between two transactions: the next one waits for it. Within one nothing is
// tried again, because nobody could say what was stored.
#include "core/lists.hpp"
#include "sql/postgresql.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <pqxx/pqxx>
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

sql::Value value_of(const pqxx::field& field) {
  constexpr pqxx::oid bytea = 17;  // on every server (pg_type.dat)
  if (field.is_null()) return {};
  const std::string_view text(field.c_str(), field.size());
  if (field.type() == bytea) return sql::Bytes{bytea_bytes(text)};
  return text;
}

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};  // the shortest that reads back
}

// As the server reads a text of any type; nothing for NULL.
std::optional<std::string> text_of(const sql::Value& value) {
  if (value.is_null()) return std::nullopt;
  if (const auto* bytes = std::get_if<sql::Bytes>(&value.content())) {
    return bytea_text(bytes->bytes);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value.content())) {
    return std::to_string(*integer);
  }
  const auto* number = std::get_if<double>(&value.content());
  return number != nullptr ? text_of(*number) : value.text();
}

// Marks as the server has them: "$1" for the first.
std::string numbered(std::string_view sql) {
  std::string out;
  int marks = 0;
  for (const char c : sql) {
    if (c == '?') {
      out += '$' + std::to_string(++marks);
    } else {
      out += c;
    }
  }
  return out;
}

// The server of one URL.
class ServerConnection final : public Connection {
 public:
  ServerConnection(std::string url, SessionWords words)
      : url_(std::move(url)), location_(without_password(url_)), words_(std::move(words)) {
    guarded([&] { connect(); }, "opened");
  }

  sql::Dialect dialect() const override { return sql::Dialect::postgresql; }
  const std::string& location() const override { return location_; }
  void set_reconnect_limit(std::chrono::milliseconds limit) override { reconnect_limit_ = limit; }
  std::chrono::milliseconds reconnect_limit() const override { return reconnect_limit_; }
  void each(std::string_view sql, std::span<const sql::Value> values,
            const sql::Visit& visit) override;
  std::vector<std::int64_t> insert(std::string_view sql,
                                   std::span<const sql::Value> values) override;
  void exec_all(const std::string& sql) override { work_->exec(sql); }
  void read(const std::function<void()>& body) override;
  void read_one_state(const std::function<void()>& body) override;
  void write(const std::function<void()>& body) override;

 private:
  enum class Kind { reads, reads_one_state, writes };
  void guarded(const std::function<void()>& body, const char* done);
  void connect();
  void begin(Kind kind);
  void within(const std::function<void()>& body, Kind kind);
  pqxx::result run(std::string_view sql, std::span<const sql::Value> values) {
    auto texts = mapped(values, [&](const sql::Value& value) { return text_of(value); });
    std::vector<const char*> list =
        mapped(texts, [&](const auto& text) { return text ? text->c_str() : nullptr; });
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
    pqxx::params params;
    for (const char* text : list) params.append(text);
    return work_->exec(numbered(sql), params);
#else
    return work_->exec_params(numbered(sql), pqxx::prepare::make_dynamic_params(list));
#endif
  }

  std::string url_, location_;
  SessionWords words_;
  std::chrono::milliseconds reconnect_limit_ = std::chrono::seconds(30);
  std::unique_ptr<pqxx::connection> session_;
  std::unique_ptr<pqxx::transaction_base> work_;
};

void ServerConnection::each(std::string_view sql, std::span<const sql::Value> values,
                            const sql::Visit& visit) {
  sql::Row row;
  for (const pqxx::row& found : run(sql, values)) {
    row.clear();
    for (const pqxx::field& field : found) row.push_back(value_of(field));
    visit(row);
  }
}

// Of many rows one statement: a way to the server and back costs more than a row.
std::vector<std::int64_t> ServerConnection::insert(std::string_view sql,
                                                   std::span<const sql::Value> values) {
  constexpr std::size_t marks_max = 32'000;  // the protocol counts them in 16 bits
  const std::size_t begin = sql.find("VALUES (") + 7;
  std::size_t end = begin;
  for (int depth = 0; end < sql.size();) {
    depth += sql[end] == '(' ? 1 : sql[end] == ')' ? -1 : 0;
    ++end;
    if (depth == 0) break;
  }
  const std::string_view row = sql.substr(begin, end - begin);
  const auto columns = as_size(std::ranges::count(row, '?'));
  std::vector<std::int64_t> out;
  while (!values.empty()) {
    const std::size_t rows = std::min(values.size(), marks_max) / columns;
    std::string text(sql.substr(0, end));
    for (std::size_t i = 1; i < rows; ++i) (text += ", ") += row;
    text += sql.substr(end);
    for (const pqxx::row& made : run(text, values.first(rows * columns))) {
      out.push_back(value_of(made[0]).integer());
    }
    values = values.subspan(rows * columns);
  }
  std::ranges::sort(out);  // numbers are drawn in the order of the rows
  return out;
}

void ServerConnection::read(const std::function<void()>& body) {
  if (work_) return body();
  within(body, Kind::reads);
}

void ServerConnection::read_one_state(const std::function<void()>& body) {
  if (work_) return body();
  within(body, Kind::reads_one_state);
}

void ServerConnection::write(const std::function<void()>& body) {
  within(
      [&] {
        if (words_.turn) exec(lock_turn, *words_.turn);
        body();
      },
      Kind::writes);
}

void ServerConnection::within(const std::function<void()>& body, Kind kind) {
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

void ServerConnection::guarded(const std::function<void()>& body, const char* done) {
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
void ServerConnection::connect() {
  session_ = std::make_unique<pqxx::connection>(with_options(url_, give_up_options));
  constexpr int first_with_user_timeout = 120000;
  pqxx::connection& server = *session_;
  pqxx::nontransaction session(server);
  session.exec(
      "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = "
      "3");
  if (server.server_version() >= first_with_user_timeout) {
    session.exec("SET tcp_user_timeout = 20000");
  }
  // What is said about tables that are made on purpose is of no use to anybody.
  session.exec(
      "SET TIME ZONE 'UTC'; SET client_encoding = 'UTF8'; SET client_min_messages = warning");
}

// A server that restarts is waited for; nothing is lost, because nothing has begun.
void ServerConnection::begin(Kind kind) {
  const auto deadline = std::chrono::steady_clock::now() + reconnect_limit_;
  for (auto pause = first_pause;; pause = std::min(2 * pause, pause_max)) {
    try {
      if (!session_) connect();
      if (kind == Kind::reads_one_state) {
        work_ = std::make_unique<OneState>(*session_);
      } else {
        work_ = std::make_unique<pqxx::work>(*session_);
      }
      exec("SELECT 1");
      return;
    } catch (const pqxx::broken_connection&) {
      work_.reset();
      session_.reset();
      if (std::chrono::steady_clock::now() + pause > deadline) throw;
      std::this_thread::sleep_for(pause);
    }
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Connection* halmark_connect(
    const std::string& url, const SessionWords& words) {
  return new ServerConnection(url, words);
}

}  // namespace halmark::postgresql
