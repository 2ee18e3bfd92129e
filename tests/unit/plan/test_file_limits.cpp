// Both ends of every number that a sweep, a device or a space may state: the end itself is taken,
// what lies just beyond is refused with its key.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "plan/device/device_file.hpp"
#include "plan/space_file.hpp"
#include "plan/sweep.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::expect_error;
using testing::HasSubstr;

struct Limit {
  const char* key;
  double low, high;
  bool is_integer = false;
};

std::string written(double value, bool is_integer) {
  return is_integer ? fmt::format("{:.0f}", value) : fmt::format("{:.17e}", value);
}

// `read` gets the value as text and parses a file that states it.
void expect_limits(
    const std::vector<Limit>& limits,
    const std::function<void(const std::string& key, const std::string& value)>& read) {
  for (const Limit& limit : limits) {
    SCOPED_TRACE(limit.key);
    const auto accepted = [&](double value) {
      EXPECT_NO_THROW(read(limit.key, written(value, limit.is_integer))) << value;
    };
    const auto refused = [&](double value) {
      const std::string text = written(value, limit.is_integer);
      const Error error = error_of([&] { read(limit.key, text); });
      EXPECT_EQ(error.exit_code(), ExitCode::refused) << text;
      EXPECT_THAT(error.line(), HasSubstr("'" + std::string(limit.key) + "'")) << text;
    };
    accepted(limit.low);
    accepted(limit.high);
    refused(limit.is_integer ? limit.low - 1 : limit.low > 0 ? limit.low * 0.95 : -0.05);
    if (limit.high < 9e18) refused(limit.is_integer ? limit.high + 1 : limit.high * 1.02);
  }
}

const std::string sweep_head =
    "name = 'a'\nmodel = 'qwen3-0.6b'\ndtypes = 'bf16'\nsampler = 'grid'\n";
const std::string decode = "[[workload]]\nphase = 'decode'\nbatch = 1\ncontext = 8\n";
const std::string device_head = "id = 'x'\nname = 'X'\nkind = 'gpu'\n";

using Text = std::function<std::string(const std::string& key)>;

// The key with its value stands behind `before`.
void expect_sweep_limits(const std::vector<Limit>& limits, const Text& before,
                         const std::string& after = {}) {
  expect_limits(limits, [&](const std::string& key, const std::string& value) {
    parse_sweep(sweep_head + before(key) + key + " = " + value + '\n' + after, "s.toml");
  });
}

void expect_device_limits(const std::vector<Limit>& limits, const Text& before) {
  expect_limits(limits, [&](const std::string& key, const std::string& value) {
    parse_device(device_head + before(key) + key + " = " + value + '\n', "d.toml");
  });
}

Text always(const std::string& text) {
  return [=](const std::string&) { return text; };
}

// What stands beside the key: each of these but the key itself.
Text beside(const std::string& head, const std::map<std::string, std::string>& values) {
  return [=](const std::string& key) {
    std::string out = head;
    for (const auto& [other, value] : values) {
      if (other != key) out += other + " = " + value + '\n';
    }
    return out;
  };
}

TEST(SweepLimits, of_the_root) {
  expect_sweep_limits({{"shards", 1, 4096, true},
                       {"routing_skew", 0, 1000, true},
                       {"trials", 0, 10'000'000, true},
                       {"budget_s", 1, 1e6},
                       {"seed", 0, 9.2e18, true},
                       {"network_gb_per_s", 1e-3, 1e6},
                       {"usd_per_device_hour", 1e-6, 1e6},
                       {"memory_fraction", 0.01, 1}},
                      always(""), decode);
}

TEST(SweepLimits, of_measuring_and_validating) {
  expect_sweep_limits({{"rounds", 1, 99, true},
                       {"sample_budget_s", 0.001, 60},
                       {"samples_min", 3, 4096, true},
                       {"wall_cap_s", 0.1, 600},
                       {"warmup_cap_s", 0, 60},
                       {"repeat_budget_s", 0, 1e6}},
                      always(decode + "[measure]\n"));
  expect_sweep_limits({{"points", 0, 1000, true}, {"budget_s", 1, 1e6}},
                      always(decode + "[validate]\n"));
}

constexpr double tokens_max = 1 << 22;

TEST(SweepLimits, of_workloads) {
  expect_sweep_limits(
      {{"batch", 1, 65536, true}, {"context", 1, tokens_max, true}},
      beside("[[workload]]\nphase = 'decode'\n", {{"batch", "1"}, {"context", "8"}}));
  const std::string prefill_head = "[[workload]]\nphase = 'prefill'\nbatch = 1\n";
  expect_sweep_limits({{"new_tokens", 1, tokens_max, true}}, always(prefill_head));
  const auto prefill = [&](int new_tokens, double context) {
    parse_sweep(sweep_head + prefill_head +
                    fmt::format("new_tokens = {}\ncontext = {:.0f}\n", new_tokens, context),
                "s.toml");
  };
  EXPECT_NO_THROW(prefill(1, 1));
  EXPECT_NO_THROW(prefill(8, tokens_max));
  expect_error([&] { prefill(8, 7); }, "context 7 is below new_tokens 8");
  expect_error([&] { prefill(8, tokens_max + 1); }, "'context'");
  expect_error([&] { prefill(8, 0); }, "'context'");
}

