"""Finds the SQL statements of C++: the text of each postgres::statement, every other constant that
is one, and what calls of libpqxx (exec…) have in them.

A text is constant where it is made of literals, of constants above it in its file, and of numbers
(std::to_string), joined by `+`. The others are listed in statements.txt, with their reasons.
Where a text is for several schemas, the code puts their names in place of %: here it is `mailbox`,
which has all that those texts use.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from dev import paths
from dev.terminal import fail

LIST = Path(__file__).with_name("statements.txt")
_FOLDERS = ("libs", "services", "programs")
_TOKEN = re.compile(
    r"(?P<skipped>\s+|//[^\n]*|/\*.*?\*/|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')"
    r'|R"(?P<tag>[^(\s]*)\((?P<raw>.*?)\)(?P=tag)"'
    r'|"(?P<literal>(?:\\.|[^"\\\n])*)"'
    r"|(?P<word>[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<sign>\.c_str\(\)|.)",
    re.DOTALL,
)
_IS_SQL = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s")
_ESCAPES = {"n": "\n", "t": "\t"}


@dataclass(frozen=True)
class Statement:
    """The place of a text, the constant or the call it stands in, and the text if constant."""

    path: str
    line: int
    name: str
    sql: str | None

    @property
    def key(self) -> str:
        """Returns the name by which statements.txt lists it."""
        return f"{self.path} {self.name}"


@dataclass(frozen=True)
class _Token:
    kind: str  # literal, word, sign; end past the last one
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    found = []
    line = 1
    for match in _TOKEN.finditer(text):
        if match["raw"] is not None:
            found.append(_Token("literal", match["raw"], line))
        elif match["literal"] is not None:
            unescaped = re.sub(r"\\(.)", lambda it: _ESCAPES.get(it[1], it[1]), match["literal"])
            found.append(_Token("literal", unescaped, line))
        elif not match["skipped"]:
            found.append(_Token("word" if match["word"] else "sign", match[0], line))
        line += match[0].count("\n")
    # So that nobody who looks a few tokens ahead has to ask whether they are there.
    return found + [_Token("end", "", line)] * 8


def _is_sign(token: _Token, text: str) -> bool:
    return token.kind == "sign" and token.text == text


def find(path: str, text: str) -> list[Statement]:
    """The statements of one file. A string that another text is made of is not one more."""
    tokens = _tokens(text)
    constants: dict[str, str] = {}
    parts: set[str] = set()
    prepared = []
    strings = []
    for index, token in enumerate(tokens[:-8]):
        before, after = tokens[index - 1], tokens[index + 1]
        if token.text == "postgres::statement" and _is_sign(tokens[index + 2], "{"):
            # Past the constant's name, a bracket, the statement's name and a comma.
            sql = _value(tokens, index + 5, constants, parts)
            prepared.append(Statement(path, after.line, after.text, sql))
        elif _is_sign(token, "=") and before.kind == "word":
            sql = _value(tokens, index + 1, constants, parts)
            if sql is not None:
                constants[before.text] = sql
            # Of a text that is not constant the first literal tells, bare or in std::string().
            literal = tokens[index + 3] if after.text == "std::string" else after
            if _IS_SQL.match(literal.text if sql is None else sql):
                strings.append(Statement(path, before.line, before.text, sql))
        elif _is_sign(token, "(") and before.text.startswith("exec") and _IS_SQL.match(after.text):
            sql = _value(tokens, index + 1, constants, parts)
            strings.append(Statement(path, after.line, before.text, sql))
    whole = prepared + [string for string in strings if string.name not in parts]
    return [
        replace(statement, sql=statement.sql and statement.sql.replace("%.", "mailbox."))
        for statement in sorted(whole, key=lambda it: it.line)
    ]


def _value(
    tokens: list[_Token], index: int, constants: dict[str, str], parts: set[str]
) -> str | None:
    """The text that the expression at the index has; none if it is not constant. Notes the names in
    it.
    """
    value = ""
    while True:
        token = tokens[index]
        if token.kind == "literal":
            value += token.text
            index += 1
        elif token.text == "std::to_string":
            value += "1"
            index = _past_brackets(tokens, index + 1)
        elif token.text == "std::string" and _is_sign(tokens[index + 1], "("):
            inside = _value(tokens, index + 2, constants, parts)
            if inside is None:
                return None
            value += inside
            index = _past_brackets(tokens, index + 1)
        elif token.kind == "word":
            parts.add(token.text)
            if token.text not in constants:
                return None
            value += constants[token.text]
            index += 2 if _is_sign(tokens[index + 1], ".c_str()") else 1
        else:
            return None
        if _is_sign(tokens[index], "+"):
            index += 1
        elif tokens[index].kind == "sign" and tokens[index].text in ";,)}":
            return value
        elif tokens[index].kind != "literal":
            return None


def _past_brackets(tokens: list[_Token], index: int) -> int:
    depth = 0
    while tokens[index].kind != "end":
        depth += _is_sign(tokens[index], "(") - _is_sign(tokens[index], ")")
        index += 1
        if depth == 0:
            break
    return index


def find_all() -> list[Statement]:
    """The statements of the programs."""
    files = sorted(
        path
        for folder in _FOLDERS
        for path in (paths.ROOT / folder).rglob("*.[ch]pp")
        if "testing" not in path.parts
    )
    found = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        if "postgres" in text or "pqxx" in text:  # the others have no SQL, and most of the code
            found += find(str(path.relative_to(paths.ROOT)), text)
    return found


def read_list(text: str) -> dict[str, str]:
    """The reasons in statements.txt by what is listed below them."""
    found: dict[str, str] = {}
    reason = ""
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            reason = line[1:-1]
        elif reason and len(line.split()) == 2:
            found[line] = reason
        else:
            fail(f"{LIST}:{number}: expected `FILE NAME` below a [reason]: {line}")
    return found
