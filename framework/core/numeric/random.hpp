// Counter-based randomness: a value depends on (seed, counter) alone, so nothing has to be saved.
#pragma once

#include <cstdint>

namespace halmark {

// SplitMix64 finaliser over seed and counter (Steele, Lea, Flood 2014); passes BigCrush as a
// stream.
constexpr std::uint64_t hash_u64(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (counter + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  return hash_u64(a ^ 0x6a09e667f3bcc909ULL, b);
}

// Uniform in [0, 1) with 53 bits.
constexpr double uniform_01(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// Uniform integer in [0, bound) (bias below 2^-32 for bound < 2^32; enough for index choice).
constexpr std::uint64_t uniform_below(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace halmark
