#include "pages/serve/document/sharding_table.hpp"

#include <map>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "simulate/sharding/shard_table.hpp"

namespace halmark::pages {
namespace {

using simulate::ShardRow;

// The same tensor of all layers that are alike.
struct Fold {
  const ShardRow* first = nullptr;
  std::int64_t count = 0;
  double bytes = 0;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t size : shape) {
    append_item(out, " x ", std::to_string(size));
  }
  return out;
}

Json row_json(const Fold& fold) {
  const ShardRow& row = *fold.first;
  double elements = 1;
  for (const std::int64_t size : row.shape) elements *= as_double(size);
  Json out = {{"layer", row.layer_type},
              {"tensor", row.tensor},
              {"shape", shape_text(row.shape)},
              {"bits", as_double(row.bytes) * 8 / elements},
              {"strategy", simulate::strategy_name(row.strategy)},
              {"count", fold.count},
              {"bytes", fold.bytes},
              {"bytes_per_shard", row.shard_bytes},
              {"owners", row.owners},
              {"reason", row.reason}};
  if (!row.collective.empty()) {
    out["collective"] = row.collective;
    out["collective_bytes"] = row.collective_bytes;
  }
  return out;
}

}  // namespace

Json sharding_json(const ComposedStep& step) {
  const simulate::ShardTable table = simulate::shard_table(step.graph());
  std::vector<Fold> folds;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const ShardRow& row : table.rows) {
    const auto [place, is_new] = places.try_emplace({row.layer_type, row.tensor}, folds.size());
    if (is_new) folds.push_back({.first = &row});
    Fold& fold = folds[place->second];
    ++fold.count;
    fold.bytes += as_double(row.bytes);
  }
  Json rows = json_list(folds, row_json);
  return {{"rows", std::move(rows)},
          {"sum", table.tensor_bytes},
          {"held", table.held_bytes},
          {"replication", table.replication()}};
}

}  // namespace halmark::pages
