// The pairs of commands that show options to act: "> " begins a base, "|" another of the same
// lines; a line below it says how one option differs in the other command of the pair, by its own
// name or that of a positional. "! NAMES: why" has no pair. %f: the fixtures, %d: tests/data.
#pragma once

namespace halmark::cli {

struct Input {
  const char *name, *text;
};

inline constexpr Input inputs[] = {
    {"arrivals.csv", "arrival_s,input_tokens,output_tokens\n0,64,4\n0.5,32,8\n"},
    {"skew.csv",
     "arrival_s,input_tokens,output_tokens\n0,64,600\n0,64,2\n0,64,600\n0,64,2\n0,64,600\n"
     "0,64,2\n0,64,600\n0,64,2\n"},
    {"load.toml",
     "[[bucket]]\ninput_tokens = 64\noutput_tokens = 32\nrequests_per_s = 2\n[slo]\ntpot_ms = "
     "90\n"},
    {"flow.json",
     R"({"metadata": {"layer_id": 3, "total_dur_us": 40}, "kernels": [{"name": "o", "category":
 "gemm_bf16", "dur_us": 30, "operator": "o_proj"}]})"},
    {"table.csv", "gemm_dtype,m,n,k,latency\nbfloat16,2,64,64,0.01\nfloat32,2,64,64,0.02\n"},
    {"layout.toml", "nothing = 1\n"},
    {"nodes.toml", "[[node]]\nnames = [\"gpu-1\"]\ndevices = 4\n"},
    {"vllm.json",
     R"({"avg_latency": 2, "latencies": [2, 2], "percentiles": {"10": 2, "50": 2, "90": 2}})"},
    {"small.toml",
     "name = 'small'\nmodel = 'qwen3-0.6b'\nshards = [1, 2]\ndtypes = ['bf16', 'fp8']\n"
     "[[workload]]\nphase = 'decode'\nbatch = [1, 8]\ncontext = 512\n"},
    {"space.toml",
     "[[parameter]]\nname = \"x\"\nkind = \"ordinal\"\nvalues = [1, 2, 3]\n[[objective]]\n"
     "name = \"t\"\ndirection = \"minimize\"\n"},
    {"kernels.toml",
     "name = 'k'\nbackends = ['cpu:0']\n[[kernel]]\nop = 'copy'\nparams = 'n=64'\n"
     "dtypes = ['f32']\n"},
    {"llama-server", "#!/bin/sh\nexit 3\n"},
    {"launch.sh", "edited\n"},
    {"record.json",
     R"({"format":"halmark-record","version":1,"sha256":"01ec5f8d8ecf7023f1c869e98d1a3d0)"
     R"(52d6eaecb077f3de223a23e2fd6678839","record":{"measured_on":"2026-11-30","tool":{)"
     R"("version":"0.1.0","build":"x"},"plugins":[],"device":{"id":"cpu-0","name":"Made-)"
     R"(up","kind":"cpu","clock_hz":null,"power_w":null,"peaks":[],"bandwidths":[]},"thr)"
     R"(eads":0,"kernels":[],"classes":[],"all":{"op":"","dtype":"","shapes":"","kernels)"
     R"(":0,"ns":0,"bounded_ns":0,"bound_ns":0,"matmul_flops":0,"bytes":0},"steps":[],"l)"
     R"(eft_out":{}}})"},
};

inline constexpr const char* acting_options = R"(
> config show --worker-memory 4GiB
  --db other.db
  --color never
  --progress never
  --plugin hm_x.so
  --worker-memory 8GiB
  --phase-limit create=30
  ! --json --quiet: main prints by them, and the whole commands of tests/integration show it
  ! --allow-insecure-plugin: of a plugin that others can write: tests/unit/host
  ! --effective: names the one view that there is
> config schema sweep
  kind gate
  --markdown
> models
  name qwen3-0.6b
> ops
  op gemm
> explain
  word mfu
> completion bash
  shell fish
> man .
  folder missing
  --markdown
> devices --known
  ! --paths: asks plugins: tests/unit/tune/devices
  ! --known: without it plugins are asked: tests/integration/devices
  device h100
  --where 'memory_bytes >= 80e9'
  --sort bandwidth
> doctor --devices %f/device.toml
  --devices small.toml
  ! --mpi-hosts: reaches other machines
> new-plugin x --out y
  name z
  --out w
> fabric show lite
  fabric nvl72
> fabric collectives lite
  fabric nvlink-node
  --simulate
  --groups 2
