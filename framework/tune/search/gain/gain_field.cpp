#include "tune/search/gain/gain_field.hpp"

#include <algorithm>
#include <set>

#include "core/chosen/objective.hpp"
#include "model/pricing/memory.hpp"

namespace halmark::tune {
namespace {

// Those of a pipeline as it fills and drains, too.
std::vector<std::size_t> kernels_of(const Composer& composer, KernelTable& table) {
  std::set<std::size_t> out;
  for (const KernelCase& k : composer.kernels()) {
    out.insert(static_cast<std::size_t>(table.index_of(k)));
  }
  return {out.begin(), out.end()};
}

std::vector<std::size_t> alive_of(const GainField& field, const std::vector<bool>& is_failed) {
  std::vector<std::size_t> out;
  for (std::size_t m = 0; m < field.members().size(); ++m) {
    const auto& kernels = field.members()[m].kernels;
    if (std::ranges::none_of(kernels, [&](std::size_t k) { return is_failed[k]; }))
      out.push_back(m);
  }
  return out;
}

std::ptrdiff_t best_of(std::span<const Objectives> figures) {
  const auto first = [](const Objectives& o) { return o.front(); };
  return std::ranges::min_element(figures, {}, first) - figures.begin();
}

}  // namespace

GainField::GainField(const TuneProblem& problem, Composers& composers, KernelTable& table)
    : problem_(problem) {
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    Configuration configuration = problem.at(problem.space().point(i));
    const Composers::Entry& entry = composers.of(configuration);
    if (!entry.composer) continue;
    StepSum sum = entry.composer->compile(table);
    std::vector<std::size_t> kernels = kernels_of(*entry.composer, table);
    members_.push_back({.configuration = std::move(configuration),
                        .sum = std::move(sum),
                        .kernels = std::move(kernels),
                        .memory_bytes = memory_use(entry.composer->graph()).total_bytes});
  }
}

double GainField::step_ns(const Member& member, std::span<const KernelTime> times) const {
  const auto priced = price(member.sum, times);
  return priced ? priced->step_ns : 0;
}

Objectives GainField::objectives(const Member& member, std::span<const KernelTime> times) const {
  Estimate out;
  out.memory_bytes_total = member.memory_bytes;
  if (const auto priced = price(member.sum, times)) {
    out.step_ns = priced->step_ns;
    out.tokens_per_s = priced->tokens_per_s;
  }
  return minimised(out, problem_.objectives());
}

BelievedField::BelievedField(const GainField& field, std::span<const std::vector<KernelTime>> draws,
                             std::span<const KernelTime> medians,
                             const std::vector<bool>& is_failed)
    : alive_(alive_of(field, is_failed)), loss_(alive_.size()) {
  std::vector<std::size_t> measured;
  std::vector<Objectives> figures;
  for (std::size_t place = 0; place < alive_.size(); ++place) {
    const GainField::Member& member = field.members()[alive_[place]];
    is_measured_.push_back(
        std::ranges::all_of(member.kernels, [&](std::size_t k) { return medians[k].is_known; }));
    if (!is_measured_.back()) continue;
    measured.push_back(place);
    figures.push_back(field.objectives(member, medians));
  }
  for (const std::size_t f : non_dominated(figures)) front_.push_back(measured[f]);
  if (has_figure()) best_ = measured[static_cast<std::size_t>(best_of(figures))];
  if (alive_.empty()) return;
  for (const std::vector<KernelTime>& times : draws) {
    std::vector<Objectives> drawn;
    for (const std::size_t m : alive_) {
      drawn.push_back(field.objectives(field.members()[m], times));
    }
    loss_.add(std::move(drawn));
  }
  for (const std::size_t place : front_) loss_.report(place);
}

}  // namespace halmark::tune
