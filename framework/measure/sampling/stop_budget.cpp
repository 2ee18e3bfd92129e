// Enough time was spent inside samples: screening many kernels has to end.
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

class Budget : public StopRule {
 public:
  explicit Budget(double budget_ns) : budget_ns_(budget_ns) {}
  void start() override { spent_ns_ = 0; }
  void add(double interval_ns) override { spent_ns_ += interval_ns; }
  bool finished() const override { return spent_ns_ >= budget_ns_; }
  protocol::StopReason reason() const override { return protocol::StopReason::budget; }

 private:
  double budget_ns_;
  double spent_ns_ = 0;
};

}  // namespace

std::unique_ptr<StopRule> make_budget(double budget_ns) {
  return std::make_unique<Budget>(budget_ns);
}

}  // namespace halmark
