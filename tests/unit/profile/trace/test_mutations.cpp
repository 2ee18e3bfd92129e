// Damaged traces: read or refused with one line, and the same whatever the block size.
#include <random>

#include "core/text/error.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

std::string outcome(const std::string& text, std::size_t block_bytes) {
  try {
    const Read r = read_text(text, {.block_bytes = block_bytes, .event_bytes_max = 1u << 16});
    std::string out;
    for (const std::string& row : r.executed()) out += row + '\n';
    return out + std::to_string(r.flops()) + ' ' + std::to_string(r.attribution.device.assigned_ns);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
    return "refused";
  }
}

std::string seed_trace() {
  TraceText t;
  t.annotation("ProfilerStep#1", 0, 90).module("LlamaForCausalLM_0", 1, 80);
  t.module("LlamaDecoderLayer_0", 2, 70).module("LlamaAttention_0", 3, 60);
  t.launch(1, 4, "cudaStreamBeginCapture").op("aten::mm", 5, 9, "[[4, 8], [8, 16]]");
  t.launch(2, 6).op("aten::conv2d", 15, 5, "[[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]",
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"])");
  t.launch(3, 30, "cudaStreamEndCapture").launch(4, 40, "cudaGraphLaunch");
  t.op("aten::scaled_dot_product_attention", 50, 9,
       "[[2, 4, 6, 8], [2, 2, 6, 8], [2, 2, 6, 8], [], [], [], [], []]",
       R"(["", "", "", "", "0.", "True", "", "True"])", 7);
  t.launch(5, 51).kernel("gemm", 4, 60, 3).kernel("flash", 5, 70, 3, R"(, "External id": 7)");
  return t.text();
}

TEST(Mutations, a_damaged_trace_is_read_or_refused) {
  constexpr const char* tokens[] = {"0",    "-1",   "1e999", "9223372036854775807",
                                    "null", "\"\"", "[]",    "{}",
                                    "NaN",  "[[[[", "}",     "\xff",
                                    "\\",   "\"",   "]",     "18446744073709551616"};
  const std::string seed = seed_trace();
  EXPECT_NE(outcome(seed, 1u << 16), "refused");
  std::size_t read = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    std::mt19937_64 random(i);
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
    std::string text = seed;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.insert(at, tokens[below(std::size(tokens))]);
          break;
        case 2:
          text.erase(at, 1 + below(12));
          break;
        case 3: {  // the digits from here on
          std::size_t end = std::min(text.find_first_of("0123456789", at), text.size());
          const std::size_t begin = end;
          while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
          text.replace(begin, end - begin, std::to_string(random() >> below(64)));
          break;
        }
        default:
          text.insert(at, text.substr(below(text.size()), below(60)));
      }
    }
    const std::string whole = outcome(text, 1u << 16);
    read += whole != "refused";
    ASSERT_EQ(outcome(text, 16 + below(40)), whole) << "mutation " << i << ":\n" << text;
  }
  EXPECT_GT(read, 400u);  // both ends are tried
  EXPECT_LT(read, 3600u);
}

}  // namespace
}  // namespace halmark::trace_test
