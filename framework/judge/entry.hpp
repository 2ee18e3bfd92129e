// The function that a kernel's source must have, by the contract of its op: the operands in their
// order, then the sizes in the order of the contract's parameters. One rule for every op.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract.hpp"

namespace halmark::judge {

enum class Language { c, cpp, opencl, cuda };

// The rest computes in host memory.
inline bool is_device_language(Language language) {
  return language == Language::opencl || language == Language::cuda;
}

// By the ending of the file. Throws Error (exit 2) naming the endings that there are.
Language language_of(const std::string& path);

inline constexpr const char* entry_name = "run";

// Parameters that the entry takes behind its operands, in the contract's order: the sizes. Types,
// flags and choices are what the source was written for; the header has them as macros.
std::vector<std::string> entry_sizes(const OpContract& contract);

// "void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n, int64_t k)".
// `params` is complete.
std::string entry_text(const OpContract& contract, const Params& params, Language language);

// What is put in front of a source: its types and the declaration of the entry.
std::string entry_header(const OpContract& contract, const Params& params, Language language);

// The function that casts and calls the entry; "" where no call is needed (OpenCL).
std::string entry_call(const OpContract& contract, const Params& params, Language language);

}  // namespace halmark::judge
