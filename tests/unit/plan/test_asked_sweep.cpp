// Sweeps from the words of a command line: durations, names, and the text that is swept.
#include "plan/asked_sweep.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "plan/device/device_file.hpp"
#include "plan/sweep.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AskedSweep, a_duration_is_a_number_and_its_unit) {
  EXPECT_EQ(parse_duration_ns("30ms", "w"), 30e6);
  EXPECT_EQ(parse_duration_ns("1.5s", "w"), 1.5e9);
  EXPECT_EQ(parse_duration_ns("250us", "w"), 250e3);
  EXPECT_EQ(parse_duration_ns("7ns", "w"), 7);
  EXPECT_EQ(parse_duration_ns("0.5ns", "w"), 0.5);
  for (const char* text : {"", "30", "ms", "30 ms", "30m", "0s", "-1s", "infs", "nans", "1sx"}) {
    EXPECT_THAT(test::error_of([&] { parse_duration_ns(text, "--ttft"); }).what(),
                HasSubstr("is no duration"))
        << text;
  }
}

TEST(AskedSweep, a_word_without_suffix_names_a_sweep_of_the_first_folder_that_has_it) {
  const test::ScratchFolder folder;
  const auto first = folder.path() / "a", second = folder.path() / "b";
  std::filesystem::create_directories(first);
  std::filesystem::create_directories(second);
  std::ofstream(second / "quick.toml") << "\n";
  EXPECT_EQ(named_sweep("quick", {first, second}), (second / "quick.toml").string());
  std::ofstream(first / "quick.toml") << "\n";
  EXPECT_EQ(named_sweep("quick", {first, second}), (first / "quick.toml").string());
  for (const char* word : {"", "-", "quick.toml", "./quick", "other"}) {
    EXPECT_EQ(named_sweep(word, {first, second}), word);
  }
  EXPECT_TRUE(is_sweep_file("-"));
  EXPECT_TRUE(is_sweep_file("a.toml"));
  EXPECT_FALSE(is_sweep_file("a.tom"));
}

Device device(std::optional<std::int64_t> domain) {
  Device out{.id = "d"};
  out.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 1e12}};
  if (domain) out.links = {{.name = "l", .bytes_per_s = 1e9, .domain_devices = *domain}};
  return out;
}

AskedSweep asked(std::int64_t devices) {
  AskedSweep out;
  out.model = "qwen/qwen3 8b.json";
  out.device = "configs/devices/h100.toml";
  out.devices = devices;
  out.input_tokens = 2000;
  out.output_tokens = 256;
  return out;
}

TEST(AskedSweep, is_named_by_its_model_its_devices_and_their_kind) {
  EXPECT_EQ(asked_name(asked(8)), "qwen3-8b-8x-h100");
  AskedSweep other = asked(1);
  other.model = "meta_llama/Llama-3.1";
  EXPECT_EQ(asked_name(other), "meta_llama-Llama-3.1-1x-h100") << "no file: its suffix stays";
}

TEST(AskedSweep, says_what_was_asked_and_what_is_assumed) {
  const std::string text = asked_sweep_text(asked(8), device(8));
  EXPECT_THAT(text,
              test::has_all({"model = \"qwen/qwen3 8b.json\"\n",
                             "device_file = \"configs/devices/h100.toml\"\n", "shards = [8]\n",
                             "dtypes = [\"bf16\"]  # the device states no fp8\n",
                             "[request]\ninput_tokens = 2000\noutput_tokens = 256\n",
                             "concurrency = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]\n"}));
  EXPECT_THAT(text, Not(HasSubstr("[slo]")));
  Device fp8 = device(8);
  fp8.peaks.push_back({.path = "p", .dtype = Dtype::f8_e4m3fn, .flops_per_s = 2e12});
  EXPECT_THAT(asked_sweep_text(asked(8), fp8), HasSubstr("dtypes = [\"bf16\", \"fp8\"]"));
  AskedSweep stated = asked(8);
  const auto dtypes = [&](const char* precision, const Device& on) {
    stated.stated = precision;
    const std::string text_of = asked_sweep_text(stated, on);
    return text_of.substr(text_of.find("dtypes"),
                          text_of.find(']', text_of.find("dtypes")) - text_of.find("dtypes") + 1);
  };
  EXPECT_EQ(dtypes("mxfp4", fp8), R"(dtypes = ["mxfp4", "bf16", "fp8"])");
  EXPECT_EQ(dtypes("mxfp4", device(8)), R"(dtypes = ["mxfp4", "bf16"])");
  EXPECT_EQ(dtypes("fp8", fp8), R"(dtypes = ["fp8", "bf16"])") << "each once";
  EXPECT_EQ(dtypes("bf16+kv_cache=f8_e4m3fn", device(8)),
            R"(dtypes = ["bf16+kv_cache=f8_e4m3fn", "bf16"])");
}

