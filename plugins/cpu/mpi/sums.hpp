// Sums of 16-bit floats for MPI, which knows neither type: reduction functions and their types.
#pragma once

#include <cstdint>

namespace hm_cpu {

// target[i] += source[i], each sum rounded once, to nearest even. The widest vector path of this
// processor is taken: what ranks exchange on is not the subject of a kernel's ISA ceiling.
void add_bf16(const std::uint16_t* source, std::uint16_t* target, std::int64_t count);
void add_f16(const std::uint16_t* source, std::uint16_t* target, std::int64_t count);

}  // namespace hm_cpu
