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
  std::string stated = {};    // precision of the checkpoint; "" = not known
  std::string narrow = {};    // a recipe of 4 bits beside the others; "" = none
  std::int64_t devices = 0;   // of the whole deployment
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::vector<std::int64_t> concurrency = {};  // none = powers of two
  std::string ttft = {}, tpot = {};            // "1s", "30ms"; "" = no level
  std::vector<std::string> dtypes = {};        // recipes; none = the usual ones
};

// The first option of a model that was stated, "--input"; "" = none was.
std::string stated_option(const AskedSweep& asked);

// Puts what is usual where nothing is stated: one device, 1,000 tokens of prompt and 200 of answer.
// What was put there and which options state it, in one line; "" = nothing.
std::string take_usual(AskedSweep& asked);

// Those that are stated, else of the usual ones those that the device computes in, that of the
// checkpoint first.
std::vector<std::string> usual_precisions(const AskedSweep& asked, const Device& device);

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
// Throws Error (exit 2) for words that no sweep can be made of.
std::string asked_sweep_text(const AskedSweep& asked, const Device& device);

}  // namespace halmark
