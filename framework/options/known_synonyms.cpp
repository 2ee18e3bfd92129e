#include "options/known_synonyms.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "options/usage_error.hpp"

namespace halmark {
namespace {

// Words as vLLM, SGLang, TensorRT-LLM, llama.cpp and their benchmarks have them, and what commands
// here call the same; of several the first that the command has.
struct Synonyms {
  std::string_view words, names;  // each between spaces
};
constexpr std::array synonyms = {
    Synonyms{" gpu gpu-type accelerator hardware card target ", " device device-file "},
    Synonyms{" gpus num-gpus gpu-count n-gpus ngpus cards num-devices world-size ",
             " devices shards device "},
    Synonyms{" tensor-parallel-size tensor-parallel tp-size ", " tp shards "},
    Synonyms{" pipeline-parallel-size pipeline-parallel pp-size ", " pp "},
    Synonyms{" data-parallel-size data-parallel dp-size replicas ", " dp "},
    Synonyms{" expert-parallel-size expert-parallel ep-size ", " ep "},
    Synonyms{" isl prompt prompt-tokens prompt-len prompt-length input-len input-length "
             "random-input-len input-tokens ",
             " input new-tokens context "},
    Synonyms{" osl output-len output-length random-output-len output-tokens gen-len n-predict "
             "max-tokens max-new-tokens ",
             " output "},
    Synonyms{" quantization quant quantize weight-dtype weights-dtype torch-dtype ", " dtype "},
    Synonyms{" kv-cache-dtype kv-dtype cache-type-k ", " precision dtype "},
    Synonyms{" max-batch max-batch-size batch-size max-num-seqs max-running-requests bs ",
             " max-batch batch concurrency "},
    Synonyms{" users clients max-concurrency num-users parallel ", " users concurrency batch "},
    Synonyms{" qps rps request-rate requests-per-second ", " requests-per-s rate "},
    Synonyms{" max-model-len seq-len sequence-length ctx ctx-size context-length max-seq-len ",
             " context max-context sequence input "},
    Synonyms{" sla slo ", " slo ttft "},
    Synonyms{" cost usd price-per-hour ", " price "},
    Synonyms{" save output-file report ", " out "},
    Synonyms{" iters iterations repeats repeat num-iters ", " rounds "},
    Synonyms{" time duration min-time ", " seconds "}};

bool holds_word(std::string_view list, const std::string& word) {
  return list.find(' ' + word + ' ') != std::string_view::npos;
}

std::string did_you_mean(const std::string& text) { return "did you mean '" + text + "'?"; }

const CLI::Option* positional(const CLI::App& command) {
  const auto all =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  return all.empty() ? nullptr : all.front();
}

// "--m 64" or "--m=64" where parameters of the problem stand in --params.
std::string as_parameter(const std::string& option, const std::vector<std::string>& words) {
  for (const auto i : indices(words)) {
    if (!words[i].starts_with(option)) continue;
    std::string value = words[i].substr(option.size());
    if (value.empty() && i + 1 < words.size()) value = '=' + words[i + 1];
    const bool is_number =
        value.size() > 1 && value.front() == '=' &&
        (std::isdigit(static_cast<unsigned char>(value[1])) != 0 || value[1] == '[');
    if (is_number) return "--params " + option.substr(2) + value;
  }
  return {};
}

bool has_option(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw("--" + name) != nullptr;
}

std::string same_thing(const std::string& word, const CLI::App& command) {
  for (const Synonyms& row : synonyms) {
    if (!holds_word(row.words, word)) continue;
    for (std::string_view rest = row.names.substr(1); !rest.empty();) {
      const std::string name(rest.substr(0, rest.find(' ')));
      if (has_option(command, name)) return "--" + name;
      rest.remove_prefix(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

std::string meant_option(const std::string& option, const std::vector<std::string>& words,
                         const CLI::App& command, const std::vector<std::string>& known) {
  const std::string word = option.starts_with("--") ? option.substr(2) : option.substr(1);
  if (const std::string same = same_thing(word, command); !same.empty()) return did_you_mean(same);
  if (const CLI::Option* own = positional(command); own != nullptr && own->get_name(true) == word) {
    std::string shown = word;
    std::ranges::transform(shown, shown.begin(), [](unsigned char c) { return std::toupper(c); });
    return "it is a word without an option: " + path_of(command) + ' ' + shown;
  }
  if (option.starts_with("--") && has_option(command, "params")) {
    if (const std::string parameter = as_parameter(option, words); !parameter.empty()) {
      return did_you_mean(parameter);
    }
  }
  return nearest(option, known).empty() ? "see " + path_of(command) + " --help"
                                        : suggestion(option, known);
}

std::string meant_word(const std::string& word, const CLI::App& command) {
  const std::size_t equals = word.find('=');
  const bool is_parameter = equals != std::string::npos && equals > 0;
  if (is_parameter && has_option(command, "params")) return did_you_mean("--params " + word);
  if (!is_parameter && has_option(command, "op")) return did_you_mean("--op " + word);
  return {};
}

}  // namespace halmark
