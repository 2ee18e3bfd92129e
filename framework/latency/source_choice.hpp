// Which sources of times a user chose, parsed once from their text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark {

// The order of trust. What another machine's times are transferred to (`transferred`) and what a
// simulated fabric says of collectives (`fabric`) come before `roofline`, in this order.
enum class SourceKind : std::uint8_t { measured, journal, imported, interpolated, roofline };

struct SourceChoice {
  SourceKind kind = SourceKind::roofline;
  std::string file;  // of journal and imported
};

// "journal:FILE", "imported:FILE", "interpolated", "roofline", "measured". Throws Error (exit 2)
// naming the nearest spelling; `where` is the flag, or file:line.
SourceChoice parse_source(std::string_view text, const std::string& where);

}  // namespace halmark
