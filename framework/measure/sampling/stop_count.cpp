// Exactly n samples, disturbed ones among them: reproducible, and ranks agree on n.
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

class Count : public StopRule {
 public:
  explicit Count(std::int64_t count) : count_(count) {}
  void start() override { samples_ = 0; }
  void add(double) override { ++samples_; }
  void set_aside(double) override { ++samples_; }
  bool finished() const override { return samples_ >= count_; }
  protocol::StopReason reason() const override { return protocol::StopReason::count; }

 private:
  std::int64_t count_;
  std::int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<StopRule> make_count(std::int64_t count) { return std::make_unique<Count>(count); }

}  // namespace halmark
