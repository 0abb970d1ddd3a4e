"""Every method that proto-schemas declares has one constant in libs/common/rpc/*_methods.hpp and
one handler in a service; its path is written nowhere else in C++.
"""

import re
from collections.abc import Iterator

from source import Problem, Source

_PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
_SERVICE = re.compile(r"^service (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_RPC = re.compile(r"\brpc (\w+)\(")
_CONSTANTS = re.compile(r"^libs/common/rpc/\w+_methods\.hpp$")
_NAMESPACE = re.compile(r"^namespace tempinbox::(\w+) \{", re.MULTILINE)
_CONSTANT = re.compile(r"\brpc::method<[^>]*>\s+(\w+)\{\s*(?:rpc::\w+\()?\"([\w.]+/\w+)\"")
_PATH = re.compile(r"\"/?tempinbox\.[\w.]+\.v\d+\.\w+Service/")
_HANDLED = re.compile(r"\badd(?:_to)?\((?:\w+,\s*)?(\w+_methods::\w+)\b")


def check(sources: list[Source]) -> Iterator[Problem]:
    """All of these rules."""
    constants = {}
    handled: set[str] = set()
    for source in sources:
        if _CONSTANTS.match(str(source.path)):
            constants[source.path] = _constants_of(source)
        elif source.path.parts[0] == "services" and source.is_cpp:
            handled |= set(_HANDLED.findall(source.code))
            yield from _check_strings(source)
        elif source.path.parts[0] in {"libs", "programs"} and source.is_cpp:
            yield from _check_strings(source)
    paths = {path for found in constants.values() for _, path in found}
    for source in sources:
        if source.path.suffix == ".proto":
            yield from _check_declared(source, paths)
        for name, path in constants.get(source.path, []):
            if name not in handled:
                yield source.problem(source.text.index(path), f"no service handles {name}")


def _constants_of(source: Source) -> list[tuple[str, str]]:
    namespace = _NAMESPACE.search(source.text)
    prefix = namespace[1] if namespace else ""
    return [(f"{prefix}::{name}", path) for name, path in _CONSTANT.findall(source.text)]


def _check_declared(source: Source, paths: set[str]) -> Iterator[Problem]:
    package = _PACKAGE.search(source.text)
    for service in _SERVICE.finditer(source.text):
        for found in _RPC.finditer(service[2]):
            path = f"{package[1] if package else ''}.{service[1]}/{found[1]}"
            if path not in paths:
                yield source.problem(
                    service.start(2) + found.start(),
                    f"{path} has no constant in libs/common/rpc/*_methods.hpp",
                )


def _check_strings(source: Source) -> Iterator[Problem]:
    for found in _PATH.finditer(source.text):
        if source.code[found.start()] == '"':  # a literal, not a comment
            yield source.problem(
                found.start(), "names a method by a string: take its constant of *_methods.hpp"
            )
