// Names who runs a trial so that others can tell whether it still lives.
#pragma once

#include <string>

namespace halmark {

// JSON text: host, boot, namespace, process number and its start, and which study of the process:
// another one on every call.
std::string this_worker();

// True only when the text names a process of this very machine and namespace that is gone. Of
// another machine nothing is known: there the lease decides.
bool is_known_dead(const std::string& worker);

}  // namespace halmark
