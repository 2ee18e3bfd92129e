// Optuna's tables at their head revision, as its own releases 3.2 and later create them.
#pragma once

#include <string>
#include <string_view>

#include "sql/session.hpp"

namespace halmark::journal {

// The text of a statement on these tables in a dialect.
std::string study_sql(std::string_view text, sql::Dialect dialect);

// Makes all of them and says of which revision they are: several statements.
std::string study_tables(sql::Dialect dialect);

}  // namespace halmark::journal
