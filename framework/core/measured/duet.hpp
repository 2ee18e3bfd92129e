// Duet: two builds that took turns on one kernel, on the same inputs, within a second of each
// other. What the machine did to one it did to the other, so that only their ratio counts.
#pragma once

#include <string>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/kernel_case.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

// Smaller changes of a time are no news, unless a user says otherwise.
inline constexpr double news_floor = 0.03;

// Of the interval that shows two builds to be equal, where it lies within the floor.
inline constexpr double duet_same_p = 0.05;

struct Duet {
  KernelCase kernel_case;
  std::string plugin_name;
  std::string old_build, new_build;  // ids of kept builds, or how the user named them
  // ln(time of the new build / time of the old one): one figure per pair of fresh processes, the
  // median over their turns.
  std::vector<double> log_ratios;
  // Of these, how many chose the kernel among others: the rest confirms it. 0 = nothing was chosen.
  int choosing_pairs = 0;
  double old_ns = 0, new_ns = 0;  // medians over the pairs; 0 without any
  Status status = Status::ok;     // of the pair that ended the duet
  std::string reason;
  bool is_new_at_fault = false;  // the new build ended it, after the old one had computed
};
template <class V, Of<Duet> M>
void fields(V& v, M& m) {
  v("case", m.kernel_case);
  v("plugin", m.plugin_name);
  v("old_build", m.old_build);
  v("new_build", m.new_build);
  v("log_ratios", m.log_ratios);
  v("choosing_pairs", m.choosing_pairs);
  v("old_ns", m.old_ns);
  v("new_ns", m.new_ns);
  v("status", m.status);
  v("reason", m.reason);
  v.unless_default("is_new_at_fault", m.is_new_at_fault);
}

// Whether pairs that choose moved it by half of the floor or more, or those behind them leave open
// whether it reaches the floor; 60 pairs at most.
bool wants_more_pairs(const Duet& duet, double floor);

}  // namespace halmark