> fabric probe --listen nowhere
  --listen elsewhere
  ! --peer --disk --id --out: measures links and memory of this machine

> model qwen3-0.6b --device h100-sxm
  --latency nosuch
  --weights nosuch.gguf
  --list
  --peak measured
  --measured-ms 5
  --tokens-per-s 35
  --max-context
  --what-if bandwidth=+20%
  --explain q_proj
  --all
  --json-schema reference
  --per-layer-ms 0.1
  --kernel-ms '{"gemm": 1}'
  --kernel-flow flow.json
> model qwen3-0.6b --device h100-sxm --measured-ms 5
  --convention palm
> model qwen3-0.6b --device h100-sxm --input 100 --output 10
  --concurrency 2
> model qwen3-0.6b --device h100-sxm --concurrency 2 --output 10
  --input 100
> model qwen3-0.6b --device h100-sxm --concurrency 2 --input 100
  --output 10
> model qwen3-0.6b --device h100-sxm --measured-ms 5 --convention palm
  --set attention=full
> model deepseek-v3 --device h200 --mtp 1
  --acceptance 0.85
> model qwen3-0.6b --device h100-sxm|simulate qwen3-0.6b --device h100-sxm|simulate step qwen3-0.6b --device h100-sxm
  model qwen3-1.7b
  --phase prefill
  --batch 4
  --context 4096
  --tp 2
  --pp 2
  --dp 2
  --dtype int8
  --precision kv_cache=f8_e4m3fn
  --device a100
  --devices 2
  --fused-qkv
  --mtp 1
> model qwen3-0.6b --device h100-sxm --tp 2|simulate qwen3-0.6b --device h100-sxm --tp 2|simulate step qwen3-0.6b --device h100-sxm --tp 2
  --fabric nvl72
> model qwen3-0.6b --phase prefill --pp 2 --device h100-sxm|simulate qwen3-0.6b --phase prefill --pp 2 --device h100-sxm|simulate step qwen3-0.6b --phase prefill --pp 2 --device h100-sxm
  --new-tokens 64
  --stages 10,18
  --cp 2
> model qwen3-30b-a3b --device h100-sxm --tp 2 --batch 64|simulate qwen3-30b-a3b --device h100-sxm --tp 2 --batch 64|simulate step qwen3-30b-a3b --device h100-sxm --tp 2 --batch 64
  --ep 2
> model qwen3-30b-a3b --device h100-sxm --tp 2 --ep 2 --batch 64|simulate qwen3-30b-a3b --device h100-sxm --tp 2 --ep 2 --batch 64|simulate step qwen3-30b-a3b --device h100-sxm --tp 2 --ep 2 --batch 64
  --routing-skew 50
  --expert-imbalance 1.37
> model qwen3-next-80b-a3b --phase prefill --tp 2 --device h100-sxm|simulate qwen3-next-80b-a3b --phase prefill --tp 2 --device h100-sxm|simulate step qwen3-next-80b-a3b --phase prefill --tp 2 --device h100-sxm
  --delta-chunk 64
> model qwen3-0.6b --phase training --batch 4 --dp 2 --tp 2 --device h100-sxm --fabric nvlink-node|simulate qwen3-0.6b --phase training --batch 4 --dp 2 --tp 2 --device h100-sxm --fabric nvlink-node|simulate step qwen3-0.6b --phase training --batch 4 --dp 2 --tp 2 --device h100-sxm --fabric nvlink-node|simulate training qwen3-0.6b --batch 4 --dp 2 --tp 2 --device h100-sxm --fabric nvlink-node
  --micro-batch 1
  --recompute full
  --zero 1
  --gradients f32
  --lora-rank 8
> model qwen3-0.6b --phase training --tp 2 --device h100-sxm
  --loss plain
  --sequence-parallel
> model gpt-3-125m --phase training --device h100-sxm|simulate gpt-3-125m --phase training --device h100-sxm --html page.html|simulate step gpt-3-125m --phase training --device h100-sxm --html page.html|simulate training gpt-3-125m --device h100-sxm --html page.html
  --optimizer sgd
> model qwen3-0.6b --device h100-sxm|simulate qwen3-0.6b --device h100-sxm|simulate step qwen3-0.6b --device h100-sxm|simulate training qwen3-0.6b --device h100-sxm
  --engine vllm
