// What the page offers to choose from, and what its words mean.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/state/priced_system.hpp"

namespace halmark::pages {

// {"version", "licence", "devices", "models", "fabrics", "recipes", "glossary", "engines",
// "fitted_engines", "is_writable"}
Json page_documents(const PageSources& sources, bool is_writable);

}  // namespace halmark::pages
