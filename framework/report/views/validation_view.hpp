// A whole layer stack that ran, against what its kernels predicted.
#pragma once

#include "core/measured/validation.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

View validation_view(const Validation& validation);

}  // namespace halmark::report
