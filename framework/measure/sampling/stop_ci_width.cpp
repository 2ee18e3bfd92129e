// The distribution-free 95 % interval of the median is narrow enough.
#include <vector>

#include "core/numeric/statistics.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

class CiWidth : public StopRule {
 public:
  explicit CiWidth(double half_width) : half_width_(half_width) {}
  void start() override { values_.clear(); }
  void add(double interval_ns) override { values_.push_back(interval_ns); }
  bool finished() const override {
    if (values_.empty()) return false;
    // Below 6 samples no pair of ranks reaches 95 %: a small range there is luck, not knowledge.
    const MedianInterval estimate = median_interval(values_);
    const double centre = median(values_);
    const double half = (estimate.interval.high - estimate.interval.low) / 2;
    return estimate.is_95_percent && centre > 0 && half <= half_width_ * centre;
  }
  protocol::StopReason reason() const override { return protocol::StopReason::ci_width; }

 private:
  double half_width_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<StopRule> make_ci_width(double half_width) {
  return std::make_unique<CiWidth>(half_width);
}

}  // namespace halmark
