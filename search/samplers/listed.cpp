#include "search/samplers/listed.hpp"

#include "search/proposer.hpp"

namespace halmark {
namespace {

class Listed : public Proposer {
 public:
  Listed(const Space& space, const SamplerOptions& options) : Proposer("listed", space, options) {}

 private:
  bool is_guarded(std::uint64_t) const override { return false; }
  std::optional<Point> propose(std::uint64_t, std::uint64_t) override {
    for (; at_ < options_.first.size(); ++at_) {
      const Point& p = options_.first[at_];
      if (history().is_new(p)) return p;
    }
    return std::nullopt;
  }

  std::size_t at_ = 0;  // every point before it is known
};

}  // namespace

std::unique_ptr<Sampler> make_listed(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Listed>(space, options);
}

}  // namespace halmark
