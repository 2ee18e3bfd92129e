// The CPUs of this process. Set before a plugin loads, because its threads inherit them.
#pragma once

#include <vector>

namespace halmark::worker {

// Throws std::system_error when the kernel refuses.
void bind_to(const std::vector<int>& cpus);

}  // namespace halmark::worker
