#include "pages/simulate/shard_rows.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "core/lists.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using simulate::ShardRow;
using simulate::ShardTable;

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string out = "[";
  for (const std::int64_t dim : dims) {
    if (out.size() > 1) out += ',';
    out += std::to_string(dim);
  }
  return out + ']';
}

std::string strategy_text(const ShardRow& row) {
  std::string out(strategy_name(row.strategy));
  for (const simulate::ShardStrategy s : row.also) out += " + " + std::string(strategy_name(s));
  return out;
}

using Cells = std::vector<std::string>;

// All but the first cell, which says where.
Cells cells_of(const ShardRow& row, const std::vector<std::string>& owners) {
  const bool is_exchanged = row.collective_bytes > 0;
  return {row.tensor,
          strategy_text(row),
          bytes_text(row.shard_bytes),
          owners[row.stage],
          is_exchanged ? row.collective : "",
          is_exchanged ? bytes_text(row.collective_bytes) : "",
          dims_text(row.shape),
          row.shape == row.shard_shape ? "whole" : dims_text(row.shard_shape),
          std::string(dtype_name(row.dtype)),
          row.reason};
}

// What stands together: all rows of a layer, or those of an end of the model.
struct Block {
  std::vector<std::int64_t> layers;  // none of an end
  std::string name;                  // of an end: its layer type
  std::vector<Cells> rows;
};

std::vector<Block> blocks_of(const ShardTable& table, const std::vector<std::string>& owners) {
  std::vector<Block> out;
  for (const ShardRow& row : table.rows) {
    const bool is_layer = row.layer >= 0;
    const bool goes_on =
        !out.empty() && (is_layer ? !out.back().layers.empty() && out.back().layers[0] == row.layer
                                  : out.back().layers.empty() && out.back().name == row.layer_type);
    if (!goes_on) {
      out.push_back({.layers = {}, .name = is_layer ? "" : row.layer_type, .rows = {}});
      if (is_layer) out.back().layers.push_back(row.layer);
    }
    out.back().rows.push_back(cells_of(row, owners));
  }
  return out;
}

// Layers with the same rows, where the first of them stands.
std::vector<Block> folded(std::vector<Block> blocks) {
  std::vector<Block> out;
  std::map<std::vector<Cells>, std::size_t> places;
  for (Block& block : blocks) {
    if (block.layers.empty()) {
      out.push_back(std::move(block));
      continue;
    }
    const auto [it, is_new] = places.try_emplace(block.rows, out.size());
    if (is_new) {
      out.push_back(std::move(block));
    } else {
      out[it->second].layers.push_back(block.layers[0]);
    }
  }
  return out;
}

}  // namespace

std::string shard_rows_text(const ShardTable& table, const std::vector<std::string>& owners,
                            int width, bool shows_all) {
  report::TextTable out({"layers", "tensor", "strategy", ">a shard", "shards", "exchange",
                         ">a step", "shape", "of a shard", "type", "why"});
  std::vector<Block> blocks = blocks_of(table, owners);
  if (!shows_all) blocks = folded(std::move(blocks));
  for (const Block& block : blocks) {
    std::string where = block.layers.empty() ? block.name : ranges_text(block.layers);
    for (const Cells& cells : block.rows) {
      Cells row = {where};
      append_all(row, cells);
      out.add(row);
      where = "";
    }
  }
  std::string text = width > 0 ? out.text(width) : out.text();
  text +=
      fmt::format("all shards hold {} = {} x {}", bytes_text(table.held_bytes),
                  bytes_text(table.tensor_bytes), report::significant_text(table.replication()));
  if (table.padding_bytes > 0) {
    text += fmt::format(" + {} of padding", bytes_text(table.padding_bytes));
  }
  text += fmt::format("\na shard's messages of a step: {}", bytes_text(table.collective_bytes));
  if (!table.hand_over_bytes.empty()) {
    text += fmt::format(", {} of them from stage to stage",
                        bytes_text(std::accumulate(table.hand_over_bytes.begin(),
                                                   table.hand_over_bytes.end(), 0.0)));
  }
  return text + '\n';
}

}  // namespace halmark::pages