> simulate qwen3-0.6b --device h100-sxm|simulate step qwen3-0.6b --device h100-sxm|simulate training qwen3-0.6b --device h100-sxm
  --latency nosuch
  --runs 3
  --messages
  --by-layer
  --one-time boot=3
  --events-max 3
  --power-cap 400
  --power-budget 400
  --grid 100
  --otlp otlp.json
  --perfetto trace.json
  --events events.jsonl
  --shards 2
> simulate qwen3-0.6b --device h100-sxm --tp 2 --fabric lite --runs 3|simulate step qwen3-0.6b --device h100-sxm --tp 2 --fabric lite --runs 3|simulate training qwen3-0.6b --device h100-sxm --tp 2 --fabric lite --runs 3
  --seed 7
> simulate qwen3-0.6b --phase training --device h100-sxm --pp 2 --dp 2 --batch 8 --fabric nvlink-node|simulate step qwen3-0.6b --phase training --device h100-sxm --pp 2 --dp 2 --batch 8 --fabric nvlink-node|simulate training qwen3-0.6b --device h100-sxm --pp 2 --dp 2 --batch 8 --fabric nvlink-node
  --schedule zero-bubble
  --no-overlap
> simulate qwen3-0.6b --phase training --device h100-sxm --pp 2 --batch 8 --schedule interleaved|simulate step qwen3-0.6b --phase training --device h100-sxm --pp 2 --batch 8 --schedule interleaved|simulate training qwen3-0.6b --device h100-sxm --pp 2 --batch 8 --schedule interleaved
  --virtual-stages 7
> simulate gpt-3-125m --device h100-sxm|simulate step gpt-3-125m --device h100-sxm|simulate training gpt-3-125m --device h100-sxm
  --html page.html
> simulate training qwen3-0.6b --device h100-sxm
  model qwen3-1.7b
  --phase decode
  --batch 4
  --new-tokens 64
  --context 4096
  --tp 2
  --pp 2
  --dp 2
  --cp 2
  --dtype int8
  --precision kv_cache=f8_e4m3fn
  --device a100
  --devices 2
  --fused-qkv
  --mtp 1
> simulate training qwen3-0.6b --device h100-sxm --tp 2
  --fabric nvl72
> simulate training qwen3-0.6b --device h100-sxm --pp 2
  --stages 10,18
> simulate training qwen3-30b-a3b --device h100-sxm --tp 2 --batch 2
  --ep 2
> simulate training qwen3-30b-a3b --device h100-sxm --tp 2 --ep 2 --batch 2
  --routing-skew 50
  --expert-imbalance 1.37
> simulate training qwen3-next-80b-a3b --device h100-sxm
  --delta-chunk 64

> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8
  model qwen3-1.7b
  --device a100
  --devices 2
  --tp 2
  --pp 2
  --dp 2
  --ep 2
  --dtype int8
  --rate 4
  --concurrency 4
  --arrivals arrivals.csv
  --input 32
  --output 4
  --requests 4
  --mode shared
  --token-budget 16
  --kv-blocks 9
  --block-tokens 32
  --engine none
  --cold-start disk:2.5
  --ttft 1us
  --tpot 1us
  --latency nosuch
  --events events.jsonl
  --perfetto trace.json
  --html page.html
> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8 --rate 4
  --burst 2
  --seed 2
> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8 --concurrency 4
  --spread
> simulate serving qwen3-0.6b --device h100-sxm --engine none --requests 8 --input 64 --output 8 --concurrency 4
  --at-once
  --max-batch 3
> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8 --prefix-share 1 --prefix-tokens 16
  --prefix-tokens 32
  --prefix-share 0.5
> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8 --mode shared
  --prefill-share 0.2
> simulate serving qwen3-0.6b --device h100-sxm --requests 8 --input 64 --output 8 --mode disaggregated
  --prefill-workers 2
  --decode-workers 2
  --prefill-tp 2
  --prefill-pp 2
  --prefill-dp 2
  --prefill-ep 2
  --link-gb-per-s 1
> simulate serving qwen3-0.6b --device h100-sxm --arrivals skew.csv --dp 2
  --migrate

> simulate plan qwen3-0.6b --device h100-sxm --fabric nvlink-node --shards 2
  model qwen3-1.7b
  --device a100
  --fabric lite
  --shards 4
  --strategy pipeline
  --phase prefill
  --batch 4
  --context 4096
  --dtype int8
  --precision kv_cache=f8_e4m3fn
  --tp 2
  --pp 2
  --dp 2
  --ep 2
  --memory 0.01
  --latency nosuch
  --all
