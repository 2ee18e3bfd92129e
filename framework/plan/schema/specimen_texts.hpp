// The texts of specimens.cpp. Words in capitals stand for keys that come from tables of the code.
#pragma once

namespace halmark::specimen {

inline constexpr const char* steps = R"toml(name = "n"
model = "m"
backend = "cpu"
device = "0"
latency = ["roofline"]
series = ["s"]
fabric = "f"
device_file = "h100-sxm"
network_gb_per_s = 50
usd_per_device_hour = 4
memory_fraction = 0.9
dtypes = ["bf16"]
fused_qkv = false
strategies = ["data"]
stages = ["14,14"]
shards = [1]
routing_skew = 0
sampler = "grid"
trials = 0
seed = 1
budget_s = 180
objectives = ["latency"]
[precision]
qkv = "bf16"
output = "bf16"
ffn = "bf16"
experts = "bf16"
head = "bf16"
attention = "bf16"
kv_cache = "bf16"
activation = "bf16"
[[workload]]
phase = "decode"
batch = 1
context = 1024
dtypes = ["bf16"]
[[workload]]
phase = "prefill"
batch = 1
new_tokens = 512
context = 512
[measure]
rounds = 3
disturbed_share = 0.1
disturbed_samples = 0.5
run_delay_fraction = 0.01
involuntary_switches_per_s = 500
steal_fraction = 0.02
clock_moved = 0.02
peak_moved = 0.03
bandwidth_moved = 0.1
[containment]
worker_memory = "8GiB"
PHASES
[validate]
points = 6
)toml";

inline constexpr const char* requests = R"toml(name = "n"
model = "m"
dtypes = ["bf16"]
objectives = ["ttft"]
[request]
input_tokens = 1
output_tokens = 1
concurrency = 1
token_budget = 8192
modes = ["aggregated"]
[slo]
)toml";

inline constexpr const char* night = R"toml(name = "n"
model = "m"
dtypes = ["bf16"]
[[workload]]
phase = "decode"
batch = 1
context = 1
[nightly]
minutes = 8
[[nightly.kernel]]
op = "gemm"
params = "m=1"
dtypes = ["f32"]
[[nightly.sentinel]]
op = "gemm"
params = "m=1"
dtypes = ["f32"]
)toml";

inline constexpr const char* placed = R"toml(name = "n"
model = "m"
budget_s = 180
regret = "1 %"
shards_on = ["cpu:0/2 + opencl:0"]
dtypes = ["bf16"]
[[workload]]
phase = "decode"
batch = 1
context = 1
)toml";

inline constexpr const char* kernels = R"toml(name = "n"
backends = ["cpu"]
variants = ["all"]
mode = "hot"
sampler = "grid"
[[kernel]]
op = "gemm"
params = "m=1"
dtypes = ["f32"]
[measure]
rounds = 3
disturbed_share = 0.1
disturbed_samples = 0.5
run_delay_fraction = 0.01
involuntary_switches_per_s = 500
steal_fraction = 0.02
clock_moved = 0.02
peak_moved = 0.03
bandwidth_moved = 0.1
[containment]
worker_memory = "8GiB"
PHASES
)toml";

inline constexpr const char* device = R"toml(id = "d"
name = "n"
kind = "gpu"
aliases = ["a"]
notes = ["n"]
memory_bytes_high = 1
memory_confidence = "high"
ring_plateau_bytes = 1
clock_hz = 1e9
power_w = 1
power_w_high = 2
power_confidence = "high"
usd_per_hour = 1
[[peak]]
path = "dense"
dtype = "bf16"
units = 1
fma_per_cycle = 1
clock_hz = 1e9
[[peak]]
path = "dense"
dtype = "f32"
flops_per_s = 1e12
flops_per_s_q90 = 1e12
flops_per_s_high = 2e12
rate_over_16_bit = 0.5
source = "s"
confidence = "high"
OCCASION_OF_PEAK
[[bandwidth]]
level = "memory"
bytes_per_s = 1e9
bytes_per_s_high = 2e9
bus_bits = 1024
transfers_per_s = 1e9
access = "read"
source = "s"
confidence = "high"
OCCASION_OF_BANDWIDTH
[[link]]
scope = "scale_up"
name = "l"
bytes_per_s = 1e9
bytes_per_s_high = 2e9
domain = 8
source = "s"
confidence = "high"
)toml";

inline constexpr const char* space = R"toml([facts]
devices = 8
[[parameter]]
name = "shards"
kind = "ordinal"
values = "powers_of_two(1, devices)"
[[parameter]]
name = "type"
kind = "categorical"
values = ["a", "b"]
[[parameter]]
name = "batch"
kind = "int"
low = 1
high = 64
step = 1
when = "shards > 1"
[[parameter]]
name = "rate"
kind = "float"
low = 1
high = 64
log = true
[[constraint]]
name = "c"
expression = "shards < 9"
[[objective]]
name = "latency"
unit = "ms"
direction = "minimize"
)toml";

inline constexpr const char* traffic = R"toml([[bucket]]
input_tokens = 1
output_tokens = 1
requests_per_s = 1
[slo]
)toml";

inline constexpr const char* nodes = R"toml([[node]]
names = ["a"]
devices = 1
domains = [1]
)toml";

}  // namespace halmark::specimen
