"""A sweep of seconds on the fake device, for tests of fleets, and how such a test is skipped."""
import sys

SWEEP = """name = "{name}"
model = "{model}"
backend = "fake"
dtypes = ["f32"]
shards = [1]
budget_s = 60
[[workload]]
phase = "decode"
batch = [1, 2]
context = 32
[measure]
rounds = 2
sample_budget_s = 0.002
samples_min = 3
repeat_budget_s = 0
"""


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)
