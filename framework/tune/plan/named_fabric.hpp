// The fabric that a sweep or a command names.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "plan/sweep.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::tune {

// What the command line says of it (--fabric) goes before what the sweep says; "" = it says
// nothing.
void take_fabric(Sweep& sweep, const std::string& name);

// Nothing where no name is given. `devices`: numbers that configurations may have. Throws Error
// (exit 2), at `where` unless the fabric's own file is at fault: no such fabric, a broken file, and
// one that has fewer devices than the largest of these numbers.
std::optional<fabric::Topology> named_fabric(const std::string& name, const std::string& where,
                                             std::span<const std::int64_t> devices,
                                             const std::vector<std::filesystem::path>& fabrics);

// The same of one configuration and the command line.
std::optional<fabric::Topology> named_fabric(const std::string& name,
                                             const Configuration& configuration,
                                             const std::vector<std::filesystem::path>& fabrics);

// SHA-256 of what prices follow from: every link with its figures, whatever the fabric is called.
std::string fabric_digest(const fabric::Topology& topology);

}  // namespace halmark::tune
