// One figure of the page: its value with its interval, and on what it rests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/table_use.hpp"
#include "core/json/json_type.hpp"

namespace halmark::pages {

// A word for the figure, and a sentence for who asks.
struct Origin {
  std::string word, means;
  bool is_bound = false;  // no kernel behind it was ever measured: the best that is possible
};

struct Figure {
  const char *key, *title, *unit, *term;  // term: of the glossary
  std::optional<double> value, low, high;
  Origin from;
  std::string reason;     // why there is no value
  std::string note = {};  // where it stands for an interval
};

// {"key", "title", "unit", "value", "low", "high", "from", "means", "is_bound", "reason", "note",
// "term"}
Json figure_json(const Figure& figure);

// Of a step's operators, by their shares of its time: "forecast 79.1 %, roofline 20.9 %".
Origin times_from(const Estimate& estimate, const std::vector<TableUse>& tables);
// The same, when all happened event by event.
Origin simulated_from(Origin times);

}  // namespace halmark::pages
