// Sobol's sequence (Joe and Kuo's direction numbers, from Boost), scrambled per seed (Owen's nested
// scrambling in the hashed form of Laine and Karras 2011).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halmark {

class SobolSequence {
 public:
  SobolSequence(std::size_t dimensions, std::uint64_t seed);
  ~SobolSequence();
  // The coordinates of point `index`, each in [0, 1). Cheap in ascending order.
  std::span<const double> at(std::uint64_t index);

 private:
  struct Generator;
  std::unique_ptr<Generator> generator_;
  std::size_t dimensions_;
  std::uint64_t seed_, next_ = 0;
  std::vector<double> point_;
};

}  // namespace halmark