> simulate plan qwen3-0.6b --device h100-sxm --fabric nvlink-node --shards 2 --phase prefill
  --new-tokens 64
> simulate plan qwen3-0.6b --device h100-sxm --fabric nvlink-node --shards 2 --pp 2
  --stages 10,18
> simulate plan qwen3-30b-a3b --device h100-sxm --fabric nvlink-node --shards 2 --tp 2 --ep 2
  --routing-skew 50
  --expert-imbalance 1.37
> simulate plan qwen3-0.6b --device h100-sxm --fabric nvlink-node --shards 2 --phase training
  --zero 1
  --sequence-parallel
> simulate plan qwen3-0.6b --device h100-sxm --fabric nvlink-node --shards 2 --db absent.db
  --journal

> plan-size qwen3-0.6b --device h100-sxm --tokens 1e11 --days 10
  model qwen3-1.7b
  --device a100
  --dtype int8
  --tokens 2e11
  --sequence 8192
  --days 20
  --mfu 0.2
  --power-w 100
  --pue 2
  --price-per-device-hour 3
  --carbon-g-per-kwh 300
  --require
> plan-size qwen3-0.6b --device h100-sxm --tokens 1e11
  --devices 8
> plan-size qwen3-0.6b --device h100-sxm --requests-per-s 4 --input 100 --output 50
  --requests-per-s 8
  --input 1000
  --output 500
  --decode-mfu 0.01
  --latency roofline
> plan-size qwen3-0.6b --device h100-sxm --users 4
  --users 4000
  --ttft 2s
  --tpot 2s
> plan-size qwen3-0.6b --device h100-sxm --input 100 --output 50 --require --slo tpot_ms=30
  --slo tpot_ms=3
  --tp 2
> plan-mix qwen3-0.6b --devices h100-sxm,l4 --input-tokens 64 --output-tokens 32 --rate 4 --price h100-sxm=2,l4=1 --tp 1 --slices 1
  --ttft 2s
  --tpot 2s
  model qwen3-1.7b
  --devices h100-sxm
  --load load.toml
  --input-tokens 128
  --output-tokens 64
  --rate 8
  --slo tpot_ms=0.001
  --price h100-sxm=3,l4=1
  --tp 2
  --dtype int8
  --latency nosuch
> plan-mix qwen3-0.6b --devices h100-sxm,l4 --input-tokens 64 --output-tokens 32 --rate 900 --price h100-sxm=2,l4=1 --tp 1 --slices 1
  --slices 2
> rank-qpu %d/circuits/ghz.qasm
  circuit absent.qasm
  --shots 5
  --sample 100
  --as 3
> rank-qpu %d/circuits/ghz.qasm --sample 100
  --seed 5
  --noise google-willow

> tune small.toml --latency roofline --device-file h100-sxm
  sweep %f/dense.toml
  --plan
  --sampler random
  --trials 3
  --latency nosuch
  --device-file a100
  --fabric nvl72
  --stages 10,18
  --shards-on nosuch:0
  --mpi-hosts n1:2,n2:2
  --mpi-listen 127.0.0.2
  --fleet-class abc
  --night 2026-01-01
  --proposals nosuch
  --proof p.hmproof
  --out report.json
  --pick latency
  --as vllm
  --brief
  --rerun
  --no-winners
  --gap 0.1
  --safety 2
  --validate
> tune small.toml --latency roofline --device-file h100-sxm --sampler random --trials 2
  --seed 7
> tune small.toml --latency roofline --device-file h100-sxm --mpi-hosts n1:2,n2:2
  --fleet postgresql://h/d
> tune %f/dense.toml --latency journal:%f/dense.db,roofline --device-file %f/device.toml
  --bounds-compete
> tune small.toml --latency imported:table.csv,roofline --device-file h100-sxm
  --tables-device a100
  --series nosuch
  --layout layout.toml
> tune small.toml --latency roofline --device-file h100-sxm --proposals sqlite:%f/dense.db.study --proposals-wait 0
  --proposals-study nosuch
  ! --proposals-wait: how long nothing is done: tests/integration/study
> tune qwen3-0.6b --device h100-sxm --devices 1 --out r.xyz
  --print-sweep
> tune qwen3-0.6b --device h100-sxm --devices 1 --input 32 --output 16 --ttft 2s --tpot 2s --print-sweep
  --device a100
  --devices 2
  --input 64
  --output 32
  --concurrency 3,5
  --dtype fp8
  --ttft 1s
  --tpot 1s
