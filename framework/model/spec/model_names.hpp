// Names of a shipped model. A file has one configuration and answers to several names, some of
// checkpoints of their own: what was asked for keeps its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_type.hpp"

namespace halmark {

// Points count where they tell models apart (gpt-3-1.3b, gpt-3-13b).
enum class Points { kept, dropped };

// "Qwen/Qwen3-0.6B", "qwen3_0.6b" and "qwen3-0.6b" are one name; the organisation is dropped.
std::string normalised(std::string_view name, Points points);

// A name with words that change no shape: how it was tuned ("-Instruct", "-it"), when ("-2507"),
// how its weights are stored ("-FP8", "-AWQ"), whose it is ("Meta-").
struct PastedName {
  std::vector<std::string> shorter;  // the name without them, with most of its words first
  std::string precision;             // a recipe of precision_of, "fp8"; "" = no word says
  std::string of_file;               // "q6": a width without recipe, known from the weights alone
};
PastedName pasted_name(std::string_view name);

// Of `known`, those that begin as `name` does, the longest common beginning first; at most six,
// with commas between them.
std::string same_family(std::string_view name, const std::vector<std::string>& known);

// Of `known`, those that have the words of `name` in its order, of which one of letters alone may
// have a number behind it there ("qwen 72b" and qwen2.5-72b): the fewest further words first, of
// these the highest version.
std::vector<std::string> with_words_of(std::string_view name,
                                       const std::vector<std::string>& known);

// The id and the aliases of {"id", "aliases", "checkpoints", ...}, the id first.
std::vector<std::string> model_names(const Json& document);

// The one of the names that was asked for, as it is spelled there; a name of a hub as it was
// asked, whoever's it is. The first where nothing was asked for, as of a file.
std::string kept_name(const std::vector<std::string>& names, std::string_view asked);

// What an engine loads for a name: as "checkpoints" says, else the name itself where it is one of a
// hub, else that of the hub for the id. Another name stands for itself.
std::string checkpoint_name(const Json& document, const std::string& name);

}  // namespace halmark
