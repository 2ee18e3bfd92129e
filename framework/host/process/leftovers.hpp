// What supervisors that were killed left running, where their guards were killed too.
#pragma once

#include <cstdint>
#include <string>

namespace halmark {

// Numbers of processes say nothing outside of it.
std::uint64_t process_namespace();

// The environment entry by which everything below a contained process is recognised: names the
// process namespace, this process with its start time, and a random number.
std::string new_containment_tag();

// Ends processes that carry the tag of a supervisor of this process namespace that is no more, and
// nothing else; their number. A guard is left to its work.
int end_leftovers();

}  // namespace halmark
