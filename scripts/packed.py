"""Packs a build: what `cmake --install` puts into a folder is the one list of what belongs to Halmark.

    packed.py --build DIR --output DIR [deb|tarball|wheel ...]        called by scripts/make-packages

Tarball and wheel hold the libraries that a bare Debian lacks, with their licences. The programs carry a path to them
(DT_RPATH, halmark_add_program), so nothing is patched. The Debian package depends on its distribution's instead.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE / "search/python"))
import wheel_backend  # noqa: E402  beside the package's modules

KINDS = ("deb", "tarball", "wheel")
TOOLS = {"deb": (("cpack", "cmake"), ("dpkg-shlibdeps", "dpkg-dev"), ("file", "file"))}
TOOLS["tarball"] = TOOLS["wheel"] = (("cmake", "cmake"), ("ldd", "libc-bin"), ("readelf", "binutils"),
                                     ("strip", "binutils"), ("dpkg-query", "dpkg"))
# Of the C library and the compiler, which every Debian has: two of them in one process do not work.
BARE = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s))\.so\.\d+$")
# MPI belongs to the machine's mpirun, which has to be of the same version: the backend opens it when it is there.
OF_THE_MACHINE = re.compile(r"libmpi\.so\.\d+$")


class Refused(Exception):
    """What a person can mend, in one line; the status to end with."""

    def __init__(self, line, status=1):
        super().__init__(line)
        self.status = status


def output_of(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()] or ["no word why"]
        why = next((line for line in lines if "cannot" in line), lines[-1])
        raise Refused(f"{command[0]} failed with exit code {done.returncode}: {why}")
    return done.stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


# -- what is asked for ---------------------------------------------------------------------------

def require_build(build):
    for needed in ("CMakeCache.txt", "bin/halmark", "bin/halmark-worker", "lib/halmark/plugins/hm_*.so"):
        if not list(build.glob(needed)):
            raise Refused(f"{build} is no whole build of Halmark: {needed} is not there; build halmark, halmark-worker and "
                          "plugins (cmake --build), or leave --build out and a release is built")
    machine = re.search(r"Machine: +(.*)", output_of("readelf", "-h", build / "bin/halmark", env={**os.environ, "LC_ALL": "C"}))
    if platform.machine().replace("_", "-") not in machine[1].lower().replace("_", "-"):
        raise Refused(f"{build} is built for another processor ({machine[1]}), and its libraries are not here: "
                      "pack it on a machine of its kind")
    return re.search(r"CMAKE_PROJECT_VERSION:\w+=(.*)", (build / "CMakeCache.txt").read_text())[1]


def require_tools(kinds):
    for kind in kinds:
        for tool, package in TOOLS[kind]:
            if shutil.which(tool) is None:
                raise Refused(f"{tool} is missing, which the {kind} needs (apt-get install {package})", 5)


def require_folder(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Refused(f"{folder} cannot be written: {error.strerror}; name another folder with --output")


# -- libraries -----------------------------------------------------------------------------------

def needed_by(path):
    """Names of the libraries that this file itself needs."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", path))


def reference(place):
    """Of BLAS and LAPACK, of which a machine chooses one, always the same and smallest; only Cbc asks for them."""
    path = pathlib.Path(place)
    plain = path.parent / re.sub(r"^lib|[.]so.*", "", path.name) / path.name
    return str(plain) if plain.exists() else place


def resolved_for(path):
    """Name to place of every library that the loader finds for it, here."""
    found = re.findall(r"^\s*(\S+) => (/\S+) \(", output_of("ldd", path), re.MULTILINE)
    return {name: reference(place) for name, place in found}


def libraries_of(folder):
    """Name to place of what the files of a folder need and a bare system lacks, theirs included."""
    found, waiting = {}, [path for path in files_below(folder) if is_elf(path) and path.suffix != ".o"]
    while waiting:
        path = waiting.pop()
        places = resolved_for(path)
        for name in needed_by(path):
            if name in found or BARE.match(name) or OF_THE_MACHINE.match(name):
                continue
            if name not in places:
                raise Refused(f"{path.name} needs {name}, which is not installed here")
            found[name] = places[name]
            waiting.append(pathlib.Path(places[name]))
    return found


