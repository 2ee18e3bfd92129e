// A launch as files: a script that starts the servers, and what the engine reads beside it.
#pragma once

#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "export/engine/launch.hpp"
#include "export/text_file.hpp"

namespace halmark::exports {

// Comment lines without their mark: the point, its forecast, and whose forecast it is not.
std::vector<std::string> deployment_lines(const Deployment& deployment, const Launch& launch);

// "launch.sh" first; then the file of options, or the flags as a file where the engine reads one.
std::vector<TextFile> launch_files(const Deployment& deployment, const Launch& launch);
// Words of the command of one server, `index` from 0.
std::vector<std::string> server_words(const Launch& launch, int index);

Json launch_json(const Deployment& deployment, const Launch& launch);

}  // namespace halmark::exports
