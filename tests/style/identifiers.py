"""Finds the names of a source file in C++, Python, TypeScript, JavaScript or Protobuf. Comments,
literals and the texts of JSX are prose, and have none.
"""

import io
import re
import tokenize
from collections.abc import Callable, Iterator

from source import Source

_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SCRIPT_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCRIPT_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
# A slash begins a regular expression where no value stands before it.
_SCRIPT_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
_BEFORE_REGEX = re.compile(r"(?:^|[=(,:;!&|?{}\[+>]|\b(?:return|of|in|typeof|case))\s*$")
_TEMPLATE_TEXT = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*", re.DOTALL)
# Text of JSX: from a tag, no arrow, to the next tag or expression; or from an expression to a tag.
_JSX_TEXT = re.compile(r"(?<=[^=-]>)[^<>{}();=]+(?=[<{])|(?<=\})[^<>{}();=]+(?=</)")


def identifiers(source: Source) -> Iterator[tuple[int, str]]:
    """Yields each name with its offset; nothing for a language that is not known here."""
    if source.is_cpp:
        yield from _names(source.code)
    elif finder := _FINDERS.get(source.path.suffix):
        yield from finder(source.text)


def words_of(name: str) -> list[str]:
    """Splits a name in snake, camel or Pascal case into words in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def _names(code: str) -> Iterator[tuple[int, str]]:
    for found in _NAME.finditer(code):
        yield found.start(), found[0]


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield starts[token.start[0] - 1] + token.start[1], token.string


def _of_script(text: str) -> Iterator[tuple[int, str]]:
    yield from _names(script_code(text))


def _of_jsx(text: str) -> Iterator[tuple[int, str]]:
    yield from _names(_JSX_TEXT.sub(lambda found: _blank(found[0]), script_code(text)))


def _of_proto(text: str) -> Iterator[tuple[int, str]]:
    without = _SCRIPT_COMMENT.sub(lambda found: _blank(found[0]), text)
    yield from _names(_SCRIPT_STRING.sub(lambda found: _blank(found[0]), without))


def script_code(text: str) -> str:
    """Returns TypeScript or JavaScript with comments and literals blanked, every other character at
    its old offset. What a template holds in `${…}` is code.
    """
    out: list[str] = []
    depths: list[int] = []  # of braces, in each template that is open
    at = 0
    while at < len(text):
        letter = text[at]
        size = _literal_size(text, at, out)
        if size:
            out.append(_blank(text[at : at + size]))
        elif letter == "`" or (letter == "}" and depths and depths[-1] == 0):
            if letter == "}":
                depths.pop()
            inner = _TEMPLATE_TEXT.match(text, at + 1)
            end = inner.end() if inner else at + 1
            if text.startswith("${", end):
                depths.append(0)
                size = end + 2 - at
            else:
                size = end + 1 - at
            out.append(_blank(text[at : at + size]))
        else:
            if depths and letter in "{}":
                depths[-1] += 1 if letter == "{" else -1
            out.append(letter)
            size = 1
        at += size
    return "".join(out)


def _literal_size(text: str, at: int, out: list[str]) -> int:
    """Returns the length of the comment, string or regular expression that begins here, else 0."""
    letter = text[at]
    if letter in "\"'":
        found = _SCRIPT_STRING.match(text, at)
    elif letter == "/":
        found = _SCRIPT_COMMENT.match(text, at)
        if not found and _BEFORE_REGEX.search("".join(out[-40:])):
            found = _SCRIPT_REGEX.match(text, at)
    else:
        return 0
    return found.end() - at if found else 0


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


_FINDERS: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    ".py": _of_python,
    ".ts": _of_script,
    ".mjs": _of_script,
    ".tsx": _of_jsx,
    ".proto": _of_proto,
}
