"""Writes the batches of a unity build: sources of one folder that are compiled as one unit.

    unity_batches.py ROOT OUTPUT_FOLDER FILE...

Prints the files to compile, one a line: a batch's where several share one, else the source itself.

Files share a batch only if neither mentions a name that the other keeps to itself (declares in an
unnamed namespace, or brings in by an alias), and both use the same namespaces. So a batch means
what its files mean one by one, and nobody has to keep names apart.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 6  # who changes one file compiles its whole batch
MAX_LINES = 1500  # the same, of long files

_NO_CODE = re.compile(
    r'R"(\w*)\((?s:.*?)\)\1"|//[^\n]*|(?s:/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
)
_DIRECTIVE = re.compile(r"^\s*#.*$", re.MULTILINE)
_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")  # no member of a value
_NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
_INCLUDED = re.compile(r'^\s*#\s*include\s*"', re.MULTILINE)
_ALIAS = re.compile(r"(?:using|namespace)\s+(\w+)\s*=")
_USED = re.compile(r"using\s+namespace\s+(?!std::\w*literals\b)")
_USING = re.compile(r"using\s+(?!namespace\b)[\w:]*?(\w+)$")
_TYPE = re.compile(r"(?:template\s*<.*>\s*)?(?:struct|class|enum|enum\s+class|union)\s+(\w+)")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$")


@dataclass(frozen=True)
class Source:
    """What decides with which files a source may share a batch."""

    path: Path
    lines: int
    own: frozenset[str]  # names that it keeps to itself
    aliases: frozenset[tuple[str, str]]  # name and text; two files may have the same
    used: frozenset[str]  # namespaces, by `using namespace`
    mentioned: frozenset[str]

    def may_join(self, other: "Source") -> bool:
        """Returns whether neither can mean something else beside the other."""
        if self.used != other.used:
            return False
        same = {name for name, _ in self.aliases & other.aliases}
        mine = (self.own | {name for name, _ in self.aliases}) - same
        others = (other.own | {name for name, _ in other.aliases}) - same
        return not (mine & other.mentioned or others & self.mentioned)


def read(path: Path) -> Source:
    """Reads a source that is laid out as the project's are."""
    text = path.read_text(encoding="utf-8")
    code = _DIRECTIVE.sub("", _NO_CODE.sub(lambda found: _without_content(found[0]), text))
    own: set[str] = set()
    aliases: set[tuple[str, str]] = set()
    used: set[str] = set()
    for declaration, scope in _declarations(code):
        if alias := _ALIAS.match(declaration) or _USING.match(declaration):
            aliases.add((alias[1], f"{scope} {declaration}"))
        elif _USED.match(declaration):
            used.add(f"{scope} {declaration}")
        elif "::(unnamed)" in scope or re.match(r"static\b", declaration):
            own |= _declared(declaration)
    return Source(
        path,
        text.count("\n"),
        frozenset(own),
        frozenset(aliases),
        frozenset(used),
        frozenset(_WORD.findall(code)),
    )


def _without_content(removed: str) -> str:
    return " " if removed.startswith("/") else '""'


def _declarations(code: str) -> Iterator[tuple[str, str]]:
    """What is declared outside functions and types, each with the namespaces around it."""
    scopes: list[str | None] = []  # None: the body of a function or a type
    written = ""
    for part in re.split(r"([{};])", code):
        if part not in ("{", "}", ";"):
            written = part.strip()
            continue
        is_outside = None not in scopes
        scope = "".join(f"::{name}" for name in scopes if name)
        opened = _NAMESPACE.search(written) if part == "{" else None
        if opened:
            scopes.append(opened[1] or "(unnamed)")
        else:
            if is_outside and written:
                yield written, scope
            if part == "{":
                scopes.append(None)
            elif part == "}" and scopes:
                scopes.pop()
        written = ""


def _declared(declaration: str) -> set[str]:
    """The names of a declaration; of one that is not understood, every word in it."""
    before_value = declaration.split("=", maxsplit=1)[0]
    for form in (_TYPE.match, _FUNCTION.search, _VARIABLE.search):
        if found := form(before_value.strip()):
            return {found[1]}
    return set(_WORD.findall(declaration))


def batches(sources: list[Source]) -> list[list[Source]]:
    """Puts each source into a batch: first of its own folder, then what is small together with what
    is small elsewhere.
    """
    by_folder: dict[Path, list[list[Source]]] = {}
    for source in sources:
        by_folder.setdefault(source.path.parent, []).append([source])
    packed = [batch for folder in by_folder.values() for batch in _pack(folder)]
    return _pack(packed)


def _pack(parts: list[list[Source]]) -> list[list[Source]]:
    """Adds each part to the first batch that has room and that it may join."""
    made: list[list[Source]] = []
    for part in parts:
        batch = next((batch for batch in made if _fits(batch, part)), None)
        if batch:
            batch += part
        else:
            made.append(list(part))
    return made


def _fits(batch: list[Source], part: list[Source]) -> bool:
    return (
        len(batch) + len(part) <= MAX_FILES
        and sum(source.lines for source in batch + part) <= MAX_LINES
        and all(one.may_join(other) for one in batch for other in part)
    )


def write(batch: list[Source], root: Path, folder: Path) -> Path:
    """Writes a batch's file, named after its first source, so that one batch more renames none.

    Unchanged, it keeps its time. It includes by the include path, as compilers' caches and
    messages see no absolute path then.
    """
    first = batch[0].path.relative_to(root)
    path = folder / "_".join([*first.parent.parts[1:], first.name])
    names = ["/".join(source.path.relative_to(root).parts[1:]) for source in batch]
    text = "".join(f'#include "{name}"\n' for name in names)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def write_all(root: Path, folder: Path, names: list[str]) -> list[Path]:
    """Writes the batches, deletes those of before that are none any more, and returns what is to be
    compiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = batches([read(Path(name)) for name in names])
    written = [write(batch, root, folder) for batch in made if len(batch) > 1]
    for old in set(folder.iterdir()) - set(written):
        old.unlink()
    return written + [batch[0].path for batch in made if len(batch) == 1]


if __name__ == "__main__":
    units = write_all(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    print("\n".join(str(unit) for unit in units))
