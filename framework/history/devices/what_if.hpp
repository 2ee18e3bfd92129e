// What a side would take with other ceilings: a model, by the resource that binds each kernel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measured/device_kernels.hpp"

namespace halmark::history {

enum class Resource { peak, bandwidth, link };

struct WhatIf {
  std::size_t side = 0;
  Resource resource = Resource::bandwidth;
  double factor = 1;
  std::string text;  // as the user wrote it
};

// "bandwidth=+20%", "peak=x2", "2:link=-50%": of the first side where none is named. Throws Error
// (exit 2) for anything else, and for a side beyond `sides`.
WhatIf parse_what_if(const std::string& text, std::size_t sides);

// Times of the side as they would be: its kernels keep their share of their bound, t x b' / b. The
// interval also holds that what a kernel loses to its bound stays as it is, t - (b - b'). Kernels
// without a bound are left out, by reason.
DeviceSide with_ceilings(const DeviceSide& side, const std::vector<WhatIf>& changes);

}  // namespace halmark::history
