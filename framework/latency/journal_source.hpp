// What this device measured in an earlier run, as times of problems: no kernel is measured again.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/latency_point.hpp"
#include "latency/problem_source.hpp"

namespace halmark {

class JournalSource final : public ProblemSource {
 public:
  // `rows` of one run on `device`. Only those of the whole device with constants read cold count,
  // as a step meets them; of several variants of a problem the fastest that can be true. `name`:
  // the file, for reasons.
  JournalSource(std::span<const Measurement> rows, const Device& device, std::string name);

  using ProblemSource::latency;
  // Provenance measured. The bound is that of the case that was measured, with its ring of
  // arguments, at the peaks of `device`.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

  std::size_t size() const { return times_.size(); }
  std::vector<LatencyPoint> points() const;  // of all problems whose time can be true

 private:
  std::map<Problem, Latency> times_;
};

}  // namespace halmark
