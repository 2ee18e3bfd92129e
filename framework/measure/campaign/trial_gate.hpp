// What one trial compares with the contract's reference: the first outputs, those that the workers
// kept while they sampled, and slots that are revealed behind the loop. Each method gives false
// when the trial has ended, with status and reason in the row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract.hpp"
#include "measure/campaign/gate/correctness.hpp"
#include "measure/campaign/gate/kept_check.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {

// What is to be measured, as every shard staged it.
struct StagedTrial {
  Problem problem;  // complete
  const OpContract* contract = nullptr;
  std::vector<protocol::Staged> shards;
  int sets = 1;  // of the shard that holds the fewest
};

// A request to stage `problem` as the row's kernel case has it.
protocol::Stage stage_request(std::int64_t id, const Problem& problem, const KernelCase&,
                              const TrialOptions&, int ranks);

// Drawn by the system when it is needed, so that nothing that ran before can have known it.
std::uint64_t fresh_seed();

// In medians: what may take longer on new inputs is timed on the same ones again.
inline constexpr double longest_plain_execution = 1.5;
// The signal of the shard that new inputs cost most.
void keep_most(std::vector<Signal>& signals, std::optional<double> new_inputs_cost);

bool end(Measurement& row, Status status, std::string reason);
bool end(Measurement& row, const WorkerFailure& failure);

class TrialGate {
 public:
  static constexpr std::int64_t stage_id = 1;

  TrialGate(Crew& crew, const TrialOptions& options, GateHistory& history,
            const StagedTrial& staged, Measurement& row)
      : crew_(crew), options_(options), history_(history), staged_(staged), row_(row) {}

  // The first outputs of every shard, and the twin.
  bool first();
  // Of each shard what it kept; the seed of the elements that are looked at is drawn now.
  bool kept(std::span<const std::vector<KeptSeries>> of_shards);
  // Two slots of each shard: what the loop wrote into one, and the answer of another to inputs that
  // it has not seen, because every set may have the same answer, kept since the first call.
  // `written`: ShardSeries::written_sets.
  bool after_loop(std::span<const std::vector<int>> written);

 private:
  bool check_revealed(std::span<const int> sets, const CheckPlan& plan,
                      std::optional<int> inputs_from = std::nullopt,
                      std::vector<RevealAnswer>* keep = nullptr);
  StagedInputs inputs_of(std::size_t rank) const;
  SetValues values_of(std::size_t rank) const;
  RevealedOutputs first_of(std::size_t rank) const;
  bool equals_first(const RevealAnswer& shown, StagedInputs& inputs, std::size_t rank);
  CorrectnessResult compare(const RevealAnswer& shown, StagedInputs& inputs, const Problem& problem,
                            int rank, const CheckPlan& plan) const;
  bool accept(const CorrectnessResult& result);
  bool twin();
  std::string dtypes_text() const;
  int written_slot(std::span<const int> written, std::size_t rank, std::uint64_t seed,
                   std::optional<int> taken) const;
  bool can_execute_afresh() const;
  void discard_times();

  Crew& crew_;
  const TrialOptions& options_;
  GateHistory& history_;
  const StagedTrial& staged_;
  Measurement& row_;
  std::vector<RevealAnswer> first_;  // of set 0, per shard, as it was accepted
  std::uint64_t after_seed_ = 0;
};

}  // namespace halmark
