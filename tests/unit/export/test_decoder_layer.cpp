// The IR of a decoder layer: what its weights weigh and what goes in and out, against sums by hand.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>

#include "export/ir/decoder_layer.hpp"
#include "tests/checkout.hpp"
#include "tests/python_with.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;
using testing::Not;

const DecoderLayer small{.name = "small",
                         .hidden = 64,
                         .heads = 4,
                         .kv_heads = 2,
                         .head_dim = 16,
                         .intermediate = 96,
                         .weights = Dtype::bf16,
                         .batch = 2,
                         .new_tokens = 1,
                         .context = 9};

TEST(DecoderLayerIr, a_step_over_a_cache_takes_it_and_a_whole_prompt_does_not) {
  const std::string cached = decoder_layer_ir(small).xml;
  EXPECT_THAT(cached, HasSubstr("name=\"k_cache\" type=\"Parameter\""));
  EXPECT_THAT(cached, HasSubstr("shape=\"2,2,8,16\""));
  DecoderLayer prompt = small;
  prompt.new_tokens = prompt.context;
  EXPECT_THAT(decoder_layer_ir(prompt).xml, Not(HasSubstr("k_cache")));
}

TEST(DecoderLayerIr, the_file_of_weights_is_as_long_as_the_text_says) {
  const test::ScratchFolder folder;
  const std::string path = folder / "layer";
  write_layer_ir(small, path);
  EXPECT_EQ(static_cast<std::int64_t>(std::filesystem::file_size(path + ".bin")),
            decoder_layer_ir(small).weight_bytes);
  EXPECT_EQ(std::filesystem::file_size(path + ".xml"), decoder_layer_ir(small).xml.size());
}

// What a process prints; "" where it fails.
std::string printed(const std::string& command) {
  std::string out;
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return out;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) out += part;
  return ::pclose(pipe) == 0 ? out : "";
}

TEST(DecoderLayerIr, the_runtime_computes_the_layer_that_its_formulas_say) {
  const auto python = test::python_with("openvino, numpy");
  if (!python) GTEST_SKIP() << "no Python with openvino and numpy (pip install openvino)";
  const test::ScratchFolder folder;
  for (const std::int64_t new_tokens : {1, 3, 9}) {
    DecoderLayer layer = small;
    layer.qk_norm = true;
    layer.new_tokens = new_tokens;
    const std::string path = folder / "layer";
    write_layer_ir(layer, path);
    const std::string difference =
        printed(*python + " " + test::in_source("/tests/unit/export/layer_peer.py") + " " + path +
                " 4 2 16 " + std::to_string(new_tokens) + " " + std::to_string(layer.context));
    ASSERT_NE(difference, "") << new_tokens;
    // Sums of at most 96 products in f32.
    EXPECT_LT(std::stod(difference), 1e-5) << new_tokens;
  }
}

}  // namespace
}  // namespace halmark::exports
