"""What one clone of the tree compiled, another finds in the compiler cache.

two_clones.py TREE [TARGET...]

Copies the tree twice, builds the targets in both with a cache of their own, and counts: all compilations of the second
copy are hits, but for the three that know the place or the revision. Skips (77) without ccache.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

tree = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(tree / "tests"))
from suite import cache_hits
targets = sys.argv[2:] or ["tests/test_expression"]
if not shutil.which("ccache"):
    print("ccache is not installed")
    sys.exit(77)


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def copy(folder):
    """The tracked and new files, as a repository of its own: the revision is another one in each clone."""
    names = run("git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z", cwd=tree).split("\0")
    for name in names:
        if name and (tree / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree / name, folder / name)
    run("git", "init", "-q", cwd=folder)
    run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", folder.name, cwd=folder)


def built(folder, cache):
    """(hits, compilations) of a build of the targets."""
    log = folder / "ccache.log"
    settings = {"CCACHE_DIR": str(cache), "CCACHE_STATSLOG": str(log)}
    run("cmake", "--preset", "check", "-DCMAKE_CUDA_COMPILER=NOTFOUND", cwd=folder, **settings)
    log.unlink(missing_ok=True)
    run("cmake", "--build", "--preset", "check", "-j2", "--target", *targets, cwd=folder, **settings)
    return cache_hits(log)


with tempfile.TemporaryDirectory() as scratch:
    one, two = pathlib.Path(scratch, "one"), pathlib.Path(scratch, "a", "longer", "path")
    for folder in (one, two):
        folder.mkdir(parents=True)
        copy(folder)
    cache = pathlib.Path(scratch, "cache")
    first, second = built(one, cache), built(two, cache)
    print(f"hits of compilations: {first[0]} of {first[1]}, then {second[0]} of {second[1]}")
    # Compiled for each: what knows where the tree lies (tests/checkout.cpp) and its revision.
    sys.exit(0 if second[1] >= 10 and second[1] - second[0] <= 3 else 1)
