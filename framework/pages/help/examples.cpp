#include "pages/help/examples.hpp"

#include <algorithm>
#include <array>

namespace halmark {
namespace {

struct Example {
  std::string_view path, lines;
};

constexpr std::array examples = {
    Example{
        "aa",
        "  halmark aa   finds limits and rounds of this machine, which bench, tune and run read"},
    Example{"agent",
            "  halmark agent postgresql://halmark@db/halmark   this machine measures for it"},
    Example{"backup", "  halmark backup --to copies   verified copies; the latest 7 stay"},
    Example{"bench",
            "  halmark bench --op gemm   a usual problem; halmark ops lists the ops\n"
            "  halmark bench --op gemm --params 'm=[1,512],n=4096,k=4096' --dtype bf16,f32\n"
            "  halmark bench --op all_reduce --params bytes=1048576,ranks=2 --dtype f32"},
    Example{
        "bisect",
        "  halmark bisect --good v1 --bad main --build 'make -j4' --measure './bench | tail -n 1'\n"
        "  halmark bisect --good v1 --bad HEAD --build ./build.sh --built out/hm_x.so --op gemm"},
    Example{"board",
            "  halmark board records --out board.html         a folder of records, ranked\n"
            "  halmark board a.json b.json --price 'AMD EPYC=0.4'"},
    Example{
        "compare",
        "  halmark compare 2026-11-20 2026-11-21   two nights: what became slower\n"
        "  halmark compare --live hm_cpu.so now --gate   two builds, interleaved; exit 3 gates"},
    Example{"compare-devices",
            "  halmark compare-devices mi300x h200 --model deepseek-v3   a served load on both\n"
            "  halmark compare-devices h100 h200 --what-if bandwidth=+20%"},
    Example{"completion",
            "  halmark completion bash > ~/.local/share/bash-completion/completions/halmark"},
    Example{"config",
            "  halmark config show --effective\n"
            "  halmark config schema sweep > sweep.schema.json"},
    Example{"config schema", "  halmark config schema sweep > sweep.schema.json"},
    Example{"config show", "  halmark config show --effective"},
    Example{"deploy-check",
            "  halmark deploy-check --engine ~/llama.cpp/build/bin   its own step, measured here"},
    Example{"devices",
            "  halmark devices   what this machine has\n"
            "  halmark devices h100   every figure of a known device\n"
            "  halmark devices --known --where 'memory_bytes >= 80e9' --sort bandwidth"},
    Example{"doctor", "  halmark doctor   what is missing here, and the command that gets it"},
    Example{"explain",
            "  halmark explain mfu   what the MFU of every table is, with its formula\n"
            "  halmark explain 'x16 t8192 fp8 tp8'   each part of a point\n"
            "  halmark explain nightly   a workflow that gates pull requests"},
    Example{"export",
            "  halmark export   the points of the latest front\n"
            "  halmark export --as vllm --out serve/   what vLLM starts from"},
    Example{"fabric",
            "  halmark fabric show nvl72   levels, links with their sources, bisection\n"
            "  halmark fabric collectives nvlink-node"},
    Example{"fabric collectives", "  halmark fabric collectives nvlink-node"},
    Example{"fabric probe",
            "  halmark fabric probe --disk . -o here.toml   memory and storage as tiers"},
    Example{"fabric show",
            "  halmark fabric show nvl72   levels, links with their sources, bisection"},
    Example{"fleet", "  halmark fleet postgresql://halmark@db/halmark"},
    Example{"forecasts", "  halmark forecasts h100   engines, releases, rows and errors"},
    Example{"history",
            "  halmark history --gate   all nights; exit 3 where something is slower\n"
            "  halmark history --digest --out digest.md   what is new since the last one"},
    Example{"import",
            "  halmark import llama-bench bench.jsonl   steps that export shows beside its points"},
    Example{"judge",
            "  halmark judge kernel.c --op gemm   a usual problem\n"
            "  halmark judge kernel.cu --op gemm --params m=8192,n=8192,k=8192 --dtype bf16"},
    Example{"launch",
            "  halmark launch postgresql://halmark@db/halmark --slurm 4 --constraint h100"},
    Example{"man", "  halmark man ~/.local/share/man/man1"},
    Example{"model",
            "  halmark model llama-3.3-70b --device h100 --devices 4 --batch 8\n"
            "  halmark model llama-3.1-8b --device rtx-4090 --tokens-per-s 35   how good is that?\n"
            "  halmark model qwen3-32b --device h100 --tp 2 --batch 16 --max-context\n"
            "  halmark model llama-3.1-8b --device h100 --what-if bandwidth=+20%"},
    Example{"models", "  halmark models qwen3-32b"},
    Example{"new-plugin", "  halmark new-plugin mine   writes the folder hm_mine"},
    Example{
        "onboard",
        "  halmark onboard --out mine --minutes 30   then: halmark model qwen3-8b --device mine\n"
        "  halmark onboard --out mine --plan"},
    Example{"ops", "  halmark ops gemm   what halmark bench --op gemm --params takes"},
    Example{"peaks", "  halmark peaks   the ceilings that MFU is counted against here"},
    Example{
        "plan-mix",
        "  halmark plan-mix llama-3.1-8b --devices h100-sxm,l4 --load load.toml --price l4=0.7"},
    Example{"plan-size",
            "  halmark plan-size deepseek-v3 --device mi300x --requests-per-s 20\n"
            "  halmark plan-size llama-3.1-8b --device h100 --tokens 15e12 --days 30"},
    Example{"rank-qpu", "  halmark rank-qpu bell.qasm --sample 1000 --seed 1"},
    Example{"record",
            "  halmark record --out here.json                measures for about 20 minutes\n"
            "  halmark record --from results.db --out here.json   of what was measured"},
    Example{"report", "  halmark report --out page.html   the latest run again"},
    Example{
        "retire",
        "  halmark retire --keep-nights 30   deletes raw samples of older nights; figures stay"},
    Example{"run",
            "  halmark run qwen3-0.6b --tp 2   the whole stack beside the sum of its kernels"},
    Example{"salvage", "  halmark salvage results.db sound.db   exit 4: some rows did not verify"},
    Example{"serve",
            "  halmark serve   prints the address of the page\n"
            "  halmark serve --html page.html --state 'model=qwen3-32b&shards=8'"},
    Example{"simulate",
            "  halmark simulate llama-3.1-8b --device h100 --fabric nvlink-node --shards 8\n"
            "  halmark simulate serving llama-3.1-8b --device h100 --devices 2 --rate 4"},
    Example{"simulate plan",
            "  halmark simulate plan qwen3-32b --device h100-sxm --fabric nvlink-node --shards 8"},
    Example{"simulate serving",
            "  halmark simulate serving llama-3.1-8b --device h100 --devices 2 --rate 4 --ttft 1s"},
    Example{"simulate step",
            "  halmark simulate step llama-3.1-8b --device h100 --fabric nvlink-node --shards 8"},
    Example{"simulate training",
            "  halmark simulate training llama-3.1-8b --device h100 --fabric nvlink-node --pp 8"},
    Example{"study",
            "  halmark study list\n"
            "  halmark study serve space.toml --study sqlite:mine.db   tunes any program"},
    Example{"study export", "  halmark study export mine.db --to journal:mine.log"},
    Example{"study import", "  halmark study import sqlite:///optuna.db"},
    Example{"study list", "  halmark study list"},
    Example{"study serve", "  halmark study serve space.toml --study sqlite:mine.db"},
    Example{"study show", "  halmark study show mine.db"},
    Example{"trace",
            "  halmark trace step.json.gz   where the time went\n"
            "  halmark trace step.json.gz --compare llama-3.1-8b --phase training"},
    Example{"tune",
            "  halmark tune quickstart   a model on this CPU, and its Pareto front\n"
            "  halmark tune qwen3-32b --device h100 --devices 4 --ttft 1s --tpot 30ms --as vllm\n"
            "  halmark tune qwen3-32b --device h100 --devices 4 --print-sweep > mine.toml"},
    Example{"verify",
            "  halmark verify   every row and chain of the results database\n"
            "  halmark verify results.db --chain HASH --run 3   every change since HASH was noted"},
    Example{"verify-front", "  halmark verify-front front.hmproof --journal results.db"},
    Example{"winners", "  halmark winners"},
};
static_assert(std::ranges::is_sorted(examples, {}, &Example::path));

}  // namespace

std::string_view example_of(std::string_view path) {
  const auto at = std::ranges::lower_bound(examples, path, {}, &Example::path);
  return at != examples.end() && at->path == path ? at->lines : std::string_view();
}

}  // namespace halmark
