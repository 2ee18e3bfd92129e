// The keys of fabric files, as their readers know them.
#pragma once

#include "plan/schema/file_schema.hpp"

namespace halmark::fabric {

FileSchema fabric_schema();

}  // namespace halmark::fabric
