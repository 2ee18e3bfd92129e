// What a campaign will cost before it starts, so that a plan can be trimmed to its budget.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/kernel_case.hpp"
#include "host/protocol.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/case_group.hpp"

namespace halmark {

// Orientation figures; predictions are upper-side guesses, never results.
struct CostPriors {
  double worker_start_s = 0.05;        // spawn, load, open, first library calls
  double group_start_s = 0.15;         // mpirun and MPI_Init of every rank
  double gate_s = 0.012;               // stage, reveal, checks, probes of one trial
  double pack_bytes_per_s = 1.5e9;     // generating, packing and copying one set
  double page_bytes_per_s = 4e8;       // faulting in fresh memory, once
  double stacked_gate_s = 0.005;       // stage and check one kernel of a stack
  double bandwidth_bytes_per_s = 8e9;  // where no peak is known
  double flops_per_s = 3e10;
};

struct CampaignCost {
  double seconds = 0;
  std::vector<double> case_seconds;  // one round of each case, in the order given
  ArenaNeed memory;                  // of argument sets
};

// Expected kernel time: the bound at `device` (null = what the priors give) over an efficiency
// prior of its op. Throws Error (exit 2) for a problem that its contract refuses.
double predicted_kernel_ns(const KernelCase& kernel_case, const Device* device, int threads,
                           const CostPriors& priors = {});

// All rounds of all cases, grouped as the campaign groups them (one start per group and round; one
// stack for all cases that stand in it, which share its seconds).
CampaignCost predict_cost(std::span<const KernelCase> cases, int rounds,
                          const protocol::SampleRule& rule, const Device* device,
                          int device_threads, const StacksOf& stacks_of = {},
                          const CostPriors& priors = {});

}  // namespace halmark
