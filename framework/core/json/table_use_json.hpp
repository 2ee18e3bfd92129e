// Tables of kernel times and what of them cannot be true, as documents have them.
#pragma once

#include "core/chosen/table_use.hpp"
#include "core/json/json_type.hpp"

namespace halmark {

void to_json(Json& out, const SeriesUse& value);
void to_json(Json& out, const TableUse& value);
void to_json(Json& out, const QuarantinedTimes& value);

}  // namespace halmark
