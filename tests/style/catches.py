"""Checks where exceptions are caught: in the four places that handle what nobody else does, in the
toolbox, and wherever a comment says why.
"""

import re
from collections.abc import Iterator

from source import Problem, Source

_ROOMS = ("libs/", "services/", "programs/")
# A decided error is a value; an exception goes to one of these.
_HANDLERS = {
    "libs/common/http/session.cpp",  # HTTP session: 500, 503
    "services/mail-ingest/smtp/session.cpp",  # SMTP session: 451
    "libs/common/kafka/consumer.cpp",  # event consumer: retry, dead letter
    "libs/common/runtime/run.cpp",  # main of a service
    "programs/tempinbox-migrate/main.cpp",
    "programs/tempinboxctl/program.cpp",
}
_TOOLBOX = "libs/common/async/"
_HANDLER = re.compile(r"(\s*)\} catch \(")


def check(sources: list[Source]) -> Iterator[Problem]:
    """Every `try` of the product outside these places has a comment right above it or one of its
    handlers, or as a handler's first line.
    """
    for source in sources:
        path = source.path.as_posix()
        if not source.is_cpp or not path.startswith(_ROOMS):
            continue
        if path not in _HANDLERS and not path.startswith(_TOOLBOX):
            yield from _check_file(source)


def _check_file(source: Source) -> Iterator[Problem]:
    lines = source.text.split("\n")
    code = source.code.split("\n")
    unexplained: dict[int, int] = {}  # the line of a try: that of its first handler
    explained: set[int] = set()
    for number, line in enumerate(code):
        handler = _HANDLER.match(line)
        if not handler:
            continue
        begin = _try_of(code, number, handler.group(1))
        if _is_explained(lines, begin, number):
            explained.add(begin)
        unexplained.setdefault(begin, number)
    for begin, number in unexplained.items():
        if begin not in explained:
            yield Problem(
                source.path.as_posix(),
                number + 1,
                "catch needs a comment that says why this place handles it (style.md section 5)",
            )


def _try_of(code: list[str], handler: int, indent: str) -> int:
    above = range(handler - 1, -1, -1)
    return next((number for number in above if code[number].rstrip() == indent + "try {"), handler)


def _is_explained(lines: list[str], begin: int, handler: int) -> bool:
    near = [begin - 1, handler - 2, handler - 1, handler, handler + 1]
    return any("//" in lines[number] for number in near if 0 <= number < len(lines))
