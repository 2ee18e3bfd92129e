// A served search that a person asks for in words, as the sweep file that it stands for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"

namespace halmark {

struct AskedSweep {
  std::string model, device;  // as they were named
  std::string stated = {};    // precision of the checkpoint, by name; "" = it is not known
  std::int64_t devices = 1;   // of the whole deployment
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::string ttft, tpot;  // "1s", "30ms"; "" = no level
};

// Whether the word stands for a file, or with "-" for a pipe, and for no model.
bool is_sweep_file(std::string_view word);

// A shipped sweep by its name, "quickstart": its file in the first of the folders that has it; any
// other word as it is.
std::string named_sweep(const std::string& word, const std::vector<std::filesystem::path>& folders);

// Throws Error (exit 2), naming `where`, for what is no duration: a number and ns, us, ms or s.
double parse_duration_ns(std::string_view text, const std::string& where);

// "qwen3-235b-a22b-8x-h200": of letters, digits, '.', '-' and '_'.
std::string asked_name(const AskedSweep& asked);

// TOML that read_sweep takes, each value that was not asked for with the reason why it is there.
std::string asked_sweep_text(const AskedSweep& asked, const Device& device);
// The same with the device looked up. Throws Error (exit 2) for words that no sweep can be made of.
std::string asked_sweep_text(const AskedSweep& asked,
                             const std::vector<std::filesystem::path>& devices);

}  // namespace halmark
