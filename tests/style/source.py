"""A file of the tree, and its C++ with comments and literals blanked so that rules see code
alone.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'",
    re.DOTALL,
)


@dataclass(frozen=True, order=True)
class Problem:
    """A broken rule and its place."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Source:
    """One file. Its path is relative to the root."""

    path: Path
    text: str

    @property
    def is_cpp(self) -> bool:
        """Returns whether rules about C++ apply."""
        return self.path.suffix in {".cpp", ".hpp"}

    @property
    def is_test(self) -> bool:
        """Returns whether it is only run by tests."""
        return self.path.parts[0] == "tests" or "testing" in self.path.parts

    @property
    def is_load(self) -> bool:
        """Returns whether it puts load on a suite, and so keeps a rhythm."""
        return self.path.parts[:2] in {("tests", "bench"), ("tests", "chaos")}

    @cached_property
    def code(self) -> str:
        """The C++ with comments gone and literals empty, every remaining character at its old
        offset.
        """

        def blank(found: re.Match[str]) -> str:
            text = found[0]
            keep = text[0] if text[0] in "\"'" else " "
            inside = "".join("\n" if letter == "\n" else " " for letter in text[1:-1])
            return keep + inside + (keep if len(text) > 1 else "")

        return _COMMENT_OR_LITERAL.sub(blank, self.text)

    @cached_property
    def literals(self) -> list[str]:
        """The string literals of the C++, in order, with their quotes."""
        found = (each[0] for each in _COMMENT_OR_LITERAL.finditer(self.text))
        return [text for text in found if text[0] in '"R']

    def line_at(self, offset: int) -> int:
        """The line number of an offset."""
        return self.text.count("\n", 0, offset) + 1

    def problem(self, offset: int, text: str) -> Problem:
        """A problem at an offset."""
        return Problem(str(self.path), self.line_at(offset), text)


def matching(code: str, start: int) -> int:
    """The offset of the bracket that closes the one at `start`; the end of the text where none
    does.
    """
    pairs = {"(": ")", "{": "}", "[": "]"}
    opened, closed = code[start], pairs[code[start]]
    depth = 0
    for offset in range(start, len(code)):
        if code[offset] == opened:
            depth += 1
        elif code[offset] == closed:
            depth -= 1
            if depth == 0:
                return offset
    return len(code)