// A domain of eight holds eight and not nine; one device needs no network.
TEST(AskedSweep, beyond_a_domain_of_links_a_network_is_assumed) {
  const char* network = "network_gb_per_s = 50";
  EXPECT_THAT(asked_sweep_text(asked(8), device(8)), Not(HasSubstr(network)));
  EXPECT_THAT(asked_sweep_text(asked(9), device(8)), HasSubstr(network));
  EXPECT_THAT(asked_sweep_text(asked(2), device({})), HasSubstr(network));
  EXPECT_THAT(asked_sweep_text(asked(1), device({})), Not(HasSubstr(network)));
  Device host = device(8);
  host.links.front().domain_devices.reset();
  EXPECT_THAT(asked_sweep_text(asked(2), host), Not(HasSubstr(network))) << "its link joins all";
}

TEST(AskedSweep, service_levels_are_written_in_milliseconds_where_they_were_asked) {
  AskedSweep both = asked(1);
  both.ttft = "1.5s";
  both.tpot = "30ms";
  const std::string text = asked_sweep_text(both, device({}));
  EXPECT_THAT(text, HasSubstr("\n[slo]\nttft_ms = 1500\ntpot_ms = 30\n"));
  both.ttft.clear();
  EXPECT_THAT(asked_sweep_text(both, device({})), HasSubstr("\n[slo]\ntpot_ms = 30\n"));
  both.ttft = "1.5";
  EXPECT_EQ(test::error_of([&] { asked_sweep_text(both, device({})); }).where(), "--ttft");
}

TEST(AskedSweep, quotes_and_backslashes_of_a_name_stay_what_they_are) {
  AskedSweep odd = asked(1);
  odd.model = R"(a"b\c)";
  EXPECT_THAT(asked_sweep_text(odd, device({})), HasSubstr(R"(model = "a\"b\\c")"));
}

TEST(AskedSweep, a_model_without_device_or_lengths_is_refused) {
  for (const int left_out : {0, 1, 2}) {
    AskedSweep a = asked(1);
    if (left_out == 0) a.devices = 0;
    if (left_out == 1) a.input_tokens = 0;
    if (left_out == 2) a.output_tokens = 0;
    test::expect_error([&] { asked_sweep_text(a, device(8)); }, "are 1 or more");
  }
}

TEST(AskedSweep, what_is_usual_fills_the_gaps_alone_and_names_the_options) {
  struct Row {
    std::int64_t devices, input, output;
    const char* assumed;
  };
  const Row rows[] = {{0, 0, 0, "assumed: --devices 1, --input 1000, --output 200"},
                      {4, 0, 0, "assumed: --input 1000, --output 200"},
                      {4, 7, 0, "assumed: --output 200"},
                      {4, 7, 9, ""}};
  for (const Row& row : rows) {
    AskedSweep a{.devices = row.devices, .input_tokens = row.input, .output_tokens = row.output};
    EXPECT_EQ(take_usual(a), row.assumed);
    EXPECT_EQ(a.devices, row.devices == 0 ? 1 : row.devices);
    EXPECT_EQ(a.input_tokens, row.input == 0 ? 1000 : row.input);
    EXPECT_EQ(a.output_tokens, row.output == 0 ? 200 : row.output);
  }
}

