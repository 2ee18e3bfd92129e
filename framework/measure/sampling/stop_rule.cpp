#include "measure/sampling/stop_rule.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace halmark {
namespace {

// The rules that may end it, behind a minimum number of samples.
class FirstOf : public StopRule {
 public:
  FirstOf(const protocol::SampleRule& limits, std::vector<std::unique_ptr<StopRule>> rules)
      : limits_(limits), rules_(std::move(rules)) {}

  void start() override {
    samples_ = 0;
    shortest_ns_ = 0;
    for (auto& rule : rules_) rule->start();
  }
  void add(double interval_ns) override {
    shortest_ns_ = samples_ == 0 ? interval_ns : std::min(shortest_ns_, interval_ns);
    ++samples_;
    for (auto& rule : rules_) rule->add(interval_ns);
  }
  bool finished() const override { return fired() != nullptr; }
  std::string_view name() const override {
    const StopRule* rule = fired();
    return rule ? rule->name() : "auto";
  }

 private:
  const StopRule* fired() const {
    if (samples_ < min_samples_for(limits_, shortest_ns_)) return nullptr;
    for (const auto& rule : rules_) {
      if (rule->finished()) return rule.get();
    }
    return nullptr;
  }

  protocol::SampleRule limits_;
  std::vector<std::unique_ptr<StopRule>> rules_;
  std::int64_t samples_ = 0;
  double shortest_ns_ = 0;
};

using Maker = std::unique_ptr<StopRule> (*)(const protocol::SampleRule&);
struct Entry {
  std::string_view name;
  Maker make;
};
constexpr Entry rules[] = {
    {"ci_width", [](const protocol::SampleRule& r) { return make_ci_width(r.ci_half_width); }},
    {"noise_settled", [](const protocol::SampleRule&) { return make_noise_settled(); }},
    {"entropy", [](const protocol::SampleRule&) { return make_entropy(); }},
    {"budget", [](const protocol::SampleRule& r) { return make_budget(r.budget_s * 1e9); }},
};
constexpr std::string_view automatic[] = {"ci_width", "noise_settled", "budget"};

}  // namespace

std::int64_t min_samples_for(const protocol::SampleRule& rule, double interval_ns) {
  return interval_ns > slow_call_ns ? std::min(rule.min_samples, slow_call_samples)
                                    : rule.min_samples;
}

const std::vector<std::string>& stop_rule_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"auto", "count"};
    for (const Entry& entry : rules) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::unique_ptr<StopRule> make_stop_rule(const protocol::SampleRule& rule) {
  if (rule.stop == "count") return make_count(rule.count);
  const auto chosen = [&](std::string_view name) {
    return rule.stop == name ||
           (rule.stop == "auto" && std::ranges::find(automatic, name) != std::end(automatic));
  };
  std::vector<std::unique_ptr<StopRule>> parts;
  for (const Entry& entry : rules) {
    if (chosen(entry.name)) parts.push_back(entry.make(rule));
  }
  if (parts.empty()) {
    throw refused("unknown stop rule '" + rule.stop + "'" +
                  suggestion(rule.stop, stop_rule_names()));
  }
  return std::make_unique<FirstOf>(rule, std::move(parts));
}

}  // namespace halmark