TEST(SweepLimits, of_requests_and_levels) {
  const std::map<std::string, std::string> request = {
      {"input_tokens", "4"}, {"output_tokens", "4"}, {"concurrency", "4"}};
  expect_sweep_limits({{"input_tokens", 1, tokens_max, true},
                       {"output_tokens", 1, tokens_max, true},
                       {"concurrency", 1, 65536, true},
                       {"token_budget", 1, tokens_max, true}},
                      beside("[request]\n", request));
  expect_sweep_limits({{"ttft_ms", 1e-12, 1e15}, {"tpot_ms", 1e-12, 1e15}},
                      always(beside("[request]\n", request)("") + "[slo]\n"));
}

TEST(DeviceLimits, of_the_root) {
  expect_device_limits({{"devices_in_part", 1, 1024, true},
                        {"memory_bytes", 0, 9.2e18, true},
                        {"ring_plateau_bytes", 1, 9.2e18, true},
                        {"clock_hz", 1, 1e12},
                        {"power_w", 0, 1e6}},
                       always(""));
  expect_device_limits({{"power_w_high", 700, 1e6}, {"memory_bytes_high", 4096, 9.2e18, true}},
                       always("power_w = 700\nmemory_bytes = 4096\n"));
}

TEST(DeviceLimits, of_peaks_and_what_they_follow_from) {
  const std::string peak = "[[peak]]\npath = 'p'\ndtype = 'bf16'\nsource = 's'\n";
  expect_device_limits({{"flops_per_s", 1, 1e21}}, always(peak));
  expect_device_limits({{"threads", 0, 1 << 20, true},
                        {"flops_per_s_q90", 1, 1e21},
                        {"flops_per_s_high", 1e9, 1e21},
                        {"rate_over_16_bit", 1e-3, 1e3}},
                       always(peak + "flops_per_s = 1e9\n"));
  // The other two at their least, so that the product stays possible.
  expect_device_limits(
      {{"units", 1, 1e9}, {"fma_per_cycle", 0.5, 1e9}, {"clock_hz", 1e6, 1e12}},
      beside(peak, {{"units", "1"}, {"fma_per_cycle", "0.5"}, {"clock_hz", "1e6"}}));
  const auto product = [&](double units) {
    return parse_device(device_head + peak +
                            fmt::format("units = {}\nfma_per_cycle = 1e6\nclock_hz = 1e9\n", units),
                        "d.toml")
        .peaks.at(0)
        .flops_per_s;
  };
  EXPECT_DOUBLE_EQ(product(4.9e5), 9.8e20);
  expect_error([&] { product(5.1e5); }, "beyond any device");
}

TEST(DeviceLimits, of_bandwidths_links_and_occasions) {
  const std::string bandwidth = "[[bandwidth]]\nlevel = 'memory'\nsource = 's'\n";
  const std::string rate = "bytes_per_s = 1e9\n";
  expect_device_limits({{"bytes_per_s", 1, 1e18}}, always(bandwidth));
  expect_device_limits({{"threads", 0, 1 << 20, true},
                        {"working_set_bytes", 0, 9.2e18, true},
                        {"bytes_per_s_high", 1e9, 1e18}},
                       always(bandwidth + rate));
  expect_device_limits({{"bus_bits", 1, 1e6}, {"transfers_per_s", 1e6, 1e12}},
                       beside(bandwidth + rate, {{"bus_bits", "8"}, {"transfers_per_s", "1e9"}}));
  const std::string link = "[[link]]\nscope = 'scale_up'\nname = 'l'\nsource = 's'\n";
  expect_device_limits({{"bytes_per_s", 1, 1e18}}, always(link));
  expect_device_limits({{"bytes_per_s_high", 1e9, 1e18}, {"domain", 1, 1 << 30, true}},
                       always(link + rate));
  expect_device_limits({{"probes", 1, 9.2e18, true},
                        {"median", 1, 1e18},
                        {"highest", 1, 1e18},
                        {"second", 1, 1e18},
                        {"third", 1, 1e18}},
                       beside(bandwidth + rate + "[[bandwidth.occasion]]\n",
                              {{"probes", "9"}, {"median", "9"}, {"highest", "9"}}));
}

