// Contracts are not asked: the names of parameters say what the size of a problem is.
#include "history/devices/shape_class.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/numeric/cast.hpp"

namespace halmark::history {
namespace {

// "m 2-16": from the size behind the last edge to this one.
struct Edge {
  std::int64_t last;
  std::string_view text;
};
constexpr std::array row_edges = {Edge{1, "1"}, Edge{16, "2-16"}, Edge{256, "17-256"},
                                  Edge{INT64_MAX, "> 256"}};
constexpr std::array key_edges = {Edge{1024, "<= 1024"}, Edge{8192, "<= 8192"},
                                  Edge{INT64_MAX, "> 8192"}};
constexpr std::array byte_edges = {Edge{64 << 10, "<= 64 KiB"}, Edge{1 << 20, "<= 1 MiB"},
                                   Edge{64 << 20, "<= 64 MiB"}, Edge{INT64_MAX, "> 64 MiB"}};

struct FreeSize {
  std::string_view name;  // the parameter; "" = none
  std::int64_t size = 0;
  std::string_view phase;                 // "decode" or "prefill" where tokens and keys differ
  std::vector<std::string_view> follows;  // parameters that change with it
};

FreeSize of_phase(const Params& params, std::int64_t new_tokens) {
  const bool is_decode = new_tokens == 1;
  const std::string_view phase = is_decode ? "decode" : "prefill";
  const auto context = params.find("context");
  if (is_decode && context) return {"context", *context, phase, {}};
  if (is_decode) return {"batch", params.value_or("batch", 1), phase, {}};
  // A prompt without a cache in front of it: its keys are its own tokens.
  if (context && *context == new_tokens) return {"new_tokens", new_tokens, phase, {"context"}};
  return {"new_tokens", new_tokens, phase, {}};
}

FreeSize free_size_of(const Problem& problem) {
  const Params& params = problem.params;
  if (const auto tokens = params.find("new_tokens")) return of_phase(params, *tokens);
  for (const char* name : {"m", "tokens", "rows", "bytes"}) {
    const auto size = params.find(name);
    // Rows of a rank follow from the tokens that are routed.
    if (size) return {name, *size, "", {std::string_view(name) == "tokens" ? "rows" : ""}};
  }
  return {};
}

std::span<const Edge> edges_of(const FreeSize& free) {
  if (free.name == "bytes") return byte_edges;
  if (free.name == "context" || free.name == "new_tokens") return key_edges;
  return row_edges;
}

}  // namespace

ShapeClass shape_class_of(const Problem& problem) {
  const FreeSize free = free_size_of(problem);
  if (free.name.empty()) return {"all", 0};
  ShapeClass out;
  const auto edges = edges_of(free);
  while (free.size > edges[as_size(out.rank)].last) ++out.rank;
  if (!free.phase.empty()) out.name = std::string(free.phase) + ", ";
  out.name += std::string(free.name) + ' ' + std::string(edges[as_size(out.rank)].text);
  if (free.phase == "prefill") out.rank += 10;  // behind all of decode
  return out;
}

ShapeSeries shape_series_of(const Problem& problem) {
  const FreeSize free = free_size_of(problem);
  Params fixed;
  for (const Param& param : problem.params.items()) {
    bool is_free = param.name == free.name;
    for (const std::string_view name : free.follows) is_free |= param.name == name;
    if (!is_free) fixed.set(param.name, param.value);
  }
  return {.name = problem.op + ' ' + fixed.text(),
          .free_size = std::string(free.name),
          .size = free.size};
}

}  // namespace halmark::history
