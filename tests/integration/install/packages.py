"""Packages of this build, each used where nothing of the build can be reached, and removed without a trace.

    packages.py tarball BUILD           here, with an empty environment and under another name
    packages.py bare BUILD [--suite S]  on a bare Debian without compiler and network: tarball, wheel, and the Debian
                                        package where S is the release of this machine (77 where none can be made)
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TREE / "scripts"), str(TREE / "tests/integration/fleet")]
import packed  # noqa: E402  what a bare system has is written there
from small_sweep import SWEEP  # noqa: E402

QUIET_PATH = "PATH=/usr/bin:/bin:/usr/sbin:/sbin"


def expect(condition, what, text=""):
    if not condition:
        sys.exit(f"packages: {what}\n{text}")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command, codes=(0,), **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    expect(done.returncode in codes, f"exit code {done.returncode} of {' '.join(map(str, command))}", done.stdout + done.stderr)
    return done.stdout + done.stderr


def made(build, output, *kinds):
    run(TREE / "scripts/make-packages", "--build", build, "--output", output, *kinds)
    return {kind: next(output.glob(f"*.{suffix}")) for kind, suffix in
            (("tarball", "tar.gz"), ("wheel", "whl"), ("deb", "deb")) if kind in kinds}


def three_uses(halmark, work):
    """`halmark(arguments...)` runs the program in the folder `work`."""
    expect(re.match(r"halmark \d+\.\d+", halmark("--version")), "no version")
    said = halmark("model", "llama-3.1-8b", "--device", "h200")
    expect("forecast on h200" in said, "no forecast for a known device", said)
    said = halmark("devices")
    expect("cpu:0" in said and "cannot open" not in said, "the backend of the CPU does not load", said)
    (work / "tiny.toml").write_text(SWEEP.format(name="tiny", model="tiny_model.json").replace('"fake"', '"cpu"'))
    shutil.copy(TREE / "tests/integration/data/tiny_model.json", work)
    # A busy neighbour may leave the front undecided (4), which is not what is asked here.
    said = halmark("tune", "tiny.toml", "--db", "results/tiny.db", "--quiet", codes=(0, 4))
    expect("of 2 configurations" in said, "two configurations were not measured", said)


def is_of_the_folder(folder, line):
    name, _, place = line.strip().partition(" => ")
    if not place or packed.BARE.match(name):
        return True
    return place.startswith(str(folder))


def require_own_libraries(folder):
    """What the loader takes from this machine is what every machine has: asked for each program with plugins and modules."""
    opened = [str(path) for path in folder.glob("lib*/halmark/*/h*.so") if path.name != "halmark_cpu_mpi.so"]
    for program in (folder / "bin").iterdir():
        text = run(program, env={"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(opened)}, codes=(0, 1))
        foreign = [line for line in text.splitlines() if not is_of_the_folder(folder, line)]
        expect("libdnnl" in text and not foreign, f"{program.name} needs libraries of this machine", "\n".join(foreign))


def state_peaks(halmark, home):
    """Measuring them takes longer than all the rest; on the bare machine they are measured."""
    fingerprint = re.search(r"fingerprint: (\S+)", halmark("doctor"))[1]
    known = home / ".local/state/halmark/devices" / f"{fingerprint}.toml"
    known.parent.mkdir(parents=True)
    known.write_text(f'id = "here"\nname = "here"\nkind = "cpu"\nfingerprint = "{fingerprint}"\nmemory_bytes = 1073741824\n')


def tarball(build):
    with tempfile.TemporaryDirectory(prefix="halmark-packages-") as scratch:
        scratch = pathlib.Path(scratch).resolve()
        file = made(build, scratch / "out", "tarball")["tarball"]
        run("tar", "xf", file, "-C", scratch)
        folder = scratch / "another"  # where neither build nor installation ever was
        next(scratch.glob("halmark-*")).rename(folder)
        require_own_libraries(folder)
        work, home = scratch / "work", scratch / "home"
        work.mkdir()
        home.mkdir()
        (work / "hm").symlink_to("../another/bin/halmark")

        def halmark(*arguments, **options):
            return run("/usr/bin/env", "-i", QUIET_PATH, f"HOME={home}", "./hm", *arguments, cwd=work, **options)

        state_peaks(halmark, home)
        three_uses(halmark, work)
        if shutil.which("mpirun"):
            said = halmark("bench", "--op", "all_reduce", "--params", "bytes=1024,ranks=2", "--quiet", "--no-store", codes=(0, 4))
            expect("MPI_Allreduce" in said, "this machine's MPI was not used", said)
        (work / "hm").unlink()
        shutil.rmtree(folder)
        # What is known of this machine is the person's own, and OpenCL keeps a cache where it is asked for devices.
        left = {name for path in scratch.rglob("*") if path.is_file() and path != file
                if not (name := str(path.relative_to(scratch))).startswith(("home/.local/state/halmark/", "home/.cache/pocl/"))}
        expect(left == {"work/tiny.toml", "work/tiny_model.json", "work/results/tiny.db", "work/results/tiny.db.study"},
               "files outside of its folder and the results", left)


# -- a bare machine ------------------------------------------------------------------------------

def own_suite():
    return re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]


def mirror():
    """Where this machine gets its own release from."""
    targets = run("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)").splitlines()
    found = [line.split()[2] for line in targets if line.startswith(f"{own_suite()} main ")]
    return found[0] if found else skip("apt knows no mirror of this release here")


class Bare:
    """A Debian of its own below a folder; commands run there without network unless they ask for it."""

    def __init__(self, root, suite):
        self.root = root
        done = subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", suite, root, mirror()],
                              capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"debootstrap made no {suite}: {done.stdout.strip().splitlines()[-1:]}")
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        expect(not list(root.glob("usr/bin/*gcc*")), "there is a compiler")

    def run(self, script, network=False, codes=(0,)):
        """A script of bash in the folder of a person without rights of the machine's own."""
        enter = ('for part in proc sys dev; do mount --rbind /$part "$0/$part"; done; exec chroot "$0" /usr/bin/env -i '
                 f'HOME=/srv LANG=C.UTF-8 {QUIET_PATH} DEBIAN_FRONTEND=noninteractive bash -ec "cd; $1"')
        apart = ["unshare", "--mount", "--propagation", "private"] + ([] if network else ["--net"])
        return run(*apart, "sh", "-ec", enter, self.root, script, codes=codes)

    def files(self):
        """What a package could leave behind; databases, backups, logs and caches of the system's tools are theirs."""
        theirs = ("var/", "tmp/", "proc/", "sys/", "dev/", "run/", "srv/", "root/", "etc/ld.so.cache", "etc/resolv.conf")
        return {name for path in self.root.rglob("*") if path.is_file() or path.is_symlink()
                if not (name := str(path.relative_to(self.root))).startswith(theirs) and "__pycache__" not in name and name[-1] != "-"}

    def use(self, program):
        work = self.root / "srv/work"
        work.mkdir(parents=True, exist_ok=True)
        three_uses(lambda *arguments, **options: self.run("cd work; " + shlex.join([program, *arguments]),
                                                          **options), work)
        said = self.run(f"{program} serve --port 8765 >log 2>&1 & sleep 2; exec 3<>/dev/tcp/127.0.0.1/8765; "
                        r"printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\n\r\n' >&3; head -n 1 <&3; kill $!", network=True)
        expect("200" in said, "the page is not served", said)
        shutil.rmtree(self.root / "srv")
        (self.root / "srv").mkdir()

    def require_unchanged(self, before, what):
        left = sorted(self.files() - before)
        expect(not left, f"{what} leaves {len(left)} files", "\n".join(left[:20]))


