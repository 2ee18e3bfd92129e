// Which sources of times a user chose, parsed once from their text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark {

// The order of trust. `fabric`: what collectives and transfers cost over a topology.
enum class SourceKind : std::uint8_t {
  measured,
  journal,
  imported,
  forecast,
  interpolated,
  transferred,
  fabric,
  roofline
};

struct SourceChoice {
  SourceKind kind = SourceKind::roofline;
  std::string file;  // of journal and imported; of forecast the engine, "" = as it comes
};

// "journal:FILE", "imported:FILE", "forecast", "forecast:ENGINE", "interpolated", "transferred",
// "fabric", "roofline", "measured". Throws Error (exit 2) naming the nearest spelling; `where` is
// the flag, or file:line.
SourceChoice parse_source(std::string_view text, const std::string& where);

}  // namespace halmark
