#include "sql/sqlite_statements.hpp"

#include <SQLiteCpp/Exception.h>

#include "core/lists.hpp"

namespace halmark::sql {
namespace {

// `values` outlive the step.
void bind(SQLite::Statement& statement, std::span<const Value> values) {
  statement.clearBindings();
  for (int i = 0; const Value& value : values) {
    ++i;
    if (const auto* integer = std::get_if<std::int64_t>(&value.content())) {
      statement.bind(i, *integer);
    } else if (const auto* number = std::get_if<double>(&value.content())) {
      statement.bind(i, *number);
    } else if (const auto* bytes = std::get_if<Bytes>(&value.content())) {
      statement.bindNoCopy(i, bytes->bytes.data(), as_int(bytes->bytes.size()));
    } else if (!value.is_null()) {
      statement.bindNoCopy(i, value.text());
    }
  }
}

Value value_of(const SQLite::Column& column) {
  if (column.isNull()) return {};
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isBlob()) return Bytes{column.getString()};
  return column.getString();
}

}  // namespace

// A statement while it is used: what a visitor asks meanwhile in the same words gets another one. A
// query that was not read to its end would keep its lock on the file.
class SqliteStatements::Use {
 public:
  Use(SqliteStatements& all, std::string_view sql) : all_(all) {
    const auto found = all.unused_.find(sql);
    if (found != all.unused_.end()) {
      node_ = all.unused_.extract(found);
    } else {
      std::string text(sql);
      SQLite::Statement statement(all.db_, text);
      decltype(all.unused_) one;
      one.emplace(std::move(text), std::move(statement));
      node_ = one.extract(one.begin());
    }
  }
  ~Use() {
    node_.mapped().tryReset();
    all_.unused_.insert(std::move(node_));
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  SQLite::Statement& operator*() { return node_.mapped(); }

 private:
  SqliteStatements& all_;
  decltype(unused_)::node_type node_;
};

void SqliteStatements::each(std::string_view sql, std::span<const Value> values,
                            const Visit& visit) {
  Use use(*this, sql);
  SQLite::Statement& statement = *use;
  bind(statement, values);
  Row row(as_size(statement.getColumnCount()));
  while (statement.executeStep()) {
    for (const auto i : indices(row)) {
      row[i] = value_of(statement.getColumn(as_int(i)));
    }
    visit(row);
  }
}

std::vector<std::int64_t> SqliteStatements::insert(std::string_view sql,
                                                   std::span<const Value> values) {
  Use use(*this, sql);
  SQLite::Statement& statement = *use;
  const auto columns = as_size(statement.getBindParameterCount());
  const bool returns = statement.getColumnCount() > 0;
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < values.size(); at += columns) {
    statement.reset();
    bind(statement, values.subspan(at, columns));
    if (!(returns ? statement.executeStep() : statement.exec() == 1)) {
      throw SQLite::Exception("a row was inserted and is not there");
    }
    if (returns) out.push_back(statement.getColumn(0).getInt64());
  }
  return out;
}

}  // namespace halmark::sql
