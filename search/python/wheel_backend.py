"""A build backend (PEP 517) for the package `halmark`, which needs nothing but Python.

It exists so that `pip install` of this folder needs no index: every published backend would have to be
downloaded first. `scripts/make-packages wheel` writes a wheel with the programs inside by the same
function. The layout is that of PEP 427, the metadata that of PEP 566.
"""
import base64
import hashlib
import os
import pathlib
import re
import zipfile

NAME = "halmark"
SUMMARY = "Measures, models and searches AI compute"
HERE = pathlib.Path(__file__).resolve().parent


def modules():
    """Path in the wheel to file, of the Python modules."""
    return {name: HERE / name for name in ("halmark_study.py", "halmark/__init__.py", "halmark/__main__.py", "halmark/commands.py")}


def _version():
    """That of the tree, which is written in one place; an installation has it in a file of its own."""
    installed = HERE / "version"
    if installed.exists():
        return installed.read_text().strip()
    text = (HERE.parent.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(halmark VERSION ([0-9.]+)", text).group(1)


def _metadata(version, tag, commands):
    out = {"METADATA": (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n"
                        "License: Apache-2.0\nRequires-Python: >=3.9\n"),
           "WHEEL": ("Wheel-Version: 1.0\nGenerator: halmark wheel_backend\n"
                     f"Root-Is-Purelib: {'true' if tag.endswith('-any') else 'false'}\nTag: {tag}\n")}
    if commands:
        out["entry_points.txt"] = "[console_scripts]\n" + "".join(f"{name} = {call}\n" for name, call in commands.items())
    return {name: text.encode() for name, text in out.items()}


class _Wheel(zipfile.ZipFile):
    """Remembers the digest of what is put into it, for its RECORD."""

    record = ""

    def put(self, path, data, is_program=False):
        # A fixed date: equal sources are equal wheels.
        info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if is_program else 0o100644) << 16
        self.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record += f"{path},sha256={digest},{len(data)}\n"


def write_wheel(folder, version, tag, files, commands=None):
    """Writes a wheel of `files` (path inside to file); its file name. `commands`: name to module:function."""
    info = f"{NAME}-{version}.dist-info"
    name = f"{NAME}-{version}-{tag}.whl"
    with _Wheel(pathlib.Path(folder, name), "w") as wheel:
        for path, file in sorted(files.items()):
            wheel.put(path, file.read_bytes(), os.access(file, os.X_OK))
        for path, data in _metadata(version, tag, commands).items():
            wheel.put(f"{info}/{path}", data)
        wheel.put(f"{info}/RECORD", (wheel.record + f"{info}/RECORD,,\n").encode())
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The modules alone, for every machine: they start the `halmark` that is on the PATH."""
    return write_wheel(wheel_directory, _version(), "py3-none-any", modules())
