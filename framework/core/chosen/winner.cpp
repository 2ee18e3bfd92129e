#include "core/chosen/winner.hpp"

#include <algorithm>

#include "core/latency.hpp"
#include "core/lists.hpp"

namespace halmark {
namespace {

std::vector<Measurement> rows_of(std::span<const Measurement> rows, const std::string& case_key) {
  std::vector<Measurement> out;
  for (const Measurement& row : rows) {
    if (row.kernel_case.key() == case_key) out.push_back(row);
  }
  return out;
}

void mark_ties(std::vector<VariantTime>& variants) {
  const double slowest_of_best = variants.front().interval_ns.high;
  for (VariantTime& v : variants) v.is_tied = v.interval_ns.low <= slowest_of_best;
}

const Variant& choice_among(const std::vector<VariantTime>& variants) {
  const auto by_default = std::ranges::find_if(
      variants, [](const VariantTime& v) { return v.is_tied && v.variant.is_default; });
  return by_default != variants.end() ? by_default->variant : variants.front().variant;
}

}  // namespace

std::string Variant::text() const {
  const std::string values = config.text();
  return values.empty() ? kernel : kernel + ' ' + values;
}

std::size_t Winner::tied() const {
  return as_size(std::ranges::count(variants, true, &VariantTime::is_tied));
}

std::string winner_key(const KernelCase& question) {
  return question.problem.text() + " | " + question.backend + ':' + question.device + '/' +
         std::to_string(question.parts) + 'x' + std::to_string(question.shards_at_once) + " | " +
         std::string(cache_mode_name(question.mode));
}

KernelCase variant_case(const KernelCase& question, const Variant& variant) {
  KernelCase out = question;
  out.kernel = variant.kernel;
  out.config = variant.config;
  return out;
}

std::optional<Winner> judge_variants(const KernelCase& question, std::span<const Variant> variants,
                                     std::span<const Measurement> rows) {
  Winner out{.question = question};
  for (const Variant& variant : variants) {
    const auto rounds = rows_of(rows, variant_case(question, variant).key());
    const auto latency = fold_usable_rounds(rounds, 0);
    if (!latency) continue;
    out.variants.push_back({.variant = variant,
                            .implementation = latency->implementation,
                            .ns = latency->ns,
                            .interval_ns = {latency->low_ns, latency->high_ns},
                            .rounds = latency->rounds,
                            .status = latency->status,
                            .reason = latency->reason});
    out.plugin_name = rounds.front().plugin_name;
    out.plugin_hash = rounds.front().plugin_hash;
  }
  if (out.variants.empty()) return std::nullopt;
  std::ranges::stable_sort(out.variants, {}, &VariantTime::ns);
  mark_ties(out.variants);
  out.chosen = choice_among(out.variants);
  const auto doubtful = std::ranges::find_if_not(
      out.variants, [](const VariantTime& v) { return v.status == Status::ok; });
  if (doubtful != out.variants.end()) {
    out.status = doubtful->status;
    out.reason = doubtful->variant.text() + ": " + doubtful->reason;
  }
  return out;
}

void WinnerTable::add(const Winner& winner) {
  chosen_.insert_or_assign(winner_key(winner.question), winner.chosen);
}

KernelCase WinnerTable::with_winner(KernelCase kernel_case) const {
  if (!kernel_case.kernel.empty()) return kernel_case;
  const auto* found = find_value(chosen_, winner_key(kernel_case));
  if (!found || found->is_default) return kernel_case;
  return variant_case(kernel_case, *found);
}

}  // namespace halmark
