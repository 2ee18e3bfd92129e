"""Drives `halmark study serve` as any program would: one JSON line to it, one back."""
import json
import subprocess


class Serve:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __call__(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("serve ended: " + self.process.stderr.read())
        return json.loads(line)

    def ask(self, count):
        return self({"ask": count})["trials"]

    def tell(self, outcomes):
        answer = self({"tell": outcomes})
        assert answer == {"ok": True}, answer

    def close(self):
        """Ends it in order; what it said on stderr."""
        _, err = self.process.communicate()
        assert self.process.returncode == 0, err
        return err


SPACE = """
[[parameter]]
name = "strategy"
kind = "categorical"
values = ["data", "tensor", true, 3, 0.5]
[[parameter]]
name = "tile"
kind = "ordinal"
values = [16, 32, 64, 128]
[[parameter]]
name = "threads"
kind = "int"
low = 1
high = 9
step = 2
[[parameter]]
name = "cache"
kind = "int"
low = 1
high = 64
log = true
when = "strategy == 'tensor'"
[[parameter]]
name = "fraction"
kind = "float"
low = 0.25
high = 0.75
step = 0.25
[[constraint]]
name = "tile_fits"
expression = "tile * threads <= 512"
[[objective]]
name = "latency_ms"
[[objective]]
name = "tokens_per_s"
direction = "maximize"
"""


def values_of(params):
    """Two objectives that pull apart."""
    latency = params["tile"] / 16 + 9 / params["threads"] + params.get("cache", 20) / 10
    latency += {"data": 3, "tensor": 0}.get(params["strategy"], 5)
    return [latency, params["tile"] * params["threads"] * params["fraction"]]
