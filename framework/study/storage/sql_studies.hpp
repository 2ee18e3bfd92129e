// Studies in Optuna's tables, in whatever database a session reaches.
#pragma once

#include <memory>
#include <string>

#include "sql/session.hpp"
#include "study/values.hpp"

namespace halmark::journal {

// The tables are there and of this revision. `location`: as a person named it.
std::unique_ptr<StudyStore> studies_in(std::unique_ptr<sql::Session> session, std::string location);

}  // namespace halmark::journal