TEST(AskedSweep, names_the_first_option_that_was_stated) {
  EXPECT_EQ(stated_option({.model = "m"}), "");
  EXPECT_EQ(stated_option({.device = "d", .tpot = "1s"}), "--device");
  EXPECT_EQ(stated_option({.devices = 2}), "--devices");
  EXPECT_EQ(stated_option({.input_tokens = 2}), "--input");
  EXPECT_EQ(stated_option({.output_tokens = 2}), "--output");
  EXPECT_EQ(stated_option({.concurrency = {2}}), "--concurrency");
  EXPECT_EQ(stated_option({.ttft = "1s"}), "--ttft");
  EXPECT_EQ(stated_option({.tpot = "1s"}), "--tpot");
}

TEST(AskedSweep, requests_in_flight_and_a_recipe_of_4_bits_are_those_that_were_stated) {
  AskedSweep a = asked(8);
  a.concurrency = {3, 64};
  a.narrow = "w4a16";
  const std::string text = asked_sweep_text(a, device(8));
  EXPECT_THAT(text, HasSubstr("concurrency = [3, 64]\n"));
  EXPECT_THAT(text, HasSubstr("dtypes = [\"bf16\", \"w4a16\"]"));
  EXPECT_THAT(text, HasSubstr("w4a16: nothing wider fits"));
}

TEST(AskedSweep, precisions_that_are_stated_are_those_that_are_tried) {
  AskedSweep a = asked(8);
  a.stated = "fp8";
  a.dtypes = {"w4a16", "bf16"};
  EXPECT_THAT(asked_sweep_text(a, device(8)),
              HasSubstr("dtypes = [\"w4a16\", \"bf16\"]  # as stated\n"));
  EXPECT_EQ(stated_option({.dtypes = {"fp8"}}), "--dtype");
}

// A device without a peak for bf16 has its 16 bits in f16.
TEST(AskedSweep, the_16_bits_are_those_that_the_device_computes_in) {
  Device old = device(1);
  old.peaks.front().dtype = Dtype::f16;
  EXPECT_THAT(usual_precisions(asked(1), old), testing::ElementsAre("f16"));
  EXPECT_THAT(usual_precisions(asked(1), device(1)), testing::ElementsAre("bf16"));
}

TEST(AskedSweep, of_one_token_each_is_a_sweep_that_can_be_read) {
  const test::ScratchFolder folder;
  test::write_file(folder / "own.toml",
                   "id = 'own'\nname = 'Own'\nkind = 'gpu'\n[[peak]]\npath = 'bf16_matrix'\n"
                   "dtype = 'bf16'\nflops_per_s = 1e12\nsource = 's'\n");
  AskedSweep a = asked(1);
  a.device = "own";
  const Device own = known_device("own", {folder.path()});
  a.input_tokens = a.output_tokens = 1;
  const std::string text = asked_sweep_text(a, own);
  const Sweep sweep = parse_sweep(text, "asked");
  EXPECT_EQ(sweep.name, "qwen3-8b-1x-own");
  EXPECT_EQ(sweep.latency, (std::vector<std::string>{"forecast", "roofline"}));
  EXPECT_EQ(sweep.shards, std::vector<std::int64_t>{1});
  EXPECT_EQ(sweep.strategies, (std::vector<std::string>{"data", "tensor", "pipeline", "expert"}));
  ASSERT_TRUE(sweep.served);
  EXPECT_EQ(sweep.served->request, (RequestShape{1, 1}));
  EXPECT_EQ(sweep.served->token_budgets, (std::vector<std::int64_t>{2048, 8192}));
  EXPECT_EQ(sweep.served->modes, std::vector{ServingMode::aggregated});
  EXPECT_EQ(sweep.served->objectives,
            (std::vector{Objective::ttft, Objective::tpot, Objective::tokens_per_s_per_device}));
  EXPECT_THAT(text,
              test::has_all({"  # what an engine is likely to take", "  # the device states no fp8",
                             "  # servers for prompts alone"}));
  EXPECT_THAT(text, testing::StartsWith("# Written by halmark tune"));
  // A request beyond what a sweep may state is refused before the text is given.
  a.input_tokens = std::int64_t{1} << 40;
  test::expect_error([&] { asked_sweep_text(a, own); }, "'input_tokens'");
}

}  // namespace
}  // namespace halmark
