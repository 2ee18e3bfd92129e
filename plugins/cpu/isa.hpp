// Which vector instructions this machine has, read from the processor and never assumed.
#pragma once

#include <string>

#include "kernel.hpp"

namespace hm_cpu {

// Best path that processor and operating system allow.
Isa detect_isa();
// The processor's name as the vendor prints it; "unknown processor" elsewhere.
std::string processor_name();

}  // namespace hm_cpu
