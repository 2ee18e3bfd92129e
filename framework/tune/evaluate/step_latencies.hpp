// Times of the operators of one step, from the sources that a user names, for a simulation of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step/priced_step.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

class StepLatencies {
 public:
  // `sources`: as --latency has them; none = the roofline of the step's device. Collectives go over
  // `topology` where nothing more trusted knows them. Refers to the step. Throws Error (exit 2) as
  // priced_latencies does.
  StepLatencies(const PricedStep& step, const std::vector<std::string>& sources,
                const std::vector<std::filesystem::path>& devices,
                const fabric::Topology& topology);

  std::optional<Latency> of_operator(std::size_t index) const;
  std::optional<Latency> of_collective(const Problem& problem, const Work& work,
                                       std::int64_t stride) const {
    return priced_.chain.latency(problem, work, stride);
  }
  const std::vector<std::string>& sources() const { return priced_.sources; }  // one line each

 private:
  const PricedStep& step_;
  PricedLatencies priced_;
};

}  // namespace halmark::tune
