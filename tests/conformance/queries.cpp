// supports() tells the truth, in both directions, and unknown names are refused.
#include <gmock/gmock.h>

#include "check.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

using ::testing::HasSubstr;

constexpr int hm_unsupported = 1;

void default_config_is_supported(Worker& worker, const OpUnderTest& op) {
  for (const auto& kernel : op.kernels) {
    for (const auto& combination : op.combinations) {
      const Problem problem{std::string(op.contract->name()), combination.problems.back()};
      const auto plain = worker.supports(kernel, problem, {Config{}});
      ASSERT_TRUE(plain) << plain.failure.reason;
      if (plain->status.front() != 0) continue;
      const auto domains = worker.domains(kernel, problem);
      ASSERT_TRUE(domains) << domains.failure.reason;
      Config defaults;
      for (const auto& domain : *domains) defaults.params.set(domain.name, domain.default_value);
      const auto answer = worker.supports(kernel, problem, {defaults});
      ASSERT_TRUE(answer) << answer.failure.reason;
      EXPECT_EQ(answer->status.front(), 0)
          << problem.text() << " " << defaults.text() << ": " << answer->reason.front();
    }
  }
}

void unknown_parameter_is_refused(Worker& worker, const OpUnderTest& op) {
  Config config;
  config.params.set("no_such_parameter", 1);
  for (const auto& kernel : op.kernels) {
    for (const auto& combination : op.combinations) {
      const Problem problem{std::string(op.contract->name()), combination.problems.back()};
      const auto answer = worker.supports(kernel, problem, {config});
      ASSERT_TRUE(answer) << answer.failure.reason;
      EXPECT_EQ(answer->status.front(), hm_unsupported) << problem.text();
      const auto plain = worker.supports(kernel, problem, {Config{}});
      if (plain && plain->status.front() == 0) {
        EXPECT_THAT(answer->reason.front(), HasSubstr("no_such_parameter")) << problem.text();
      }
      const auto staged =
          worker.stage(stage_request(*op.contract, problem.params, {kernel, config}));
      EXPECT_FALSE(staged) << problem.text();
    }
  }
}

// What is not supported says why and cannot be prepared either.
void refusals_have_reasons(Worker& worker, const OpUnderTest& op) {
  for (const auto& params : op.unsupported) {
    const Problem problem{std::string(op.contract->name()), params};
    const auto answer = worker.supports("", problem, {Config{}});
    ASSERT_TRUE(answer) << answer.failure.reason;
    EXPECT_EQ(answer->status.front(), hm_unsupported) << problem.text();
    EXPECT_FALSE(answer->reason.front().empty()) << problem.text();
    const auto staged = worker.stage(stage_request(*op.contract, params));
    EXPECT_FALSE(staged) << problem.text();
    EXPECT_EQ(staged.failure.status, Status::unsupported) << staged.failure.reason;
  }
}

void domains_hold_their_defaults(Worker& worker, const OpUnderTest& op) {
  for (const auto& kernel : op.kernels) {
    const Problem problem{std::string(op.contract->name()),
                          op.combinations.front().problems.back()};
    const auto supported = worker.supports(kernel, problem, {Config{}});
    ASSERT_TRUE(supported) << supported.failure.reason;
    if (supported->status.front() != 0) continue;
    const auto domains = worker.domains(kernel, problem);
    ASSERT_TRUE(domains) << domains.failure.reason;
    for (const auto& domain : *domains) {
      EXPECT_THAT(domain.values, ::testing::Contains(domain.default_value)) << domain.name;
      if (!domain.labels.empty()) {
        EXPECT_EQ(domain.labels.size(), domain.values.size()) << domain.name;
      }
    }
  }
}

void add(const PluginUnderTest& plugin, const DeviceUnderTest& device, const OpUnderTest& op,
         const std::string& name, void (*test)(Worker&, const OpUnderTest&)) {
  add_test(plugin, device, std::string(op.contract->name()) + "_" + name,
           [&plugin, &device, &op, test] {
             Worker* worker = open_worker(plugin, device);
             ASSERT_NE(worker, nullptr);
             test(*worker, op);
           });
}

}  // namespace

void register_queries(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  for (const auto& op : device.ops) {
    if (op.is_collective) continue;
    if (!op.unsupported.empty()) {
      add(plugin, device, op, "refusals_have_reasons_and_hold", refusals_have_reasons);
    }
    if (op.combinations.empty()) continue;
    add(plugin, device, op, "default_config_is_supported", default_config_is_supported);
    add(plugin, device, op, "unknown_parameter_is_refused", unknown_parameter_is_refused);
    add(plugin, device, op, "domains_hold_their_defaults", domains_hold_their_defaults);
  }
}

}  // namespace halmark::conformance
