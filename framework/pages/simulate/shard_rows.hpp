// The table of tensors as text: layers that are alike stand in one row.
#pragma once

#include <string>
#include <vector>

#include "simulate/sharding/shard_table.hpp"

namespace halmark::pages {

// `owners`: by stage. `width`: see ShardingPage.
std::string shard_rows_text(const simulate::ShardTable& table,
                            const std::vector<std::string>& owners, int width, bool shows_all);

}  // namespace halmark::pages
