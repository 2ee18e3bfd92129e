#!/usr/bin/env python3
"""Profiles one prefill and one decode step of a tiny model with random weights.

    make_trace.py CONFIG.json OUT.json.gz [--attention sdpa|eager] [--batch 2] [--prompt 16]

Needs torch and transformers (python3 -m pip install torch transformers). The trace has shapes, the
python call tree and a ProfilerStep annotation per step; what tests/data/README.md says of each
committed trace was printed by this script.
"""

import argparse
import gzip
import json
import os
import tempfile

import torch
import transformers
from torch.profiler import ProfilerActivity, profile, record_function


def model_of(config_file, attention):
    with open(config_file, encoding="utf-8") as file:
        fields = json.load(file)
    config = transformers.AutoConfig.for_model(**fields)
    config._attn_implementation = attention
    torch.manual_seed(1)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def two_steps(model, batch, prompt):
    ids = torch.randint(model.config.vocab_size, (batch, prompt))
    with record_function("ProfilerStep#0"):
        out = model(ids, use_cache=True, logits_to_keep=1)
    ids = out.logits[:, -1:].argmax(-1)
    with record_function("ProfilerStep#1"):
        model(ids, past_key_values=out.past_key_values, use_cache=True, logits_to_keep=1)


# Addresses and host names say nothing and differ from run to run.
def without_machine(trace):
    for key in ("deviceProperties", "trace_id", "traceName", "host_name"):
        trace.pop(key, None)
    return trace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("out")
    parser.add_argument("--attention", default="sdpa")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=16)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = model_of(options.config, options.attention)
    two_steps(model, options.batch, options.prompt)  # lazy initialisation
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 with_stack=True) as profiler:
        two_steps(model, options.batch, options.prompt)
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(plain)
        with open(plain, encoding="utf-8") as file:
            trace = without_machine(json.load(file))
    # A fixed time stamp: the same events give the same bytes.
    with open(options.out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(json.dumps(trace, indent=1).encode())
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, "
          f"{options.attention} attention, batch {options.batch}, prompt {options.prompt}, "
          f"{len(trace['traceEvents'])} events")


if __name__ == "__main__":
    main()
