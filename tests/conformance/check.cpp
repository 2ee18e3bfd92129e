#include "check.hpp"

#include "measure/campaign/gate/correctness.hpp"
#include "session.hpp"

namespace halmark::conformance {

protocol::Stage stage_request(const OpContract& contract, const Params& params,
                              const StageChoice& choice) {
  protocol::Stage request;
  request.id = next_id();
  request.kernel = choice.kernel;
  request.problem = {std::string(contract.name()), params};
  request.config = choice.config;
  request.mode = choice.mode;
  request.sets = choice.sets;
  request.seed = choice.seed;
  return request;
}

std::optional<protocol::Staged> stage(Worker& worker, const protocol::Stage& request) {
  auto staged = worker.stage(request);
  EXPECT_TRUE(staged) << request.problem.text() << " kernel '" << request.kernel << "' config '"
                      << request.config.text() << "': " << staged.failure.phase << ": "
                      << staged.failure.reason;
  return staged.value;
}

::testing::AssertionResult outputs_are_right(Worker& worker, const protocol::Stage& request,
                                             const protocol::Staged& staged,
                                             const std::vector<int>& sets) {
  auto shown = worker.reveal({request.id, sets});
  if (!shown) return ::testing::AssertionFailure() << "reveal: " << shown.failure.reason;
  const RevealedOutputs outputs{shown->revealed, shown->memory.view()};
  const auto result =
      check_outputs(*find_contract(request.problem.op), request.problem, request.seed, request.rank,
                    request.mode, staged.constants_shared, outputs, every_element_plan());
  if (result.ok) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << request.problem.text() << " kernel " << staged.kernel
                                       << " (" << staged.implementation.name << ") config '"
                                       << request.config.text() << "': " << result.reason;
}

std::vector<std::byte> output_bytes(Worker& worker, std::int64_t id, int set) {
  auto shown = worker.reveal({id, {set}});
  EXPECT_TRUE(shown) << shown.failure.reason;
  if (!shown) return {};
  std::vector<std::byte> bytes;
  for (const auto& part : shown->revealed.parts) {
    const auto view = shown->part(part);
    bytes.insert(bytes.end(), view.begin(), view.end());
  }
  return bytes;
}

protocol::SampleRequest counted(std::int64_t id, std::int64_t count, std::int64_t repeat) {
  protocol::SampleRequest request;
  request.id = id;
  request.rule.stop = protocol::Stop::count;
  request.rule.count = count;
  request.rule.min_samples = count;
  request.rule.max_samples = count;
  request.rule.repeat = repeat;
  request.rule.warmup_cap_s = 0;
  return request;
}

std::string title(const Problem& problem, const StageChoice& choice) {
  return problem.text() + (choice.kernel.empty() ? "" : " kernel " + choice.kernel) +
         (choice.config.params.empty() ? "" : " config " + choice.config.text());
}

std::vector<Params> a_few(const Combination& combination) {
  const auto& problems = combination.problems;
  if (problems.size() < 3) return problems;
  return {problems[problems.size() / 2], problems.back()};
}

}  // namespace halmark::conformance
