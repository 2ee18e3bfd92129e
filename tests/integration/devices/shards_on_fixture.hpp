// Sweeps whose shards lie on named devices of two fake backends.
#pragma once

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {

class ShardsOn : public HalmarkTest {
 protected:
  ShardsOn() {
    base_.limit_s = 200;
    base_.environment["HALMARK_PLUGIN_PATH"] +=
        ":" + test::in_build("/tests/plugins/hm_fake_two.so");
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=1000000;timer=device_event";
    base_.environment["HALMARK_FAKE_TWO_SCRIPT"] = "latency_ns=3000000;timer=device_event";
    know_peaks();
  }
  std::string kernel_sweep(const std::string& backends) const {
    return write("kernels.toml", "name = \"kernels\"\nbackends = [" + backends + R"(]
[[kernel]]
op = "gemm"
params = "m=[1,8],n=16,k=16"
dtypes = ["f32"]
[measure]
rounds = 2
sample_budget_s = 0.02
)");
  }
  std::string placed_sweep(const std::string& shards_on, const std::string& more = "") const {
    return write("placed.toml",
                 "name = \"placed\"\nmodel = \"" + tiny_model() + "\"\nshards_on = [" + shards_on +
                     "]\ndtypes = [\"f32\"]\nstrategies = [\"data\"]\n" + more + R"(budget_s = 60
[[workload]]
phase = "decode"
batch = 2
context = 32
[validate]
turn_s = 0.02
[measure]
rounds = 1
sample_budget_s = 0.004
samples_min = 3
repeat_budget_s = 0
)");
  }
};

}  // namespace halmark::integration