def use_tarball(bare, file):
    before = bare.files()
    shutil.copy(file, bare.root / "opt/halmark.tar.gz")
    bare.run("cd /opt; tar xf halmark.tar.gz; rm halmark.tar.gz; ln -s /opt/halmark-*/bin/halmark /usr/local/bin/hm")
    bare.use("/usr/local/bin/hm")
    bare.run("rm -r /opt/halmark-* /usr/local/bin/hm")
    bare.require_unchanged(before, "the tarball")


def use_deb(bare, file):
    bare.run("apt-get -q update", network=True)
    shutil.copy(file, bare.root / "tmp/halmark.deb")
    bare.run("apt-get install -qy --no-install-recommends --download-only /tmp/halmark.deb", network=True)
    before = bare.files()
    bare.run("apt-get install -qy --no-install-recommends /tmp/halmark.deb")
    bare.use("halmark")
    bare.run("apt-get purge -qy --auto-remove halmark")
    bare.require_unchanged(before, "the Debian package")


def use_wheel(bare, file):
    bare.run("apt-get -q update; apt-get install -qy --no-install-recommends python3-venv", network=True)
    before = bare.files()
    shutil.copy(file, bare.root / "tmp" / file.name)
    bare.run(f"python3 -m venv /opt/python; /opt/python/bin/pip install -q --no-index /tmp/{file.name}")
    bare.run("/opt/python/bin/python3 -c 'import halmark, halmark_study; assert halmark.Study is halmark_study.Study'")
    bare.use("/opt/python/bin/halmark")
    bare.run("/opt/python/bin/pip uninstall -qy halmark; ! ls -d /opt/python/lib/*/site-packages/halmark* 2>/dev/null; "
             "rm -r /opt/python")
    bare.require_unchanged(before, "the wheel")


def bare(build, suite):
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        skip("a bare Debian needs root and debootstrap (apt-get install debootstrap)")
    kinds = ("tarball", "wheel") + (("deb",) if suite == own_suite() else ())
    with tempfile.TemporaryDirectory(prefix="halmark-packages-") as scratch:
        scratch = pathlib.Path(scratch).resolve()
        files = made(build, scratch / "out", *kinds)
        machine = Bare(scratch / "root", suite)
        for kind, use in (("tarball", use_tarball), ("deb", use_deb), ("wheel", use_wheel)):
            if kind in files:
                use(machine, files[kind])
                print(f"{suite}: {files[kind].name} installed, used and removed", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("tarball", "bare"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--suite", default=None)
    options = parser.parse_args()
    if options.what == "tarball":
        tarball(options.build.resolve())
    else:
        bare(options.build.resolve(), options.suite or own_suite())


if __name__ == "__main__":
    main()