> tune small.toml --latency roofline --device-file h100-sxm --as k8s --server-version 0.20.1 --nodes nodes.toml --db x.db
  --server-version 0.24.0
  --engine sglang
  --nodes absent.toml
  --image i:1
  --checkpoint c

> trace %d/tiny-qwen3-sdpa.trace.json.gz
  file absent.json
  --recipe vllm
  --min-flops 1e30
  --layers 0
  --stage unknown
  --category matmul
  --compare %d/tiny-qwen3.json
  --max-unpacked-mib 1
  ! --predict --backend --device --rounds --seconds: measures kernels: tests/integration/report
> trace %d/tiny-qwen3-sdpa.trace.json.gz --compare %d/tiny-qwen3-next.json
  --tolerance 100
> trace %d/tiny-qwen3-sdpa.trace.json.gz --compare %d/tiny-qwen3.json
  --phase prefill
  --batch 7
  --new-tokens 3
  --context 9
  --tp 2
  --pp 2
  --stages 1,1
  --dp 2
  --ep 2

> report --db %f/dense.db
  --run 7
  --out r.json
> export --db %f/dense.db
  --as vllm
  --alike 99
  --study nosuch
  --run 7
> export --db %f/dense.db --as csv
  --front
  --out x.csv
> export --db %f/dense.db --as llamacpp --server-version b11434
  --server-version nosuch
  --checkpoint c
  --point 2
  --pick latency
> export --db %f/dense.db --as k8s --server-version 0.20.1 --nodes nodes.toml
  --engine sglang
  --nodes absent.toml
  ! --image: of pods of GPUs, and the fixture has none: tests/integration/exchange
> export --db %f/dense.db --as llamacpp --server-version b11434 --out ./
  --overwrite
> import vllm-bench vllm.json --input 8 --output 4 --batch 2 --model qwen3-0.6b --db x.db
  tool llama-bench
  file absent.json
  --model qwen3-1.7b
  --engine-version 9
  --dtype bf16
  --device d
  --batch 3
  --input 9
  --output 5
> deploy-check --engine . --db %f/dense.db --run 77
  --engine absent
  --run 78
  --study nosuch
  --as openvino
> deploy-check --engine . --db %f/dense.db --point 99
  --server-version nosuch
  ! --point: starts an engine: tests/integration/test_deploy_check.cpp
> compare %f/dense.db %f/moe.db
  before %f/moe.db
  after %f/dense.db
  --floor nosuch
  --gate
  --out c.json
> compare %f/dense.db %f/dense.db --out c.json
  --live
> compare a b --live --op gemm --dtype f32 --params nosuch
  --op nosuch
  --params other
> compare a b --live --op gemm --dtype nosuch
  --dtype other
> compare a b --live --db %f/dense.db --backend nosuch
  --backend other
  ! --device --pairs --seconds: measures: tests/integration/report
> bisect --good a --bad b --build c --measure d
  --floor nosuch
  --figure '('
  --repository other
  ! --good --bad --build --measure --bigger-is-better --measure-limit --confidence --max-pairs --build-limit --folder --rerun --built series: act on a git repository: tests/integration/commands
> bisect --good a --bad b --build c --built d --op gemm --dtype f32 --params nosuch
  --op nosuch
  --params other
> bisect --good a --bad b --build c --built d --op gemm --dtype nosuch
  --dtype other
> bisect --good a --bad b --build c --built d --db %f/dense.db --backend nosuch
  --backend other
  ! --device --seconds: measures: tests/integration/commands
> compare-devices h100-sxm a100
  sides l4
  --what-if bandwidth=+20%
  --price h100-sxm=2
  --op rmsnorm
  --floor nosuch
  --out d.json
> compare-devices h100-sxm h200
  --model qwen3-0.6b
> compare-devices h100-sxm h200 --model qwen3-0.6b
  --devices 2
  --dtype fp8
  --input 100
  --output 10
  --concurrency 4
  --ttft 10ms
  --tpot 4ms
> compare-devices table.csv=h100-sxm a100
  --layout layout.toml
> history --db %f/dense.db
  --op gemm
  --model nosuch
  --device nosuch
  --list
  --floor nosuch
  --gate
  --out h.json
  --digest
  ! --nights: of more runs than a fixture has: tests/unit/history
> history --db %f/dense.db --digest
  --since nosuch
  ! --post: reaches a server: tests/unit/history
> retire --db %f/dense.db --keep-runs 1 --dry-run
  --keep-runs 2
  --keep-nights 2
  --older-than 30d
  ! --dry-run: changes the database: tests/integration/databases
