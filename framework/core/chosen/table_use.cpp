#include "core/chosen/table_use.hpp"

#include <algorithm>
#include <string_view>

namespace halmark {

std::vector<std::string> lines_of(const QuarantinedTimes& times) {
  if (times.kernels == 0) return {};
  std::vector<std::string> out{
      std::to_string(times.kernels) + " of " + std::to_string(times.asked) +
          " kernels quarantined: their times cannot be true and are not used; the first:",
      times.problem};
  // Reports shorten long lines, and both figures have to be seen.
  constexpr std::string_view between = "; ";
  for (std::size_t begin = 0; begin < times.reason.size();) {
    const std::size_t end = std::min(times.reason.find(between, begin), times.reason.size());
    out.push_back(times.reason.substr(begin, end - begin));
    begin = end + between.size();
  }
  return out;
}

}  // namespace halmark
