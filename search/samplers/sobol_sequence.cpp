#include "search/samplers/sobol_sequence.hpp"

#include <algorithm>
#include <boost/random/sobol.hpp>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark {
namespace {

std::uint32_t reverse_bits(std::uint32_t x) {
  x = (x >> 16) | (x << 16);
  x = ((x & 0xff00ff00u) >> 8) | ((x & 0x00ff00ffu) << 8);
  x = ((x & 0xf0f0f0f0u) >> 4) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x & 0xccccccccu) >> 2) | ((x & 0x33333333u) << 2);
  return ((x & 0xaaaaaaaau) >> 1) | ((x & 0x55555555u) << 1);
}

// Each bit is flipped by a hash of the bits above it (constants of Vegdahl's variant, 2020).
std::uint32_t scramble(std::uint32_t x, std::uint32_t seed) {
  x = reverse_bits(x);
  x ^= x * 0x3d20adeau;
  x += seed;
  x *= (seed >> 16) | 1;
  x ^= x * 0x05526c56u;
  x ^= x * 0x53a22864u;
  return reverse_bits(x);
}

}  // namespace

struct SobolSequence::Generator {
  using Engine = boost::random::sobol_engine<std::uint32_t, 32>;
  explicit Generator(std::size_t dimensions) : engine(dimensions) {}
  Engine engine;
};

SobolSequence::SobolSequence(std::size_t dimensions, std::uint64_t seed)
    : generator_(std::make_unique<Generator>(std::max<std::size_t>(1, dimensions))),
      dimensions_(std::max<std::size_t>(1, dimensions)),
      seed_(seed),
      point_(dimensions_, 0) {}

SobolSequence::~SobolSequence() = default;

std::span<const double> SobolSequence::at(std::uint64_t index) {
  // The engine leaves out the origin, which is point 0.
  if (index != next_) {
    generator_->engine.seed(as_uint32(index == 0 ? 0 : index - 1));
    next_ = index;
  }
  for (const auto d : indices(dimensions_)) {
    const std::uint32_t bits = index == 0 ? 0 : as_uint32(generator_->engine());
    const auto key = as_uint32(hash_combine(seed_, d) >> 32);
    point_[d] = as_double(scramble(bits, key)) * 0x1.0p-32;
  }
  ++next_;
  return point_;
}

}  // namespace halmark
