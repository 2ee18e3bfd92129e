#include "plan/nightly.hpp"

namespace halmark {

std::optional<Nightly> read_nightly(const TomlTable& root) {
  const auto table = root.table("nightly");
  if (!table) return std::nullopt;
  Nightly out;
  constexpr double minutes_of_day = 24 * 60;
  out.budget_s = table->number("minutes", 0.01, minutes_of_day) * 60;
  out.keep_samples_nights =
      static_cast<int>(table->integer_or("keep_samples_nights", 1, 10'000, 0));
  out.kernels = read_asked_kernels(*table, "kernel");
  out.sentinels = read_asked_kernels(*table, "sentinel");
  return out;
}

}  // namespace halmark
