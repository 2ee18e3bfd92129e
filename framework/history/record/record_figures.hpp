// Figures of a record, each from the samples that it keeps.
#pragma once

#include <span>
#include <vector>

#include "core/dtype.hpp"
#include "core/measured/machine_record.hpp"

namespace halmark::history {

// `samples` of the counted ones at most, evenly spaced, in six digits.
RecordRound record_round(const Measurement& row, std::size_t samples);
// Time, interval and power of its rounds, as every reader folds rows.
void fold_rounds(RecordKernel& kernel);
// Of one class: op, dtype and shapes are the first kernel's. There has to be one.
RecordSum record_sum(std::span<const RecordKernel> kernels);
RecordStep record_step(const Configuration& configuration, std::span<const double> step_ns);
Dtype compute_dtype_of(const Problem& problem);

}  // namespace halmark::history
