#include "report/text/layout_text.hpp"

#include <utility>

#include "core/text/text.hpp"

namespace halmark::report {

std::string layout_text(const Parallel& parallel, std::string_view alone) {
  std::string out;
  for (const auto& [name, n] : {std::pair{"dp", parallel.dp},
                                {"tp", parallel.tp},
                                {"pp", parallel.pp},
                                {"ep", parallel.ep},
                                {"cp", parallel.cp}}) {
    if (n > 1) append_item(out, " ", name + std::to_string(n));
  }
  return out.empty() ? std::string(alone) : out;
}

}  // namespace halmark::report
