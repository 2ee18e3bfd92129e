// Every set is judged by the same rows: a variant of two problems has two keys.
#include "tune/stored/variant_comparison.hpp"

namespace halmark::tune {

std::vector<report::VariantComparison> compare_variants(std::span<const VariantSet> sets,
                                                        std::span<const Measurement> rows,
                                                        const ReportingMachine& machine) {
  const std::map<std::string, KernelPoint> points = points_by_key(rows, machine);
  std::vector<report::VariantComparison> out;
  for (const VariantSet& set : sets) {
    report::VariantComparison& next = out.emplace_back(report::VariantComparison{
        .question = set.question, .variants = set.variants, .notes = set.notes});
    for (const Variant& v : set.variants) {
      const auto found = points.find(variant_case(set.question, v).key());
      if (found != points.end()) next.points.insert(*found);
    }
    next.winner = judge_variants(set.question, set.variants, rows);
  }
  return out;
}

}  // namespace halmark::tune
