// Replicas for a served load: the number of devices of each that needs the fewest in all.
#pragma once

#include <vector>

#include "model/sizing/job_size.hpp"
#include "tune/sizing/unit_load.hpp"

namespace halmark::tune {

struct ReplicaChoice {
  UnitChoice unit;
  std::vector<std::int64_t> tp;      // that are tried; none: 1, 2, 4, 8, 16
  std::vector<ServiceLevel> levels;  // none: 20 tokens/s a user
};

// Throws Error (exit 2) where no number of devices serves the requests within the levels.
Replica replica_for(const Job& job, const ModelSpec& spec, const Device& device,
                    const ReplicaChoice& choice, const Folders& devices);

}  // namespace halmark::tune
