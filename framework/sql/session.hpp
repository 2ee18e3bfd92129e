// What a database is asked, whichever it is: texts with marks (?), values in their order, and rows
// that answer. What SQLite and PostgreSQL say differently stands in a text as words ("{now}").
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace halmark::sql {

enum class Dialect { sqlite, postgresql };

struct Word {
  std::string_view word, sqlite, postgresql;
};
std::string in_dialect(std::string_view text, std::span<const Word> words, Dialect dialect);

struct Bytes {
  std::string bytes;
};

// NULL, a number, a text or bytes: of a mark or of a column. What a column holds of another type
// reads as SQLite converts it; NULL as 0 and "".
class Value {
 public:
  Value() = default;
  Value(std::integral auto value) : value_(static_cast<std::int64_t>(value)) {}
  Value(double value) : value_(value) {}
  Value(std::string value) : value_(std::move(value)) {}
  Value(std::string_view value) : value_(std::string(value)) {}
  Value(const char* value) : value_(std::string(value)) {}
  Value(Bytes value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  std::int64_t integer() const;
  double number() const;
  const std::string& text() const;  // of bytes too
  const auto& content() const { return value_; }

 private:
  std::variant<std::monostate, std::int64_t, double, std::string, Bytes> value_;
};

using Row = std::vector<Value>;
using Rows = std::vector<Row>;
using Visit = std::function<void(const Row&)>;

// One connection. Not for two threads at once.
class Session {
 public:
  virtual ~Session() = default;
  virtual Dialect dialect() const = 0;
  virtual const std::string& location() const = 0;  // for errors

  // Runs `body` in a transaction and drops it, unless one is open: then in that.
  virtual void read(const std::function<void()>& body) = 0;
  // As `read`, and whatever `body` reads is of one state of the database.
  virtual void read_one_state(const std::function<void()>& body) = 0;
  // Runs `body` in a transaction of its own and commits it.
  virtual void write(const std::function<void()>& body) = 0;

  // In the transaction that is open. A row lives while it is visited.
  virtual void each(std::string_view sql, std::span<const Value> values, const Visit& visit) = 0;
  // `sql` inserts one row ("INSERT INTO t(a, b) VALUES (?, ?) ..."), `values` are those of many,
  // row by row. Returns what the text returns of each: nothing, or a key that grows.
  virtual std::vector<std::int64_t> insert(std::string_view sql, std::span<const Value> values) = 0;

  template <class... Values>
  Rows exec(std::string_view sql, const Values&... values) {
    const std::array<Value, sizeof...(values)> list = {Value(values)...};
    Rows out;
    each(sql, list, [&](const Row& row) { out.push_back(row); });
    return out;
  }
};

}  // namespace halmark::sql
