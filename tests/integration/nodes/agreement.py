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

from two_nodes import HERE, SPACES, THERE, Node, enter_namespace, expect, left_over, skip


def ask(halmark, hosts):
    done = subprocess.run([halmark, "doctor", "--mpi-hosts", hosts], capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout + done.stderr


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


if __name__ == "__main__":
    main()
