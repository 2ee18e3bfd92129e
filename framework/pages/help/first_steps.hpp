// What a newcomer does first: behind the commands of `halmark --help`.
#pragma once

#include <string_view>

namespace halmark::pages {

inline constexpr std::string_view first_steps =
    R"(First steps:
  halmark devices                        what this machine has
  halmark bench --op gemm --params m=512,n=512,k=512 --dtype f32
                                         one kernel, against the peaks of its device
  halmark tune quickstart                a model on this CPU, and its Pareto front
  halmark model qwen3-32b --device h100-sxm --tp 2
                                         a step on hardware that is not here
  halmark help COMMAND, halmark explain WORD, halmark ops NAME say more.)";

}  // namespace halmark::pages