def package_of(place):
    """The Debian package of a file, whichever of its names the package lists (/lib is a link to /usr/lib)."""
    real = os.path.realpath(place)
    for name in (place, real, real.removeprefix("/usr"), "/usr" + real):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0].split(",")[0]
    raise Refused(f"{place} is of no package, so its licence is unknown: install the distribution's instead")


COMMON = "/usr/share/common-licenses/"
ORIGIN = """# Libraries that came with Halmark

Unchanged files of Debian packages, whose licences lie beside this page, and those that they name in
%s; their sources are Debian's source packages of these versions.

| file | package | source | version |
|---|---|---|---|
"""


def add_licence(package, documents):
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
    (documents / f"{package}.copyright").write_text(text)
    for name in set(re.findall(COMMON + r"([\w.-]*\w)", text)):
        if os.path.exists(COMMON + name):
            shutil.copy(COMMON + name, documents / f"{name}.licence")


def bundle(folder, root):
    """Copies the libraries into `folder`, and licence and origin of each below the documents; how many."""
    libraries = libraries_of(root)
    documents = root / "share/doc/halmark/libraries"
    folder.mkdir(parents=True)
    documents.mkdir(parents=True)
    rows = ""
    for name, place in sorted(libraries.items()):
        shutil.copy(os.path.realpath(place), folder / name)
        package = package_of(place)
        add_licence(package, documents)
        rows += f"| {name} | {package} | " + output_of("dpkg-query", "-W", "-f=${source:Package} | ${Version} |\n", package)
    (documents / "README.md").write_text(ORIGIN % COMMON + rows)
    return len(libraries)


# -- one folder, three packages ------------------------------------------------------------------

def require_no_path_of(places, root):
    """What names the tree or the build would work here alone."""
    for path in files_below(root):
        text = path.read_bytes()
        for place in places:
            if os.fsencode(place) + b"/" in text:
                raise Refused(f"{path.relative_to(root)} names {place}, which no other machine has")


def staged(build, root):
    """Everything that belongs to Halmark, stripped, with its libraries, in `root`."""
    output_of("cmake", "--install", build, "--prefix", root)
    for path in files_below(root):
        if is_elf(path):
            output_of("strip", "--strip-unneeded", path)
        elif path.suffix == ".a":
            output_of("strip", "--strip-debug", path)
    plugins = next(root.glob("lib*/**/halmark/plugins"))
    count = bundle(plugins.parent / "libraries", root)
    require_no_path_of((TREE, build), root)
    print(f"make-packages: {count} libraries beside "
          f"{', '.join(sorted(p.stem for p in plugins.glob('hm_*.so')))}", file=sys.stderr)


def glibc():
    return os.confstr("CS_GNU_LIBC_VERSION").split()[1]


def tarball(root, output, version):
    name = output / f"halmark-{version}-linux-{platform.machine()}-glibc{glibc()}.tar.gz"

    def of_nobody(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        return info

    with tarfile.open(name, "w:gz", compresslevel=6) as file:
        file.add(root, f"halmark-{version}", filter=of_nobody)
    return name


def wheel(root, output, version):
    tag = f"py3-none-manylinux_{glibc().replace('.', '_')}_{platform.machine()}"
    inside = {f"halmark/program/{path.relative_to(root)}": path for path in files_below(root)
              if not path.is_relative_to(root / "share/halmark/python")}
    return output / wheel_backend.write_wheel(output, version, tag, {**wheel_backend.modules(), **inside},
                                              commands={"halmark": "halmark.__main__:main"})


def deb(build, output, work):
    output_of("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", work)
    made, = pathlib.Path(work).glob("*.deb")
    return pathlib.Path(shutil.copy(made, output))


def pack(build, output, kinds):
    require_tools(kinds)
    version = require_build(build)
    require_folder(output)
    with tempfile.TemporaryDirectory(dir=output, prefix=".") as work:
        root = pathlib.Path(work, f"halmark-{version}")
        if set(kinds) != {"deb"}:
            staged(build, root)
        makers = {"deb": lambda: deb(build, output, pathlib.Path(work, "deb")),
                  "tarball": lambda: tarball(root, output, version), "wheel": lambda: wheel(root, output, version)}
        for kind in kinds:
            made = makers[kind]()
            print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")


def main():
    parser = argparse.ArgumentParser(prog="make-packages")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    pack(options.build.resolve(), options.output.resolve(), list(dict.fromkeys(options.kinds)) or KINDS)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        print(f"make-packages: {refused}", file=sys.stderr)
        sys.exit(refused.status)