> onboard --out a --plan
  ! --out --backend --device --dtype --minutes --goal --seed --plan: asks a plugin: tests/unit/onboard
> record --out a.json --from %f/dense.db
  --from %f/moe.db
  ! --minutes --backend --device --out: measures: tests/integration/bench
> board record.json
  records other.json
  --price Made-up=2
  --out board.json
> verify %f/dense.db
  database %f/moe.db
  --chain 0000
  --run 7
> verify-front %f/certify.hmproof
  proof %f/gap.hmproof
  --journal %f/certify.db
> salvage %f/dense.db out.db
  from %f/moe.db
  to other.db
> backup --db %f/dense.db --to a
  --to nodes.toml
> study list --study sqlite:%f/dense.db.study
  --study sqlite:%f/moe.db.study
> study show --study sqlite:%f/dense.db.study 'dense decode, run 1'
  name 'dense prefill, run 1'
  --study sqlite:%f/moe.db.study
  --rows 1
  --all
> study export 'dense decode, run 1' --study sqlite:%f/dense.db.study --to journal:a.log
  name 'dense prefill, run 1'
  --study sqlite:%f/moe.db.study
  --to journal:b.log
  --as other
> study import sqlite:%f/dense.db.study 'dense decode, run 1' --study journal:a.log
  from sqlite:%f/moe.db.study
  name 'dense prefill, run 1'
  --study journal:b.log
  --as other
> study serve space.toml --study journal:a.log
  space absent.toml
  --sampler nosuch
  --study journal:b.log
  --name other
  --seed 4
  ! --trials --lease: what a worker is told over a pipe: tests/integration/study
> launch postgresql://h/d --slurm 4 --print
  url postgresql://h/e
  --slurm 5
  --partition p
  --constraint c
  --gres gpu:8
  --time 1:00:00
  --program /p/halmark
  --idle 3
  --lease 9
  --ssh a,b
> launch postgresql://h/d --kubernetes 4 --image i:1
  --kubernetes 5
  --image i:2
  ! --print: without it a scheduler is asked: tests/integration/fleet
> fleet nosuch
  url other
> agent nosuch
  url other
  ! --node --lease --idle --spool --sentinel --check: asks a server: tests/integration/fleet

> forecasts
  device nosuch
> serve --html p.html --state device=h100-sxm --latency roofline
  --latency nosuch
> serve --html p.html --state device=nosuch
  --state device=other
  ! --port --listen --allow-host --writable --html: serves by HTTP: tests/integration/serve
> aa --op nosuch --dtype f32
  --op other
> aa --op gemm
  --dtype nosuch
> aa --op gemm --dtype f32 --params nosuch
  --params other
  ! --pairs --rounds --seconds --backend --device --out: measures: tests/integration/bench
> bench --op nosuch --dtype f32
  --op other
> bench --op gemm --dtype nosuch
  --dtype other
> bench --op gemm --dtype f32 --params nosuch
  --params other
  --sweep small.toml
  --mpi-listen 127.0.0.2
  --shards-on nosuch
> bench --op gemm --dtype f32 --params nosuch --parts 2
  --mpi-hosts n1:2,n2:2
> bench --op gemm --dtype f32 --params nosuch --store --rounds 1
  --variants all
> bench --op gemm --dtype f32 --params nosuch --store --variants all --rounds 1
  --rounds 9
> bench --op gemm --dtype f32 --backend cpu:0/x,opencl
  --backend cpu:0/y,opencl
  --device 1
  --kernel k
  --parts 2
  --shards 2
  --baseline b
  --store
  ! --mode --sets --seconds --sampler --trials --seed --no-store: measures: tests/integration/bench
> peaks
  ! --long --backend --device --out: measures: tests/integration/devices
> judge kernel.c --op gemm
  ! source --op --params --dtype --device --baseline --keep --flag --compile-limit --rounds --seconds: builds and measures: tests/integration/judge
> run nosuch
  model other
> run qwen3-0.6b --phase training
  --phase nosuch
  --dtype nosuch
  --precision nosuch
  --expert-imbalance nosuch
  ! --stages --batch --new-tokens --context --tp --pp --dp --ep --routing-skew: measures; declared with those of model
  ! --backend --device --shards-on --mpi-hosts --mpi-listen --fabric --rounds --seconds --isolated --no-store --no-winners: measures: tests/integration/tune
)";

}  // namespace halmark::cli
