// A problem of an op for who names none, and the words that say it.
#pragma once

#include <optional>
#include <string>

#include "kernels/contract.hpp"

namespace halmark {

std::string value_text(const ParamSpec& spec, std::int64_t value);  // "f32", "1024"

// The largest of those that the conformance suite runs, complete. Nothing where it runs none.
std::optional<Params> example_of(const OpContract& op);

// `given`, with what it leaves out as in a layer of a model where the op takes such sizes, else as
// in the example. Complete. Nothing where that is no problem of the op.
std::optional<Params> usual_problem(const OpContract& op, const Params& given);

// What has to be given beside types, and is not.
std::vector<const ParamSpec*> missing_of(const OpContract& op, const Params& given);

// A complete problem as options of halmark bench.
struct ProblemWords {
  std::string params, dtype;  // "m=1024,n=1024,k=1024", "f32"
  std::string text() const { return "--params " + params + " --dtype " + dtype; }
};
ProblemWords words_of(const OpContract& op, const Params& params);

}  // namespace halmark
