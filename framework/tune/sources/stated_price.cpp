#include "tune/sources/stated_price.hpp"

#include <charconv>
#include <cmath>

#include "core/text/error.hpp"

namespace halmark::tune {

StatedPrice parse_price(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  StatedPrice out{.owner = text.substr(0, equals)};
  bool is_price = equals != std::string::npos && equals > 0;
  if (is_price) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data() + equals + 1, end, out.usd_per_hour);
    is_price = code == std::errc() && stop == end && std::isfinite(out.usd_per_hour) &&
               out.usd_per_hour > 0;
  }
  if (!is_price) {
    throw refused("'" + text + "' is no price", "--price",
                  "as in h100-sxm=2.5: US dollars an hour of one device");
  }
  return out;
}

}  // namespace halmark::tune
