#include "history/devices/what_if.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::history {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// "+20%", "-50%", "x2" as a factor.
std::optional<double> factor_of(std::string_view text) {
  std::optional<double> factor;
  if (text.starts_with('x')) {
    factor = number_of(text.substr(1));
  } else if (text.ends_with('%') && (text.starts_with('+') || text.starts_with('-'))) {
    text.remove_suffix(1);
    factor = number_of(text.starts_with('+') ? text.substr(1) : text);
    if (factor) *factor = 1 + *factor / 100;
  }
  return factor && *factor >= 1e-3 && *factor <= 1e3 ? factor : std::nullopt;
}

std::optional<Resource> resource_of(std::string_view text) {
  if (text == "peak") return Resource::peak;
  if (text == "bandwidth") return Resource::bandwidth;
  if (text == "link") return Resource::link;
  return std::nullopt;
}

double& part_of(LeastTimes& least, Resource resource) {
  if (resource == Resource::peak) return least.compute_ns;
  return resource == Resource::bandwidth ? least.memory_ns : least.link_ns;
}

void change(DeviceKernel& kernel, const std::vector<WhatIf>& changes) {
  const double before = kernel.least.bound_ns();
  for (const WhatIf& change : changes) {
    part_of(kernel.least, change.resource) /= change.factor;
    if (change.resource == Resource::peak) kernel.peak_ns /= change.factor;
  }
  const double after = kernel.least.bound_ns(), scale = after / before, saved = before - after;
  kernel.ns *= scale;
  Interval& interval = kernel.interval_ns;
  const double low = interval.low * scale;
  interval = {saved > 0 ? low : std::min(low, interval.low - saved),
              std::max(interval.high * scale, interval.high - saved)};
}

}  // namespace

WhatIf parse_what_if(const std::string& text, std::size_t sides) {
  const std::string remedy =
      "as in bandwidth=+20%, peak=x2 or 2:link=-50%; the number is that of the side, 1 to " +
      std::to_string(sides);
  WhatIf out{.text = text};
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const auto side = number_of(rest.substr(0, colon));
    if (!side || *side < 1 || *side > as_double(sides) || *side != std::floor(*side)) {
      throw refused("'" + text + "' names no side", "--what-if", remedy);
    }
    out.side = as_size(*side) - 1;
    rest.remove_prefix(colon + 1);
  }
  const std::size_t equals = rest.find('=');
  const auto resource = resource_of(rest.substr(0, equals));
  const auto factor = equals == std::string_view::npos ? std::optional<double>()
                                                       : factor_of(rest.substr(equals + 1));
  if (!resource || !factor) {
    throw refused("'" + text + "' is no change of a ceiling", "--what-if", remedy);
  }
  out.resource = *resource;
  out.factor = *factor;
  return out;
}

DeviceSide with_ceilings(const DeviceSide& side, const std::vector<WhatIf>& changes) {
  DeviceSide out = side;
  out.is_model = true;
  out.kernels.clear();
  for (const DeviceKernel& kernel : side.kernels) {
    if (kernel.least.bound_ns() <= 0) {
      ++out.left_out["no bound of it is known: nothing says what a ceiling would change"];
      continue;
    }
    change(out.kernels.emplace_back(kernel), changes);
  }
  return out;
}

}  // namespace halmark::history
