// The keys of a JSON text's first document without its values: of a whole text or of its beginning,
// valid or not. What is no JSON from its first sign on has none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halmark {

struct JsonKeys {
  bool is_json = false;  // it begins as an object or a list of values does
  bool is_list = false;
  bool is_broken = false;  // its first document does not end, or no JSON goes on
  // "benchmarks", "benchmarks.name": of the outermost object and one below, lists left out; of a
  // list those of its first value. In the order of the text, each once.
  std::vector<std::string> paths;
};
JsonKeys json_keys(std::string_view beginning);

}  // namespace halmark
