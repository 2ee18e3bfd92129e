// A serving engine by its name, in all releases or in one. Values only.
#pragma once

#include <string>
#include <string_view>

namespace halmark {

inline constexpr std::string_view no_engine = "none";  // kernels alone

struct NamedEngine {
  std::string name;       // "vllm", no_engine; "" = that of the times
  std::string release;    // "0.19.0", whose terms go before those of all; "" = of all
  bool is_asked = false;  // by its own option, and not as what is exported
};

// "vllm" and "vllm:0.19.0" of --engine. Throws Error (exit 2) for a colon with nothing behind.
NamedEngine parse_engine(const std::string& text);

}  // namespace halmark
