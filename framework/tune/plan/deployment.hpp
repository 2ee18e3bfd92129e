// A point of a stored front with the facts of its model and device.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"

namespace halmark::tune {

// `number`: of the point, from 1. `checkpoint`: what an engine shall load; "" = the name that the
// model has on its hub. Throws Error (exit 2) for a point that is not there, and a model or device
// that is not known any more.
Deployment deployment_of(const SearchedFront& front, std::size_t number,
                         const std::string& checkpoint,
                         const std::vector<std::filesystem::path>& models,
                         const std::vector<std::filesystem::path>& devices);

}  // namespace halmark::tune
