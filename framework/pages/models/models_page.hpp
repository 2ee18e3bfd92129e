// What `halmark models` prints: known models with the sizes that their graphs give.
#pragma once

#include <span>

#include "core/chosen/precision.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::pages {

// {"models"}; the text fits `columns`. Sizes are counted in this precision, and do not depend on
// it. Throws Error (exit 2) for a model that has no graph.
report::View models_page(std::span<const ModelListing> models, const Precision& precision,
                         int columns);

// The same without sizes, as `halmark model --list` prints it; builds no graph.
report::View models_list(std::span<const ModelListing> models, int columns);

// Of all weights, tied ones once. Throws Error (exit 2) where its graph cannot be built.
std::int64_t parameters_of(const ModelSpec& spec);

}  // namespace halmark::pages
