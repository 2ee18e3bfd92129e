#include "search/certify/certify_problem.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {

double kernel_bound(const CertifyKernel& kernel, const std::vector<BoundPeak>& peaks,
                    double time_units_per_s) {
  double out = 0;
  for (const BoundTerm& term : kernel.terms) {
    const BoundPeak& peak = peaks[as_size(term.peak)];
    out = std::max(out, term.amount / (peak.value * peak.safety) * time_units_per_s);
  }
  return out;
}

Configurations::Configurations(const CertifiableProblem& problem) : problem_(problem) {
  for (const CertifyDomain& domain : problem.domains) {
    sizes_.push_back(domain.values.size());
    if (domain.values.empty()) throw refused("domain '" + domain.name + "' has no value");
    total_ *= domain.values.size();
    if (total_ > certify_combinations_max) {
      throw refused("a certificate lists every combination, and this space has more than " +
                        std::to_string(certify_combinations_max),
                    {}, "fewer values, or another sampler");
    }
  }
  strides_.assign(sizes_.size(), 1);
  for (std::size_t d = sizes_.size(); d-- > 1;) strides_[d - 1] = strides_[d] * sizes_[d];
  check();
}

void Configurations::check() const {
  const auto fits = [this](const auto& table) {
    std::uint64_t expected = 1;
    for (const std::int32_t d : table.over) expected *= sizes_[as_size(d)];
    if (expected == table.values.size()) return;
    throw refused("table '" + table.name + "' has " + std::to_string(table.values.size()) +
                  " values where its domains have " + std::to_string(expected) + " combinations");
  };
  for (const auto& table : problem_.facts) fits(table);
  for (const auto& table : problem_.slots) fits(table);
  for (const std::uint64_t c : below(total_)) {
    if (is_valid(c)) return;
  }
  throw refused("no combination of this space is valid");
}

std::vector<std::int32_t> Configurations::levels(std::uint64_t combination) const {
  return mapped(indices(sizes_),
                [&](const auto d) { return as_int(combination / strides_[d] % sizes_[d]); });
}

bool Configurations::is_valid(std::uint64_t combination) const {
  return problem_.broken.empty() || problem_.broken[combination] < 0;
}

std::size_t Configurations::front(std::uint64_t combination) const {
  return problem_.front_of.empty() ? 0 : as_size(problem_.front_of[combination]);
}

const std::vector<Formula>& Configurations::formulas(std::uint64_t combination) const {
  if (problem_.own_formulas.empty()) return problem_.formulas;
  return problem_.own_formulas.at(combination);
}

template <typename T>
T Configurations::look_up(const LevelTable<T>& table, std::uint64_t combination) const {
  std::uint64_t at = 0;
  for (const std::int32_t domain : table.over) {
    const auto d = as_size(domain);
    at = at * sizes_[d] + combination / strides_[d] % sizes_[d];
  }
  return table.values[at];
}

std::vector<std::int32_t> Configurations::kernels(std::uint64_t combination) const {
  slots_.clear();
  for (const auto& slot : problem_.slots) slots_.push_back(look_up(slot, combination));
  std::vector<std::int32_t> out;
  for (const Formula& f : formulas(combination)) add_kernels(f, slots_, out);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void Configurations::compose(std::uint64_t combination, std::span<const double> times,
                             std::span<double> objectives) const {
  facts_.clear();
  slots_.clear();
  for (const auto& fact : problem_.facts) facts_.push_back(look_up(fact, combination));
  for (const auto& slot : problem_.slots) slots_.push_back(look_up(slot, combination));
  const std::vector<Formula>& formulas = this->formulas(combination);
  for (const auto j : indices(formulas)) {
    objectives[j] = evaluate(formulas[j], {facts_, slots_, times}, scratch_);
  }
}

}  // namespace halmark
