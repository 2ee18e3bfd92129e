// Measured layers and kernels beside the graph, as results/schema/model.md writes them.
#pragma once

#include <vector>

#include "core/json/json_type.hpp"
#include "profile/kernels/kernel_account.hpp"
#include "profile/kernels/layer_time.hpp"

namespace halmark {

Json kernels_json(const KernelAccount& account);
Json layers_json(const std::vector<LayerUse>& uses);

// Of the fastest possible time; nothing without a floor or a time.
std::optional<double> roofline_fraction(const AccountedKernel& row);

}  // namespace halmark
