// The minimum of samples stands in front of every rule that looks at values: two equal samples look
// like a settled kernel to each of them.
#include "measure/sampling/stop_rule.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text/units.hpp"

namespace halmark {
namespace {

// The rules that may end it, behind a minimum number of samples.
class FirstOf : public StopRule {
 public:
  FirstOf(const protocol::SampleRule& limits, std::vector<std::unique_ptr<StopRule>> rules)
      : limits_(limits), rules_(std::move(rules)) {}

  void start() override {
    samples_ = clean_ = 0;
    shortest_ns_ = 0;
    for (auto& rule : rules_) rule->start();
  }
  void add(double interval_ns) override {
    count(interval_ns);
    ++clean_;
    for (auto& rule : rules_) rule->add(interval_ns);
  }
  void set_aside(double interval_ns) override {
    count(interval_ns);
    for (auto& rule : rules_) rule->set_aside(interval_ns);
  }
  bool finished() const override { return fired() != nullptr; }
  protocol::StopReason reason() const override {
    const StopRule* rule = fired();
    return rule ? rule->reason() : protocol::StopReason::none;
  }

 private:
  void count(double interval_ns) {
    shortest_ns_ = samples_ == 0 ? interval_ns : std::min(shortest_ns_, interval_ns);
    ++samples_;
  }
  // Without the minimum of clean samples the budget alone ends it.
  const StopRule* fired() const {
    const std::int64_t wanted = min_samples_for(limits_, shortest_ns_);
    if (samples_ < wanted) return nullptr;
    for (const auto& rule : rules_) {
      const bool may_end = clean_ >= wanted || rule->reason() == protocol::StopReason::budget;
      if (may_end && rule->finished()) return rule.get();
    }
    return nullptr;
  }

  protocol::SampleRule limits_;
  std::vector<std::unique_ptr<StopRule>> rules_;
  std::int64_t samples_ = 0, clean_ = 0;
  double shortest_ns_ = 0;
};

}  // namespace

std::int64_t min_samples_for(const protocol::SampleRule& rule, double interval_ns) {
  return interval_ns > slow_call_ns ? std::min(rule.min_samples, slow_call_samples)
                                    : rule.min_samples;
}

void add_labelled(StopRule& rule, SampleLabel label, double interval_ns) {
  if (label == SampleLabel::disturbed) {
    rule.set_aside(interval_ns);
  } else {
    rule.add(interval_ns);
  }
}

std::unique_ptr<StopRule> make_stop_rule(const protocol::SampleRule& rule) {
  switch (rule.stop) {
    case protocol::Stop::count:
      return make_count(rule.count);
    case protocol::Stop::automatic:
      break;
  }
  std::vector<std::unique_ptr<StopRule>> rules;  // the first that has finished gives the reason
  rules.push_back(make_ci_width(rule.ci_half_width));
  rules.push_back(make_noise_settled());
  rules.push_back(make_budget(rule.budget_s * ns_per_s));
  return std::make_unique<FirstOf>(rule, std::move(rules));
}

}  // namespace halmark
