"""Has the argument parser of a serving engine read the flags of a command, without what it needs of a device.

    python3 engine_parser.py vllm|sglang FOLDER FLAG...

FOLDER holds the engine's unpacked package. What it imports and is not installed (torch first of all) is an empty
stand-in, as in the script by which vLLM's documentation prints its own flags (docs/mkdocs/hooks/generate_argparse.py):
definitions of arguments are data. Prints the values that were read as JSON; the parser's own message and its exit
code 2 where it refuses.
"""
import argparse
import enum
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import sys
import types


class Absent:
    """Whatever is asked of it is another one; a decorator gives back what it was put on."""

    __version__ = "0.0.0"
    __file__ = ""
    __path__ = ()

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent()

    def __call__(self, *arguments, **named):
        is_decorator = len(arguments) == 1 and not named and callable(arguments[0])
        return arguments[0] if is_decorator and not isinstance(arguments[0], Absent) else Absent()

    def __mro_entries__(self, _):
        return (type("AbsentBase", (), {"__init_subclass__": classmethod(lambda cls, **_: None),
                                        "__class_getitem__": classmethod(lambda cls, _: cls),
                                        "__init__": lambda self, *_, **__: None}),)

    def __get_pydantic_core_schema__(self, *_):
        from pydantic_core import core_schema

        return core_schema.any_schema()

    def __or__(self, other):
        return object if other is None or isinstance(other, Absent) else other

    __ror__ = __or__

    def __getitem__(self, _):
        return Absent()

    def __setitem__(self, *_):
        pass

    def __iter__(self):
        return iter(())

    def __contains__(self, _):
        return False

    def __len__(self):
        return 0

    def __bool__(self):
        return False

    def __eq__(self, other):
        return isinstance(other, Absent)

    def __hash__(self):
        return 0

    def __lt__(self, _):
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __int__(self):
        return 0

    __index__ = __int__

    def __float__(self):
        return 0.0

    def _self(self, *_):
        return Absent()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = __enter__ = _self

    def __exit__(self, *_):
        return False


class AbsentModule(types.ModuleType):
    __path__ = ()
    __version__ = "0.0.0"

    def __getattr__(self, name):
        if name.startswith("__") or name in MISSING_DEVICES:
            raise AttributeError(name)
        return Absent()


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Every module below `names`; without names every package that no other finder has, and what is missing below
    `engine`: its compiled parts. Back ends that are looked for and not imported stay missing."""

    def __init__(self, names=None, engine=None):
        self.names, self.engine = names, engine

    def is_absent(self, name):
        top, _, below = name.partition(".")
        if self.names is not None:
            return any(name == n or name.startswith(n + ".") for n in self.names)
        if below:
            return top == self.engine or isinstance(sys.modules.get(name.rpartition(".")[0]), AbsentModule)
        return top not in sys.stdlib_module_names and not top.startswith(MISSING)

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if self.is_absent(name) else None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


# Kernels that look at devices while they are imported.
KERNELS = ["sglang.kernels", "sglang.jit_kernel", "vllm.ir", "vllm.kernels"]
MISSING = ("torch_", "libtpu", "tpu_", "amdsmi", "pynvml")
MISSING_DEVICES = ("npu", "xpu", "hpu", "musa", "mps", "mlu")


def version_of(name, found=importlib.metadata.version):
    try:
        return found(name)
    except importlib.metadata.PackageNotFoundError:
        return "99.0+cpu"  # vLLM takes the word for its build without devices


def vllm_parser():
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    from vllm.entrypoints.openai.cli_args import make_arg_parser

    return make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))


def sglang_parser():
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser(prog="sglang.launch_server")
    ServerArgs.add_cli_args(parser)
    return parser


def plain(value):
    return value.value if isinstance(value, enum.Enum) else value


if __name__ == "__main__":
    engine, folder = sys.argv[1:3]
    sys.path.insert(0, folder)
    importlib.metadata.version = version_of
    sys.meta_path.insert(0, AbsentModules(KERNELS))
    sys.meta_path.append(AbsentModules(engine=engine))
    parser = {"vllm": vllm_parser, "sglang": sglang_parser}[engine]()
    read = vars(parser.parse_args(sys.argv[3:]))
    print(json.dumps({k: plain(v) for k, v in read.items() if isinstance(plain(v), (str, int, float, bool))}))