// Where an entry stands is what findings name: its figure, or the units that it follows from.
TEST(DevicePlaces, are_those_of_the_figures) {
  const DeviceFile file = parse_device_file(
      "id = 'x'\nname = 'X'\nkind = 'gpu'\nmemory_bytes = 8\npower_w = 7\n"
      "[[peak]]\npath = 'p'\ndtype = 'bf16'\nsource = 's'\nflops_per_s = 1e9\n"
      "[[peak]]\npath = 'q'\ndtype = 'f16'\nclock_hz = 1e9\nfma_per_cycle = 1\nunits = 2\n"
      "[[bandwidth]]\nlevel = 'memory'\nsource = 's'\nbytes_per_s = 1e9\n"
      "[[link]]\nscope = 'scale_up'\nname = 'l'\nsource = 's'\nbytes_per_s = 1e9\n",
      "d.toml");
  EXPECT_EQ(file.id_where, "d.toml:1:6");
  EXPECT_EQ(file.memory_where, "d.toml:4:16");
  EXPECT_EQ(file.power_where, "d.toml:5:11");
  EXPECT_EQ(file.peaks_where, (std::vector<std::string>{"d.toml:10:15", "d.toml:16:9"}));
  EXPECT_EQ(file.bandwidths_where, std::vector<std::string>{"d.toml:20:15"});
  EXPECT_EQ(file.links_where, std::vector<std::string>{"d.toml:25:15"});
  EXPECT_TRUE(file.device.peaks[1].is_derived);
  EXPECT_EQ(file.device.peaks[1].flops_per_s, 4e9);
  EXPECT_EQ(file.device.peaks[1].source, "derived: units x FMA/cycle x 2 x clock");
}

constexpr const char* objective = "[[objective]]\nname = 'y'\n";

std::string ordinal(const std::string& values, const std::string& before = {}) {
  return before + "[[parameter]]\nname = 'x'\nkind = 'ordinal'\nvalues = \"" + values + "\"\n" +
         objective;
}

std::vector<std::int64_t> values_of(const std::string& text) {
  std::vector<std::int64_t> out;
  const SpaceDescription space = parse_space(text, "s.toml");
  for (const ParamValue& v : space.domains.back().values) {
    out.push_back(std::get<std::int64_t>(v));
  }
  return out;
}

TEST(SpaceLimits, divisors_and_powers_against_a_plain_loop) {
  for (std::int64_t n = 1; n <= 130; ++n) {
    std::vector<std::int64_t> divisors, powers;
    for (std::int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) divisors.push_back(d);
      if ((d & (d - 1)) == 0 && d >= 3) powers.push_back(d);
    }
    EXPECT_EQ(values_of(ordinal("divisors(" + std::to_string(n) + ")")), divisors);
    if (!powers.empty()) {
      EXPECT_EQ(values_of(ordinal("powers_of_two(3, " + std::to_string(n) + ")")), powers);
    }
  }
  EXPECT_EQ(values_of(ordinal("divisors(1099511627776)")).size(), 41u) << "2^40";
  for (const char* bad : {"divisors(1099511627777)", "divisors(0)", "divisors(-4)"}) {
    expect_error([&] { values_of(ordinal(bad)); }, "from 1 to 2^40");
  }
  EXPECT_EQ(values_of(ordinal("powers_of_two(1, 9223372036854775807)")).size(), 63u);
  EXPECT_EQ(values_of(ordinal(" divisors ( 6 )")), (std::vector<std::int64_t>{1, 2, 3, 6}));
}

TEST(SpaceLimits, of_calls) {
  const auto refusal = [](const std::string& values) {
    return error_of([&] { values_of(ordinal(values)); }).line();
  };
  test::expect_each(refusal, {{"divisors(1, 2)", "divisors takes one value"},
                              {"powers_of_two(1)", "powers_of_two takes two values"},
                              {"powers_of_two(1, 2, 3)", "powers_of_two takes two values"},
                              {"divisors 6", "is not a list of values"},
                              {"divisors(6) + 1", "is not a list of values"},
                              {"divisors(6.5)", "'6.5' is no integer"},
                              {"divisors()", "'' is no integer"}});
}

// Ends that are parameters: the union of what they allow, each cut down by its constraint.
TEST(SpaceLimits, powers_between_parameters) {
  const std::string before =
      "[[parameter]]\nname = 'least'\nkind = 'ordinal'\nvalues = [2, 8]\n"
      "[[parameter]]\nname = 'most'\nkind = 'ordinal'\nvalues = [4, 20]\n";
  const SpaceDescription both =
      parse_space(ordinal("powers_of_two(least, most)", before), "s.toml");
  EXPECT_EQ(values_of(ordinal("powers_of_two(least, most)", before)),
            (std::vector<std::int64_t>{2, 4, 8, 16}));
  ASSERT_EQ(both.constraints.size(), 2u);
  EXPECT_EQ(both.constraints[0].expression, "x >= least");
  EXPECT_EQ(both.constraints[1].expression, "x <= most");
  const SpaceDescription one = parse_space(ordinal("powers_of_two(1, most)", before), "s.toml");
  ASSERT_EQ(one.constraints.size(), 1u);
  EXPECT_EQ(one.constraints[0].expression, "x <= most");
}

TEST(SpaceLimits, a_thousand_parameters_and_not_one_more) {
  std::string text = objective;
  const auto add = [&](int i) {
    text += fmt::format("[[parameter]]\nname = 'p{}'\nkind = 'ordinal'\nvalues = [1, 2]\n", i);
  };
  for (int i = 0; i < 1000; ++i) add(i);
  EXPECT_EQ(parse_space(text, "s.toml").domains.size(), 1000u);
  add(1000);
  expect_error([&] { parse_space(text, "s.toml"); }, "more than 1000 parameters");
}

}  // namespace
}  // namespace halmark
