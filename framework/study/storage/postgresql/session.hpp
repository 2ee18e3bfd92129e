// One server: statements in transactions, a connection that is made again, and errors in our words.
#pragma once

#include <pqxx/pqxx>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace halmark::journal {

// An array literal: one parameter for a column of many rows.
class Column {
 public:
  void add(std::string_view text);
  void add(std::int64_t value) { begin_item() += std::to_string(value); }
  // What is not finite is NULL: the type beside it says what it is.
  void add(double value);
  void add_or_null(std::string_view text);
  bool empty() const { return text_.size() == 1; }
  std::string literal() const { return text_ + '}'; }

 private:
  std::string& begin_item() { return text_ += empty() ? "" : ","; }
  std::string text_ = "{";
};

std::string text_at(const pqxx::row& row, int column);
// Of a value and the type in the column behind it.
double value_at(const pqxx::row& row, int column);

class PostgresqlSession {
 public:
  // Connects. `location` goes into errors: the URL without its password.
  explicit PostgresqlSession(std::string url);

  const std::string& location() const { return location_; }
  bool is_open() const { return work_ != nullptr; }

  // In the transaction that is open.
  template <class... Values>
  pqxx::result exec(const char* sql, const Values&... values) {
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
    return work_->exec(sql, pqxx::params{values...});
#else
    return work_->exec_params(sql, values...);
#endif
  }
  void exec_all(const std::string& sql) { work_->exec(sql); }

  // Runs `body` in a transaction and drops it, unless one is open: then in that.
  void read(const std::function<void()>& body);
  // Runs `body` in a transaction of its own, one writer at a time, and commits it.
  void write(const std::function<void()>& body);

 private:
  void guarded(const std::function<void()>& body);
  void connect();
  void begin();
  void within(const std::function<void()>& body, bool commits);

  std::string url_, location_;
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::work> work_;
};

}  // namespace halmark::journal
