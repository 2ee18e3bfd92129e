// Nothing is kept between batches: a configuration is asked once, and its graph is larger than its
// figures.
#include "tune/evaluate/priced_evaluator.hpp"

#include "tune/evaluate/step/placed_latencies.hpp"

namespace halmark::tune {

std::vector<Evaluation> PricedEvaluator::evaluate(std::span<const Configuration> configurations) {
  std::vector<Evaluation> out;
  out.reserve(configurations.size());
  times_.clear();
  for (const Configuration& c : configurations) {
    const auto began = std::chrono::system_clock::now();
    Composers one(spec_, target_, false);
    const Composers::Entry& entry = one.of(c);
    out.push_back(entry.composer
                      ? entry.composer->compose(modelled_lookup(source_, entry.composer->graph()))
                      : refused_evaluation(c, *entry.refusal));
    if (engine_ != nullptr && out.back().estimate) {
      add_engine(*engine_, entry.composer->graph(), *out.back().estimate);
    }
    times_.push_back({began, std::chrono::system_clock::now()});
  }
  return out;
}

}  // namespace halmark::tune
