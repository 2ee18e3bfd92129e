// Keys of search spaces and of lists of nodes.
#include "plan/schema/key_meanings.hpp"

namespace halmark {
namespace {

constexpr KeyMeaning space_meanings_list[] = {
    {"facts", "constants for expressions"},
    {"facts.*", "its value"},
    {"parameter", "what is chosen; a later one may depend on an earlier one"},
    {"name", "a word; of a parameter letters, digits, _ and ."},
    {"kind", "categorical (any values), ordinal (numbers in order), int, float"},
    {"values",
     "a list, or \"divisors(n)\" or \"powers_of_two(low, high)\" of numbers, facts or earlier "
     "parameters"},
    {"low", "least value"},
    {"high", "greatest value"},
    {"step", "between values; without it every value"},
    {"log", "values are tried evenly over their logarithm"},
    {"when", "expression over earlier parameters: only where it holds the parameter has a value"},
    {"constraint", "what every point must keep"},
    {"constraint[].name", "as refusals name it; the expression where absent"},
    {"expression", "a condition over parameters and facts"},
    {"objective", "what is minimised or maximised"},
    {"unit", "as values are printed"},
    {"direction", "minimize where absent"},
    {"node", "nodes that are alike"},
    {"names", "of the nodes, as kubernetes.io/hostname"},
    {"devices", "of each node"},
    {"domains", "devices that reach each other alike; their sum is the number of devices"},
};

}  // namespace

std::span<const KeyMeaning> space_meanings() { return space_meanings_list; }

}  // namespace halmark
