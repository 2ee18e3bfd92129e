// A whole layer stack that ran, against what its kernels predicted, and the energy that they drew.
#pragma once

#include "core/measured/validation.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

View validation_view(const Validation& validation);
std::string kernel_energy_text(const Evaluation& evaluation);  // a line; "" where nothing is known

}  // namespace halmark::report
