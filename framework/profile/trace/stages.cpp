#include "profile/trace/stages.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/enum_names.hpp"

namespace halmark::trace {
namespace {

constexpr auto stage_names = enum_names<TraceStage>("unknown", "prefill", "decode", "mixed");

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0) {
      out.back() += static_cast<char>(std::tolower(u));
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  return out;
}

TraceStage stage_from(bool has_prefill, bool has_decode) {
  if (has_prefill && has_decode) return TraceStage::mixed;
  if (has_prefill) return TraceStage::prefill;
  return has_decode ? TraceStage::decode : TraceStage::unknown;
}

// What one attention operator shows about its pass.
TraceStage stage_of_cost(const OperatorCost& cost) {
  if (cost.packed) {
    const PackedQueries& p = *cost.packed;
    if (p.longest == 1 || p.tokens == p.sequences) return TraceStage::decode;
    // One long sequence and one token of each of the others.
    const bool is_mixed = p.sequences > 1 && p.tokens - p.longest == p.sequences - 1;
    return is_mixed ? TraceStage::mixed : TraceStage::prefill;
  }
  if (cost.attention)
    return cost.attention->queries == 1 ? TraceStage::decode : TraceStage::prefill;
  return TraceStage::unknown;
}

}  // namespace

std::string_view stage_name(TraceStage stage) { return stage_names.of(stage); }

std::optional<TraceStage> parse_stage(std::string_view text) { return stage_names.parse(text); }

std::optional<TraceStage> stage_of_annotation(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  const auto has = [&](std::string_view word) { return contains(words, word); };
  const auto count_behind = [&](std::string_view word) {
    const auto it = std::ranges::find(words, word);
    std::int64_t out = 0;
    if (it == words.end() || it + 1 == words.end()) return out;
    std::from_chars((it + 1)->data(), (it + 1)->data() + (it + 1)->size(), out);
    return out;
  };
  if (has("execute") && (has("context") || has("generation"))) {
    return stage_from(count_behind("context") > 0, count_behind("generation") > 0);
  }
  if (has("mixed")) return TraceStage::mixed;
  const TraceStage stage = stage_from(has("prefill") || has("extend"), has("decode"));
  return stage == TraceStage::unknown ? std::nullopt : std::optional(stage);
}

std::optional<std::int64_t> step_of_annotation(std::string_view name) {
  constexpr std::string_view prefix = "ProfilerStep#";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, error] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), out);
  if (error != std::errc()) return std::nullopt;
  return out;
}

void find_stages(Attribution& attribution) {
  std::vector<std::array<bool, 4>> seen(attribution.passes.size());
  for (const OperatorRow& row : attribution.rows) {
    if (row.pass >= seen.size() || row.count == 0) continue;
    const OperatorCost& cost = attribution.cost_of(row);
    TraceStage stage = stage_of_cost(cost);
    // Scores and weighted sums as products of their own, directly in the attention module.
    const bool is_product = cost.matmul && cost.matmul->batch > 1 &&
                            attribution.scopes[row.scope].kind == ModuleKind::attention;
    if (is_product) stage = cost.matmul->m == 1 ? TraceStage::decode : TraceStage::prefill;
    seen[row.pass][as_size(stage)] = true;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Pass& pass = attribution.passes[i];
    if (pass.stage != TraceStage::unknown) continue;
    const auto has = [&](TraceStage stage) { return seen[i][as_size(stage)]; };
    pass.stage = has(TraceStage::mixed)
                     ? TraceStage::mixed
                     : stage_from(has(TraceStage::prefill), has(TraceStage::decode));
    if (pass.stage != TraceStage::unknown) pass.stage_source = "shapes";
  }
}

}  // namespace halmark::trace
