"""Prints what ./dev says on the screen."""

import os
import sys
from typing import NoReturn

_COLORS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Failure(Exception):
    """Something the user must know about; its text is shown without a traceback and the exit code
    is 1.
    """

    exit_code = 1


class Missing(Failure):
    """Something that this machine does not have."""

    exit_code = 3


def paint(text: str, color: str) -> str:
    """The text in a color, where the output is a terminal that wants it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m"


def say(text: str = "") -> None:
    """Prints one line for the user."""
    print(text, flush=True)


def heading(text: str) -> None:
    """A line that opens a part of the work."""
    say(paint(text, "bold"))


def item(name: str, text: str) -> None:
    """Prints one named result, in columns."""
    say(f"  {paint(f'{name:<20}', 'cyan')} {text}")


def warn(text: str) -> None:
    """Something odd that does not stop the work."""
    print(paint("note: ", "yellow") + text, file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """Ends the verb with an explanation."""
    raise Failure(text)
