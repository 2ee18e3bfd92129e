// Tables of kernel times and what of them cannot be true, as documents have them.
#pragma once

#include "core/json/json_type.hpp"
#include "core/table_use.hpp"

namespace halmark {

void to_json(Json& out, const SeriesUse& value);
void to_json(Json& out, const TableUse& value);
void to_json(Json& out, const QuarantinedTimes& value);

}  // namespace halmark
