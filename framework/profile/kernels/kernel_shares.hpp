// The work of an operator that several measured rows are, shared out among them.
#pragma once

#include "profile/kernels/kernel_binding.hpp"

namespace halmark {

// By the size of their products where all rows say it, otherwise by their launches. Never by their
// times: every row would show the same utilisation.
void share_work(const KernelLayer& layer, BoundLayer& bound);

}  // namespace halmark
