#include "core/chosen/named_engine.hpp"

#include "core/text/error.hpp"

namespace halmark {

NamedEngine parse_engine(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (text.ends_with(':')) {
    throw refused("'" + printable(text) + "' names no release", "--engine", "vllm, vllm:0.19.0");
  }
  return {.name = text.substr(0, colon),
          .release = colon == std::string::npos ? "" : text.substr(colon + 1),
          .is_asked = !text.empty()};
}

}  // namespace halmark
