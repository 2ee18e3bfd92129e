// When to stop sampling, one file per rule. The first rule that fires is recorded. A rule looks at
// clean samples; one that was set aside has only cost its time.
#pragma once

#include <cstdint>
#include <memory>

#include "host/protocol.hpp"

namespace halmark {

class StopRule {
 public:
  virtual ~StopRule() = default;
  virtual void start() = 0;                  // forgets earlier samples
  virtual void add(double interval_ns) = 0;  // one sample: the whole interval, all repeats
  virtual void set_aside(double) {}          // one sample that others disturbed
  virtual bool finished() const = 0;
  virtual protocol::StopReason reason() const = 0;  // meaningful once it has finished
};

// At least 10 samples per process, but 3 where one call takes longer than this: the rounds carry
// the uncertainty of slow kernels.
inline constexpr double slow_call_ns = 50e6;
inline constexpr std::int64_t slow_call_samples = 3;
std::int64_t min_samples_for(const protocol::SampleRule& rule, double interval_ns);

// A rule hears of a sample by its label.
void add_labelled(StopRule& rule, SampleLabel label, double interval_ns);

// Stop::automatic is the first of ci_width, noise_settled and budget once the minimum of clean
// samples is there. Where they do not come, twice the budget ends it.
std::unique_ptr<StopRule> make_stop_rule(const protocol::SampleRule& rule);

// One constructor per rule; their files hold the definitions.
std::unique_ptr<StopRule> make_ci_width(double half_width);
std::unique_ptr<StopRule> make_noise_settled();
std::unique_ptr<StopRule> make_count(std::int64_t count);
std::unique_ptr<StopRule> make_budget(double budget_ns);

}  // namespace halmark
