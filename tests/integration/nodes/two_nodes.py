"""A second node for tests: a network namespace with a name and mounts of its own and a cable to this one."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE, THERE = "10.97.0.1", "10.97.0.2"


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def enter_namespace():
    if os.environ.get("HALMARK_IN_NAMESPACE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.environ["HALMARK_IN_NAMESPACE"] = "1"
    probe = subprocess.run(["unshare", "-n", "-u", "-m", "true"], capture_output=True)
    if probe.returncode != 0:
        skip("no network namespaces here: " + probe.stderr.decode().strip())
    os.execvp("unshare", ["unshare", "-n", "-u", "-m", sys.executable, "-B", *sys.argv])


class Node:
    """A second node: network, name and mounts of its own, reached by an agent in the place of ssh."""

    def __init__(self, folder):
        self.holder = subprocess.Popen(["unshare", "-n", "-u", "-m", "sleep", "300"])
        other = f"/proc/{self.holder.pid}/ns/net"
        end = time.monotonic() + 5
        while os.readlink(other) == os.readlink("/proc/self/ns/net"):
            if time.monotonic() > end:
                raise RuntimeError("no second namespace")
            time.sleep(0.05)
        self.inside = ["nsenter", "--target", str(self.holder.pid), "--net", "--uts", "--mount", "--"]
        made = subprocess.run(["ip", "link", "add", "hm0", "type", "veth", "peer", "name", "hm1",
                               "netns", str(self.holder.pid)], capture_output=True)
        if made.returncode != 0:
            self.close()
            skip("no virtual cable here: " + made.stderr.decode().strip())
        for words in (["ip", "addr", "add", HERE + "/24", "dev", "hm0"],
                      ["ip", "link", "set", "hm0", "up"], ["hostname", "node-one"],
                      [*self.inside, "ip", "addr", "add", THERE + "/24", "dev", "hm1"],
                      [*self.inside, "ip", "link", "set", "hm1", "up"],
                      [*self.inside, "ip", "link", "set", "lo", "up"],
                      [*self.inside, "hostname", "node-two"]):
            subprocess.run(words, check=True)
        # Both nodes see one /tmp, in which their daemons would meet.
        (folder / "two").mkdir()
        agent = folder / "agent"
        agent.write_text(f"#!/bin/sh\nshift\nexec {' '.join(self.inside)} "
                         f"env TMPDIR={folder}/two sh -c \"$*\"\n")
        agent.chmod(0o755)
        os.environ["OMPI_MCA_plm_rsh_agent"] = str(agent)

    def run(self, *words):
        subprocess.run([*self.inside, *words], check=True)

    def space(self):
        return os.readlink(f"/proc/{self.holder.pid}/ns/net")

    @staticmethod
    def own_space():
        return os.readlink("/proc/self/ns/net")

    def close(self):
        self.holder.kill()
        self.holder.wait()


def expect(condition, what, text):
    if not condition:
        raise SystemExit(f"failed: {what}\n{text}")


def left_over(program):
    """Processes of the worker or of the launcher's daemon, by the names of their programs."""
    out = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            is_of_here = os.readlink(entry / "ns/net") in SPACES
        except OSError:
            continue
        if is_of_here and pathlib.Path(os.fsdecode(words[0])).name in (program, "orted", "mpirun"):
            out.append(words)
    return out


SPACES = set()
