// Where a runtime may lie: the user's word, the loader's folders, the Python environment in PATH.
#pragma once

#include <string>
#include <vector>

namespace hm_openvino {

// Files to try in this order. HALMARK_OPENVINO (a library, its folder, or the package's folder)
// excludes all others: a wrong word is refused, never passed over.
std::vector<std::string> library_candidates();

}  // namespace hm_openvino
