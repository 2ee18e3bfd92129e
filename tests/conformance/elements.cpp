// Every element of every shape, for every kernel of an op, in its default config and in values of
// each of its parameters.
#include <algorithm>

#include "check.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

Config default_config(const std::vector<protocol::DomainDescription>& domains) {
  Config config;
  for (const auto& domain : domains) config.params.set(domain.name, domain.default_value);
  return config;
}

// Beside defaults: each value of every parameter, or those at the ends of one, in turns.
struct Tried {
  bool has_each = true;
  std::size_t turn = 0;
};

std::vector<std::int64_t> others(const protocol::DomainDescription& domain, bool each) {
  std::vector<std::int64_t> out;
  std::ranges::copy_if(domain.values, std::back_inserter(out),
                       [&](std::int64_t value) { return value != domain.default_value; });
  if (!each && out.size() > 2) return {out.front(), out.back()};
  constexpr std::size_t values_max = 8;  // of a long domain
  const std::size_t step = 1 + domain.values.size() / values_max;
  std::vector<std::int64_t> few;
  for (std::size_t i = 0; i < out.size(); i += step) few.push_back(out[i]);
  return few;
}

// Defaults first, unnamed and named, then one parameter changed at a time.
std::vector<Config> variants(Worker& worker, const std::string& kernel, const Problem& problem,
                             const Tried& tried) {
  const auto domains = worker.domains(kernel, problem);
  EXPECT_TRUE(domains) << domains.failure.reason;
  std::vector<Config> configs{Config{}};
  if (!domains || domains->empty()) return configs;
  configs.push_back(default_config(*domains));
  for (std::size_t d = 0; d < domains->size(); ++d) {
    if (!tried.has_each && d != tried.turn % domains->size()) continue;
    const auto& domain = (*domains)[d];
    for (const std::int64_t value : others(domain, tried.has_each)) {
      configs.push_back(configs[1]);
      configs.back().params.set(domain.name, value);
    }
  }
  return configs;
}

bool is_supported(Worker& worker, const std::string& kernel, const Problem& problem,
                  const Config& config) {
  const auto answer = worker.supports(kernel, problem, {config});
  EXPECT_TRUE(answer) << answer.failure.reason;
  return answer && answer->status.size() == 1 && answer->status.front() == 0;
}

// Gives whether the kernel took the problem. What it says it supports must work.
bool check_one(Worker& worker, const OpContract& contract, const Params& params,
               const StageChoice& choice) {
  const Problem problem{std::string(contract.name()), params};
  if (!is_supported(worker, choice.kernel, problem, choice.config)) return false;
  const auto request = stage_request(contract, params, choice);
  const auto staged = stage(worker, request);
  if (!staged) return true;
  EXPECT_FALSE(staged->implementation.name.empty()) << title(problem, choice);
  EXPECT_TRUE(outputs_are_right(worker, request, *staged, {0}));
  worker.drop(request.id);
  return true;
}

void every_element(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                   const OpUnderTest& op, const Combination& combination, const Tried& tried) {
  int checked = 0;
  for (const auto& kernel : op.kernels) {
    for (std::size_t i = 0; i < combination.problems.size(); ++i) {
      Worker* worker = open_worker(plugin, device);
      ASSERT_NE(worker, nullptr);
      const auto& params = combination.problems[i];
      checked += check_one(*worker, *op.contract, params, {.kernel = kernel});
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (const auto& params : a_few(combination)) {
      Worker* worker = open_worker(plugin, device);
      ASSERT_NE(worker, nullptr);
      const Problem problem{std::string(op.contract->name()), params};
      if (!is_supported(*worker, kernel, problem, Config{})) continue;
      for (const auto& config : variants(*worker, kernel, problem, tried)) {
        check_one(*worker, *op.contract, params, {.kernel = kernel, .config = config});
      }
    }
  }
  EXPECT_GE(checked, static_cast<int>(combination.problems.size()))
      << "each problem was said to be supported by some kernel";
}

}  // namespace

// A device that works alone compiles each value: a second of PoCL. Each is tried with the first
// combination of dtypes, and one parameter's ends with every other.
void register_elements(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                       bool is_thorough) {
  for (const auto& op : device.ops) {
    if (op.is_collective) continue;
    for (const auto& combination : op.combinations) {
      const auto name = std::string(op.contract->name()) +
                        (combination.dtypes.empty() ? "" : "_" + combination.dtypes) +
                        "_every_element_equals_the_reference";
      const auto turn = static_cast<std::size_t>(&combination - op.combinations.data());
      const Tried tried{is_thorough || turn == 0 || device.description.synchronous, turn};
      add_test(plugin, device, name, [&plugin, &device, &op, &combination, tried] {
        every_element(plugin, device, op, combination, tried);
      });
    }
  }
}

}  // namespace halmark::conformance
