// Prices on a command line: what a device costs is known to who pays for it.
#pragma once

#include <string>

namespace halmark::tune {

struct StatedPrice {
  std::string owner;  // of the price, as it was written
  double usd_per_hour = 0;
};

// "h100-sxm=2.5". Throws Error (exit 2) for anything else.
StatedPrice parse_price(const std::string& text);

}  // namespace halmark::tune
