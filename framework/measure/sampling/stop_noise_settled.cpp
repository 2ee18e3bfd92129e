// The noise is known, whatever its size. Waiting for a fixed noise target instead never ends on a
// noisy device (one public suite took 30 h per device with it and 5 h with this rule).
#include <cmath>
#include <deque>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

constexpr std::size_t first_look = 64;
constexpr std::size_t look_every = 16;
constexpr std::size_t window_max = 512;
constexpr std::size_t window_min = 4;  // two equal looks in a row prove nothing
constexpr double settled_stdev = 0.05;

class NoiseSettled : public StopRule {
 public:
  void start() override {
    values_.clear();
    window_.clear();
  }
  void add(double interval_ns) override {
    values_.push_back(interval_ns);
    const std::size_t n = values_.size();
    if (n < first_look || n % look_every != 0) return;
    window_.push_back(relative_iqr(values_));
    if (window_.size() > window_max) window_.pop_front();
  }
  bool finished() const override {
    return window_.size() >= window_min && relative_stdev() < settled_stdev;
  }
  protocol::StopReason reason() const override { return protocol::StopReason::noise_settled; }

 private:
  double relative_stdev() const {
    double sum = 0;
    for (const double noise : window_) sum += noise;
    const double mean = sum / as_double(window_.size());
    if (mean <= 0) return 0;  // no noise at all
    double squares = 0;
    for (const double noise : window_) squares += (noise - mean) * (noise - mean);
    return std::sqrt(squares / as_double(window_.size() - 1)) / mean;
  }

  std::vector<double> values_;
  std::deque<double> window_;
};

}  // namespace

std::unique_ptr<StopRule> make_noise_settled() { return std::make_unique<NoiseSettled>(); }

}  // namespace halmark
