"""A build backend (PEP 517) for a package of one module and no dependencies.

It exists so that `pip install` needs nothing but Python: every published backend would have to be
downloaded first. The wheel's layout is that of PEP 427 and its metadata of PEP 566.
"""
import base64
import hashlib
import os
import re
import zipfile

MODULE = "halmark_study"
NAME = "halmark-study"
SUMMARY = "Ask and tell for `halmark study serve`"
HERE = os.path.dirname(os.path.abspath(__file__))


def _source():
    with open(os.path.join(HERE, MODULE + ".py"), "rb") as file:
        return file.read()


def _version():
    """That of the tree, which is written in one place."""
    with open(os.path.join(HERE, "..", "..", "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(halmark VERSION ([0-9.]+)", file.read()).group(1)


def _record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; its file name."""
    source = _source()
    version = _version()
    info = f"{MODULE}-{version}.dist-info"
    files = {
        f"{MODULE}.py": source,
        f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
                             f"Summary: {SUMMARY}\nLicense: Apache-2.0\n"
                             "Requires-Python: >=3.9\n").encode(),
        f"{info}/WHEEL": (b"Wheel-Version: 1.0\nGenerator: wheel_of_one_module\n"
                          b"Root-Is-Purelib: true\nTag: py3-none-any\n"),
    }
    record = "".join(_record_line(path, data) for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"{MODULE}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed date: equal sources are equal wheels.
            wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
    return name
