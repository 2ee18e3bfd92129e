// A state with a stream of requests: the question that `halmark simulate serving` asks of it.
#pragma once

#include "pages/serve/state/priced_system.hpp"
#include "tune/serving/served_simulation.hpp"

namespace halmark::pages {

// The decode step of as many sequences as may be in the batch at once: what layouts are compared
// by, and what is exported. Itself where there are no requests.
PageState decode_of(const PageState& state);

// `system`: of the state. Throws Error (exit 2) for a device that no list has, a load that the page
// does not simulate, and where no layout is possible.
tune::ServingQuestion serving_question(const PageState& state, PricedSystem& system,
                                       const PageSources& sources);

// The other way: the page around a simulated server, on the device of this id. What its state has
// no word for is refused before it is simulated.
void check_served_page(const tune::ServingQuestion& question);
PageState served_page(const tune::ServingQuestion& question, const tune::ServedSimulation& server,
                      const std::string& device);

}  // namespace halmark::pages
