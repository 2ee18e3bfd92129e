// One figure of the page: its value with its interval, and on what it rests.
#pragma once

#include <optional>
#include <string>

#include "core/json/json_type.hpp"
#include "core/latency.hpp"

namespace halmark::pages {

// A word for the figure, and a sentence for who asks.
struct Origin {
  std::string word, means;
};

struct Figure {
  const char *key, *title, *unit, *term;  // term: of the glossary
  std::optional<double> value, low, high;
  Origin from;
  std::string reason;  // why there is no value
};

// {"key", "title", "unit", "value", "low", "high", "from", "means", "reason", "term"}
Json figure_json(const Figure& figure);

Origin times_from(Provenance provenance);
// The same, when all happened event by event.
Origin simulated_from(Provenance provenance);

}  // namespace halmark::pages
