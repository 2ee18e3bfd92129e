// Enough time was spent inside samples: screening many kernels has to end. Disturbed samples are
// replaced for at most the budget once more.
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

class Budget : public StopRule {
 public:
  explicit Budget(double budget_ns) : budget_ns_(budget_ns) {}
  void start() override { clean_ns_ = spent_ns_ = 0; }
  void add(double interval_ns) override {
    clean_ns_ += interval_ns;
    spent_ns_ += interval_ns;
  }
  void set_aside(double interval_ns) override { spent_ns_ += interval_ns; }
  bool finished() const override { return clean_ns_ >= budget_ns_ || spent_ns_ >= 2 * budget_ns_; }
  protocol::StopReason reason() const override { return protocol::StopReason::budget; }

 private:
  double budget_ns_;
  double clean_ns_ = 0, spent_ns_ = 0;
};

}  // namespace

std::unique_ptr<StopRule> make_budget(double budget_ns) {
  return std::make_unique<Budget>(budget_ns);
}

}  // namespace halmark
