// Steps of engines beside the results database: one JSON file per import, in a folder of its own.
#pragma once

#include <string>
#include <vector>

#include "core/measured/engine_step.hpp"

namespace halmark::deploy {

// "results.db.engines".
std::string engine_folder(const std::string& database);

// Writes a file of its own, by a temporary name and a rename; its path. The same steps of the same
// file are stored once. Throws Error (exit 1) where it cannot be written.
std::string keep_import(const std::string& database, const EngineImport& imported);

// Oldest first; none where the folder is absent. Throws Error (exit 2) for a file in it that
// cannot be read, or whose steps are not those that were stored.
std::vector<EngineImport> stored_imports(const std::string& database);

}  // namespace halmark::deploy
