// Device files judged one by one: what `halmark doctor --devices` prints.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace halmark {

struct DeviceJudgement {
  std::size_t errors = 0;
  Json data;         // {"files", "errors", "findings"}
  std::string text;  // one line per finding, and their count
};

// The files and folders of `paths`, or without any the known ones of `folders`; each is judged
// against those of `folders`. Throws Error (exit 2) for a file that cannot be read and a folder
// without a device file.
DeviceJudgement judge_devices(const std::vector<std::string>& paths,
                              const std::vector<std::filesystem::path>& folders);

}  // namespace halmark
