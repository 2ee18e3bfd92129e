"""Two nodes of one MPI job, in two network namespaces with a cable between them: both are reached and
agree; a node with another build of the worker, and one whose cable is cut, are refused by name; nothing
that was started for them is left.

    agreement.py HALMARK    exit 77 with the reason where something is missing
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
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

    def close(self):
        self.holder.kill()
        self.holder.wait()


def ask(halmark, hosts):
    done = subprocess.run([halmark, "doctor", "--mpi-hosts", hosts], capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout + done.stderr


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


def main():
    halmark = sys.argv[1]
    if shutil.which("mpirun") is None:
        skip("mpirun is not installed")
    enter_namespace()
    worker = pathlib.Path(halmark).resolve().parent / "halmark-worker"
    with tempfile.TemporaryDirectory(prefix="hm-", dir="/tmp") as folder:
        folder = pathlib.Path(folder)
        node = Node(folder)
        SPACES.update({os.readlink("/proc/self/ns/net"),
                       os.readlink(f"/proc/{node.holder.pid}/ns/net")})
        try:
            hosts = f"{HERE}:2,{THERE}:2"
            code, text = ask(halmark, hosts)
            expect(code == 0 and f"node {HERE}" in text and "node-two" in text, "two nodes agree", text)
            other = folder / "halmark-worker"
            other.write_bytes(worker.read_bytes() + b"another build")
            other.chmod(0o755)
            node.run("mount", "--bind", str(other), str(worker))
            code, text = ask(halmark, hosts)
            expect(code == 5 and f"node {THERE} has another build of halmark-worker" in text,
                   "another build is refused by the node's name", text)
            node.run("umount", str(worker))
            subprocess.run(["ip", "link", "set", "hm0", "down"], check=True)
            code, text = ask(halmark, hosts)
            expect(code == 5 and "no report from" in text and THERE in text, "a cut cable is refused", text)
            subprocess.run(["ip", "link", "set", "hm0", "up"], check=True)
            code, text = ask(halmark, hosts)
            expect(code == 0, "the cable alone was the cause", text)
            expect(not left_over("halmark-worker"), "nothing is left", str(left_over("halmark-worker")))
        finally:
            node.close()
    print("two nodes agree; another build and a cut cable are refused; nothing is left")


SPACES = set()

if __name__ == "__main__":
    main()
