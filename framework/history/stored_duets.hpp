// Pairs of builds over the nights: of each kernel all of the last change of build, as one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/measured/duet.hpp"
#include "history/nights.hpp"
#include "journal/store.hpp"

namespace halmark::history {

struct PooledDuet {
  std::int64_t first_run = 0, last_run = 0;
  Duet duet;  // pairs that chose the kernel first, of all its nights
};
// By the key of the kernel, over these runs (oldest first); of a run the last one. Another pair of
// builds starts again at zero, and so does what comes behind a duet that ended with a fault.
std::map<std::string, PooledDuet> pooled_duets(const Store& store,
                                               std::span<const std::int64_t> runs);

// The build of the latest of these runs that states one, and the one before it ("" = there was no
// other). It has returned where it ran before that one, too.
struct BuildChange {
  std::string old_build, new_build;  // ids of kept builds
  std::int64_t run = 0;              // the first of the new one
  bool has_returned = false;
};
BuildChange last_build_change(const Store& store, std::span<const std::int64_t> runs);

// Whether the pairs are of that build.
bool is_of_build(const Duet& duet, const std::string& build);

// SAME, SLOWER, FASTER or FAILED: no further pair is needed.
bool is_decided(const Duet& duet, double floor);

}  // namespace halmark::history
