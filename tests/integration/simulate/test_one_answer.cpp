// The same question has the same answer, whichever command is asked.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

struct Asked {
  std::string model, device, phase, batch, new_tokens, context, dtype;
  std::string tp, ep, dp;
  std::string latency;

  std::string devices() const { return std::to_string(std::stoi(tp) * std::stoi(dp)); }
  std::string text() const {
    return model + ' ' + phase + " tp" + tp + " ep" + ep + " dp" + dp + " on " + device + ' ' +
           latency;
  }
};

class OneAnswer : public HalmarkTest {
 protected:
  static Arguments step(Arguments command, const Asked& a) {
    const Arguments asked = {a.model,     "--phase", a.phase,     "--batch", a.batch,
                             "--context", a.context, "--tp",      a.tp,      "--ep",
                             a.ep,        "--dp",    a.dp,        "--dtype", a.dtype,
                             "--device",  a.device,  "--latency", a.latency};
    command.insert(command.end(), asked.begin(), asked.end());
    if (a.phase == "prefill") command.insert(command.end(), {"--new-tokens", a.new_tokens});
    return command;
  }

  double of_model(const Asked& a) const {
    return data_of(step({"model"}, a))["answer"]["time_ms"].get<double>();
  }

  double of_simulation(const Asked& a) const {
    Arguments arguments = step({"simulate"}, a);
    arguments.insert(arguments.end(), {"--runs", "0"});
    return data_of(arguments)["throughput"]["step_us"].get<double>() / 1e3;
  }

  double of_plan(const Asked& a) const {
    std::string named;
    for (const auto& [name, degree] :
         {std::pair("tensor", a.tp), std::pair("expert", a.ep), std::pair("data", a.dp)}) {
      if (degree != "1") named += (named.empty() ? "" : ",") + std::string(name);
    }
    Arguments arguments = step({"simulate", "plan"}, a);
    arguments.insert(arguments.end(), {"--shards", a.devices()});
    if (!named.empty()) arguments.insert(arguments.end(), {"--strategy", named});
    return data_of(arguments)["layouts"][0]["step_ns"].get<double>() / 1e6;
  }

  double of_sweep(const Asked& a) const {
    const bool is_bound = a.latency == "roofline";
    write("one.toml", "name = \"one\"\nmodel = \"" + a.model + "\"\ndevice_file = \"" + a.device +
                          "\"\nlatency = [" + (is_bound ? "" : "\"forecast\", ") +
                          "\"roofline\"]\nshards = [" + a.devices() + "]\ndtypes = [\"" + a.dtype +
                          "\"]\n[[workload]]\nphase = \"" + a.phase + "\"\nbatch = " + a.batch +
                          "\ncontext = " + a.context + '\n' +
                          (a.phase == "prefill" ? "new_tokens = " + a.new_tokens + '\n' : ""));
    const Json data = data_of({"tune", path("one.toml")});
    for (const Json& one : data["evaluations"]) {
      const Json& p = one["deployment"]["parallel"];
      if (p["tp"] == std::stoi(a.tp) && p["ep"] == std::stoi(a.ep) && p["dp"] == std::stoi(a.dp) &&
          p["pp"] == 1) {
        return one["estimate"]["step_ns"].get<double>() / 1e6;
      }
    }
    ADD_FAILURE() << "not among the configurations";
    return 0;
  }
};

TEST_F(OneAnswer, of_a_step) {
  struct Layout {
    const char *model, *device, *dtype, *tp, *ep, *dp;
  };
  for (const Layout& l : {Layout{"llama-3.1-8b", "h200", "bf16", "2", "1", "1"},
                          Layout{"qwen3-32b", "h100-sxm", "fp8", "2", "1", "2"},
                          Layout{"qwen3-235b-a22b", "h200", "fp8", "8", "8", "1"},
                          Layout{"gpt-oss-120b", "b200", "checkpoint", "2", "2", "1"},
                          Layout{"nemotron-h-56b", "mi300x", "bf16", "4", "1", "1"},
                          Layout{"qwen3-next-80b-a3b", "h200", "bf16", "4", "4", "1"}}) {
    for (const char* phase : {"decode", "prefill"}) {
      for (const char* latency : {"roofline", "forecast,roofline"}) {
        if (std::string(latency) != "roofline" && std::string(l.device) == "mi300x") continue;
        const bool is_decode = std::string(phase) == "decode";
        const Asked a = {l.model, l.device,
                         phase,   is_decode ? "16" : "4",
                         "1024",  is_decode ? "4096" : "1024",
                         l.dtype, l.tp,
                         l.ep,    l.dp,
                         latency};
        SCOPED_TRACE(a.text());
        const double ms = of_model(a);
        // Events are of whole picoseconds.
        EXPECT_NEAR(of_simulation(a) / ms, 1, 1e-7);
        EXPECT_NEAR(of_plan(a) / ms, 1, 1e-9);
        EXPECT_NEAR(of_sweep(a) / ms, 1, 1e-9);
      }
    }
  }
}

// Clients of a closed loop, with the terms of the engine whose kernels the forecast is of.
TEST_F(OneAnswer, of_a_served_load) {
  write("one.toml",
        "name = \"one\"\nmodel = \"llama-3.1-8b\"\ndevice_file = \"h100-sxm\"\n"
        "latency = [\"forecast:vllm\", \"roofline\"]\nshards = [2]\nstrategies = [\"tensor\"]\n"
        "dtypes = [\"fp8\"]\n[request]\ninput_tokens = 1024\noutput_tokens = 256\n"
        "concurrency = [16]\ntoken_budget = [8192]\n");
  const Json searched = data_of({"tune", path("one.toml")})["front"][0]["figures"];
  const Json simulated =
      data_of({"simulate", "serving", "llama-3.1-8b", "--device", "h100-sxm", "--tp", "2",
               "--dtype", "fp8", "--engine", "vllm", "--concurrency", "16", "--input", "1024",
               "--output", "256", "--token-budget", "8192"});
  for (const std::string figure : {"ttft", "tpot"}) {
    const double ms = searched[figure + "_ns"].get<double>() / 1e6;
    EXPECT_NEAR(simulated[figure]["mean_ms"].get<double>() / ms, 1, 1e-9);
  }
}

}  // namespace
}  // namespace halmark::integration
