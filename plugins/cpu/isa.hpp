// Which vector instructions this machine has, read from the processor and never assumed.
#pragma once

#include <string>

#include "kernel.hpp"

namespace hm_cpu {

// Best path that processor and operating system allow.
Isa detect_isa();
// The s8 dot product sdot of 64-bit Arm; false on other processors.
bool has_asimd_dotprod();
// What the processor has and the operating system refuses, in words; "" where nothing is refused.
std::string refused_units();
// The processor's name as the vendor prints it; "unknown processor" elsewhere.
std::string processor_name();

}  // namespace hm_cpu
