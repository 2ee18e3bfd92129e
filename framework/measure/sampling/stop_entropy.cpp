// New samples no longer change the shape of the histogram: the entropy curve is flat. Thresholds as
// in nvbench (angle 0.048 degrees, r2 0.36, 299 values).
#include <cmath>
#include <deque>
#include <map>
#include <numbers>

#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

constexpr std::size_t window_max = 299;
constexpr std::size_t window_min = 16;
constexpr double angle_max_degrees = 0.048;
constexpr double r2_min = 0.36;
// Raw nanoseconds are all distinct; bins of 0.5 % of the first sample make repetition visible.
constexpr double bin_share = 0.005;

class Entropy : public StopRule {
 public:
  void start() override {
    counts_.clear();
    window_.clear();
    samples_ = 0;
  }
  void add(double interval_ns) override {
    if (samples_ == 0) bin_ns_ = std::max(1.0, interval_ns * bin_share);
    ++counts_[std::llround(interval_ns / bin_ns_)];
    ++samples_;
    window_.push_back(entropy());
    if (window_.size() > window_max) window_.pop_front();
  }
  bool finished() const override {
    if (window_.size() < window_min) return false;
    const Line line = fit();
    const double angle = std::atan(std::abs(line.slope)) * 180 / std::numbers::pi;
    return angle <= angle_max_degrees && line.r2 >= r2_min;
  }
  std::string_view name() const override { return "entropy"; }

 private:
  struct Line {
    double slope, r2;
  };

  double entropy() const {
    double bits = 0;
    for (const auto& [bin, count] : counts_) {
      const double p = static_cast<double>(count) / static_cast<double>(samples_);
      bits -= p * std::log2(p);
    }
    return bits;
  }

  // Least squares of entropy over sample number.
  Line fit() const {
    const double n = static_cast<double>(window_.size());
    const double mean_x = (n - 1) / 2;
    double mean_y = 0;
    for (const double y : window_) mean_y += y / n;
    double xx = 0, xy = 0, yy = 0, x = 0;
    for (const double y : window_) {
      xx += (x - mean_x) * (x - mean_x);
      xy += (x - mean_x) * (y - mean_y);
      yy += (y - mean_y) * (y - mean_y);
      x += 1;
    }
    if (yy == 0) return {0, 1};  // a constant is explained completely
    return {xy / xx, xy * xy / (xx * yy)};
  }

  std::map<long long, std::int64_t> counts_;
  std::deque<double> window_;
  std::int64_t samples_ = 0;
  double bin_ns_ = 1;
};

}  // namespace

std::unique_ptr<StopRule> make_entropy() { return std::make_unique<Entropy>(); }

}  // namespace halmark
