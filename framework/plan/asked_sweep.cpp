#include "plan/asked_sweep.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "plan/precision.hpp"
#include "plan/sweep.hpp"

namespace halmark {
namespace {

constexpr double ns_per_ms = 1e6;
constexpr std::int64_t concurrency_max = 1024;

// A basic string of TOML.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool computes_fp8(const Device& device) {
  return contains(device.peaks, Dtype::f8_e4m3fn, &Peak::dtype);
}

// Beyond a domain of links a network has to be stated, which no option does. A link without a
// stated end joins all.
bool leaves_domain(const AskedSweep& asked, const Device& device) {
  return std::ranges::none_of(device.links, [&](const Link& link) {
    return link.domain_devices.value_or(asked.devices) >= asked.devices;
  });
}

std::string list_of(const std::vector<std::string>& values) {
  std::string out = join(values, ", ");
  return '[' + out + ']';
}

std::string precisions(const AskedSweep& asked, const Device& device) {
  auto out = mapped(usual_precisions(asked, device),
                    [&](const std::string& name) { return quoted(name); });
  return list_of(out);
}

std::string why_precisions(const AskedSweep& asked, const Device& device) {
  if (!asked.dtypes.empty()) return "as stated";
  std::string out = asked.stated.empty() ? "" : "the checkpoint's own first; ";
  out += computes_fp8(device) ? "fp8: the device has a peak for it" : "the device states no fp8";
  return asked.narrow.empty() ? out : out + "; " + asked.narrow + ": nothing wider fits";
}

std::string concurrencies(const AskedSweep& asked) {
  auto out = mapped(asked.concurrency, [&](const std::int64_t n) { return std::to_string(n); });
  if (out.empty()) {
    for (std::int64_t n = 1; n <= concurrency_max; n *= 2) out.push_back(std::to_string(n));
  }
  return list_of(out);
}

}  // namespace

bool is_sweep_file(std::string_view word) { return word == "-" || word.ends_with(".toml"); }

std::string named_sweep(const std::string& word,
                        const std::vector<std::filesystem::path>& folders) {
  if (word.empty() || is_sweep_file(word) || word.find('/') != word.npos) return word;
  for (const std::filesystem::path& folder : folders) {
    std::error_code absent;
    const std::filesystem::path file = folder / (word + ".toml");
    if (std::filesystem::is_regular_file(file, absent)) return file.string();
  }
  return word;
}

double parse_duration_ns(std::string_view text, const std::string& where) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr std::array<Unit, 4> units = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, as_size(text.data() + text.size() - end));
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  if (error != std::errc{} || unit == units.end() || !std::isfinite(value) || value <= 0) {
    throw refused("'" + printable(text) + "' is no duration", where,
                  "a number and its unit: 30ms, 1.5s");
  }
  return value * unit->ns;
}

std::string stated_option(const AskedSweep& asked) {
  const std::initializer_list<std::pair<bool, const char*>> all = {
      {!asked.device.empty(), "--device"},  {asked.devices != 0, "--devices"},
      {asked.input_tokens != 0, "--input"}, {asked.output_tokens != 0, "--output"},
      {!asked.ttft.empty(), "--ttft"},      {!asked.tpot.empty(), "--tpot"},
      {!asked.dtypes.empty(), "--dtype"},   {!asked.concurrency.empty(), "--concurrency"}};
  const auto* it = std::ranges::find(all, true, &std::pair<bool, const char*>::first);
  return it == all.end() ? "" : it->second;
}

std::string take_usual(AskedSweep& asked) {
  std::string out;
  const auto put = [&out](std::int64_t& value, std::int64_t usual, const std::string& text) {
    if (value != 0) return;
    value = usual;
    out += (out.empty() ? "assumed: " : ", ") + text;
  };
  put(asked.devices, 1, "--devices 1");
  put(asked.input_tokens, usual_request.input_tokens, "--input 1000");
  put(asked.output_tokens, usual_request.output_tokens, "--output 200");
  return out;
}

std::vector<std::string> usual_precisions(const AskedSweep& asked, const Device& device) {
  if (!asked.dtypes.empty()) return asked.dtypes;
  std::vector<std::string> out;
  const auto add = [&out](const std::string& name) {
    const bool is_new = !name.empty() && !contains(out, name);
    if (is_new) out.push_back(name);
  };
  add(asked.stated);
  add(computes_bf16(device) ? "bf16" : "f16");
  if (computes_fp8(device)) add("fp8");
  add(asked.narrow);
  return out;
}

std::string asked_name(const AskedSweep& asked) {
  std::string model = asked.model;
  if (std::filesystem::path(model).extension() == ".json") {
    model = std::filesystem::path(model).stem().string();
  }
  std::string out = model + '-' + std::to_string(asked.devices) + "x-" +
                    std::filesystem::path(asked.device).stem().string();
  std::ranges::replace_if(
      out, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_'; }, '-');
  return out;
}

std::string asked_sweep_text(const AskedSweep& asked, const Device& device) {
  // A name that none knows is refused as it was typed, not as a line of the file that is written.
  for (const std::string& name : asked.dtypes) (void)precision_of(name, {});
  if (asked.devices < 1 || asked.input_tokens < 1 || asked.output_tokens < 1) {
    throw refused("a request has tokens and a deployment devices", "the command line",
                  "--devices, --input and --output are 1 or more");
  }
  std::string out = "# Written by halmark tune from what was asked on its command line.\n";
  const auto line = [&](const std::string& key, const std::string& value,
                        const std::string& why = {}) {
    out += key + " = " + value + (why.empty() ? "" : "  # " + why) + '\n';
  };
  line("name", quoted(asked_name(asked)));
  line("model", quoted(asked.model));
  line("device_file", quoted(asked.device));
  line("latency", "[\"forecast\", \"roofline\"]",
       "what an engine is likely to take, by shipped tables; bounds where there are none");
  line("shards", "[" + std::to_string(asked.devices) + "]");
  line("dtypes", precisions(asked, device), why_precisions(asked, device));
  line("strategies", "[\"data\", \"tensor\", \"pipeline\", \"expert\"]");
  line("objectives", "[\"ttft\", \"tpot\", \"tokens_per_s_per_device\"]");
  if (asked.devices > 1 && leaves_domain(asked, device)) {
    line("network_gb_per_s", "50", "an assumption: these devices are no one domain of links");
  }
  out += "\n[request]\n";
  line("input_tokens", std::to_string(asked.input_tokens));
  line("output_tokens", std::to_string(asked.output_tokens));
  line("concurrency", concurrencies(asked));
  line("token_budget", "[2048, 8192]");
  line("modes", "[\"aggregated\"]", "servers for prompts alone need a router beside the engine");
  if (!asked.ttft.empty() || !asked.tpot.empty()) out += "\n[slo]\n";
  const auto level = [&](const char* key, const std::string& text, const char* option) {
    if (text.empty()) return;
    line(key, number_text(parse_duration_ns(text, option) / ns_per_ms));
  };
  level("ttft_ms", asked.ttft, "--ttft");
  level("tpot_ms", asked.tpot, "--tpot");
  parse_sweep(out, "the command line");
  return out;
}

}  // namespace halmark
