// What `halmark simulate plan` prints: the choice, what else there was, and the table of tensors.
#pragma once

#include "report/views/view.hpp"
#include "simulate/sharding/plan_answer.hpp"

namespace halmark::pages {

struct ShardingPage {
  int width = 80;          // terminal columns; 0 = all columns
  bool shows_all = false;  // every layer by itself, and every layout
};

report::View sharding_page(const simulate::PlanAnswer& answer, const ShardingPage& page);

}  // namespace halmark::pages
