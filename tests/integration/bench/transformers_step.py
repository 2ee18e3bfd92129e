#!/usr/bin/env python3
"""Times, and then profiles, one step of a decoder with random weights.

    transformers_step.py CONFIG.json PHASE TOKENS TRACE.json.gz [--context 128] [--steps 15] [--passes 5]

PHASE prefill: TOKENS new tokens of one sequence; decode: one token each of TOKENS sequences behind
--context cached ones. Prints one line of JSON: the milliseconds of each step that ran without the
profiler. Needs torch and transformers.
"""

import argparse
import gzip
import json
import os
import tempfile
import time

import torch
import transformers
from torch.profiler import ProfilerActivity, profile, record_function


def model_of(config_file, dtype):
    with open(config_file, encoding="utf-8") as file:
        fields = json.load(file)
    config = transformers.AutoConfig.for_model(**fields)
    config._attn_implementation = "sdpa"
    torch.manual_seed(1)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype)).eval()


def step_of(model, phase, tokens, context):
    vocabulary = model.config.vocab_size
    if phase == "prefill":
        ids = torch.randint(vocabulary, (1, tokens))
        return lambda: model(ids, use_cache=True, logits_to_keep=1)
    prompt = torch.randint(vocabulary, (tokens, context))
    cache = model(prompt, use_cache=True, logits_to_keep=1).past_key_values
    ids = torch.randint(vocabulary, (tokens, 1))

    def decode():
        model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache.crop(-1)

    return decode


def write_trace(step, passes, file_name):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        for number in range(passes):
            with record_function(f"ProfilerStep#{number}"):
                step()
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "trace.json")
        recorded.export_chrome_trace(plain)
        with open(plain, "rb") as source, gzip.open(file_name, "wb") as target:
            target.write(source.read())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("phase", choices=["prefill", "decode"])
    parser.add_argument("tokens", type=int)
    parser.add_argument("trace")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--passes", type=int, default=5, help="steps in the trace")
    options = parser.parse_args()

    torch.set_grad_enabled(False)
    step = step_of(model_of(options.config, options.dtype), options.phase, options.tokens, options.context)
    for _ in range(3):
        step()
    milliseconds = []
    for _ in range(options.steps):
        begin = time.perf_counter()
        step()
        milliseconds.append(1e3 * (time.perf_counter() - begin))
    write_trace(step, options.passes, options.trace)
    print(json.dumps({"step_ms": milliseconds, "threads": torch.get_num_threads(),
                      "torch": torch.__version__}))


if __name__ == "__main__":
    main()
