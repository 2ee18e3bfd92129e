// Collectives on every rank against the reference, in groups of real ranks.
#include <set>

#include "check.hpp"
#include "host/group.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

// Stages `params` on all ranks at once. Empty when a rank refused; says so unless it was
// unsupported.
std::vector<protocol::Staged> stage_all(const std::vector<Worker*>& workers,
                                        std::vector<protocol::Stage>& requests,
                                        bool& is_unsupported) {
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    workers[rank]->begin_stage(requests[rank]);
  }
  std::vector<protocol::Staged> staged;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const auto answer = workers[rank]->finish_stage();
    if (answer) {
      staged.push_back(*answer);
      continue;
    }
    is_unsupported = answer.failure.status == Status::unsupported;
    if (!is_unsupported) {
      ADD_FAILURE() << requests[rank].problem.text() << " rank " << rank << ": "
                    << answer.failure.reason;
    }
  }
  if (staged.size() != workers.size()) staged.clear();
  return staged;
}

void sample_all(const std::vector<Worker*>& workers, const std::vector<protocol::Stage>& requests) {
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    workers[rank]->begin_sample(counted(requests[rank].id, 3, 2));
  }
  for (auto* worker : workers) {
    const auto answer = worker->finish_sample();
    EXPECT_TRUE(answer) << answer.failure.reason;
    EXPECT_EQ(answer ? answer->samples.size() : 0u, 3u);
  }
}

// Right after the first call and right after sampling, on every rank. Gives whether it ran.
bool check_one(const std::vector<Worker*>& workers, const OpContract& contract,
               const Params& params) {
  std::vector<protocol::Stage> requests;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    requests.push_back(stage_request(contract, params));
    requests.back().rank = static_cast<int>(rank);
    requests.back().ranks = static_cast<int>(workers.size());
  }
  bool is_unsupported = false;
  const auto staged = stage_all(workers, requests, is_unsupported);
  if (staged.empty()) return false;
  for (const bool is_sampled : {false, true}) {
    if (is_sampled) sample_all(workers, requests);
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
      EXPECT_TRUE(outputs_are_right(*workers[rank], requests[rank], staged[rank], {0}))
          << "rank " << rank << (is_sampled ? " after sampling" : " after the first call");
    }
  }
  for (std::size_t rank = 0; rank < workers.size(); ++rank) workers[rank]->drop(requests[rank].id);
  return true;
}

void every_rank(const PluginUnderTest& plugin, const DeviceUnderTest& device, const OpUnderTest& op,
                const Combination& combination) {
  if (find_mpirun().empty()) GTEST_SKIP() << "mpirun is not installed (apt: openmpi-bin)";
  int checked = 0;
  std::set<std::int64_t> sizes;
  for (const auto& params : combination.problems) sizes.insert(params.at("ranks"));
  for (const auto ranks : sizes) {
    const auto workers = open_group(plugin, device, static_cast<int>(ranks));
    if (workers.empty()) continue;
    for (const auto& params : combination.problems) {
      if (params.at("ranks") == ranks) checked += check_one(workers, *op.contract, params);
    }
  }
  if (checked == 0 && !::testing::Test::HasFailure()) GTEST_SKIP() << "unsupported in this dtype";
}

}  // namespace

void register_collectives(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  for (const auto& op : device.ops) {
    if (!op.is_collective) continue;
    for (const auto& combination : op.combinations) {
      add_test(
          plugin, device,
          std::string(op.contract->name()) + "_" + combination.dtypes +
              "_every_rank_equals_the_reference",
          [&plugin, &device, &op, &combination] { every_rank(plugin, device, op, combination); });
    }
  }
}

}  // namespace halmark::conformance
