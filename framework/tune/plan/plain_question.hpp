// A question in words instead of a command: known models, devices, counts and lengths in it, and
// the line to type. Rules alone; nothing is guessed beyond what they find.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::tune {

// "halmark model llama-3.3-70b --device rtx-4090 --devices 2"; "" where no rule finds enough.
std::string command_for(std::string_view question, const std::vector<std::filesystem::path>& models,
                        const std::vector<std::filesystem::path>& devices);

}  // namespace halmark::tune
