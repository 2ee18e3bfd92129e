// Ways of running a problem, compared: ties as ties, and the winner that is used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/winner.hpp"
#include "report/report.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// One problem after its variants were measured.
struct VariantComparison {
  KernelCase question;                        // neither kernel nor config
  std::vector<Variant> variants;              // in the plugin's order
  std::vector<std::string> notes;             // what was not measured, and why
  std::map<std::string, KernelPoint> points;  // by KernelCase::key()
  std::optional<Winner> winner;               // absent: no variant has a time
};

// {"problems": [...]} and one table per problem, fastest first.
View variants_view(std::span<const VariantComparison> comparisons);

struct StoredWinner {
  std::int64_t run = 0;
  Winner winner;
};

// {"winners": [...]}.
View winners_view(std::span<const StoredWinner> winners);

}  // namespace halmark::report
