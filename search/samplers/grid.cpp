// Every valid point once, in a seeded low-discrepancy order: a grid that is cut off is still a fair
// sample of the space.
#include <numeric>

#include "core/random.hpp"
#include "search/sampler.hpp"

namespace halmark {
namespace {

class Grid : public Sampler {
 public:
  Grid(const Space& space, std::uint64_t seed) : space_(space), step_(coprime_step(space.size())) {
    if (space.size() > 0) start_ = uniform_below(hash_u64(seed, 0), space.size());
  }

  std::string_view name() const override { return "grid"; }

  std::vector<Point> ask(std::size_t count) override {
    std::vector<Point> out;
    for (; out.size() < count && asked_ < space_.size(); ++asked_) {
      out.push_back(space_.point((start_ + asked_ * step_) % space_.size()));
    }
    return out;
  }

  void tell(const std::vector<Told>&) override {}

 private:
  // The additive recurrence i -> start + i * step visits all indices when step and size are
  // coprime; a step near size / golden ratio spreads every prefix evenly.
  static std::uint64_t coprime_step(std::uint64_t size) {
    if (size < 3) return 1;
    auto step = static_cast<std::uint64_t>(static_cast<double>(size) * 0.6180339887498949);
    while (std::gcd(step, size) != 1) ++step;
    return step;
  }

  const Space& space_;
  std::uint64_t step_, start_ = 0, asked_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> make_grid(const Space& space, std::uint64_t seed) {
  return std::make_unique<Grid>(space, seed);
}

}  // namespace halmark
