"""Finds what must not stay in the tree: unfinished work, sleeps, hand-written waiting, paths of one
machine.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from source import Problem, Source

# Put together from pieces, so that this file does not accuse itself.
_UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|for n" r"ow)\b")
_SLEEPS = re.compile(
    r"sleep_"
    r"for\b|sleep_"
    r"until\b|this_thread::"
    r"sleep|time\."
    r"sleep\(|set"
    r"Timeout\(|\bu?"
    r"sleep\("
)
# A load may not block either: its coroutines keep a rhythm, but no thread of it waits blindly.
_BLOCKS = re.compile(r"time\." r"sleep\(")
_MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+)/")
# A loop with a deadline or a pause of its own, in place of a call of dev.waiting.
_WAITS_BY_HAND = re.compile(r"\bmonotonic\(\) *[<>]=? *\w*deadline\b|\bpau" r"se\.wait\(")
_WAITING = Path("tools/dev/waiting.py")
_CLIENT = Path("clients/python/src")  # runs elsewhere, and pauses between its tries
_PROSE = {".md", ".txt"}


def check(sources: list[Source]) -> Iterator[Problem]:
    """All of these rules; prose may speak of the unfinished, and the coroutines of a bench or a
    chaos run pace their load by the clock. Python waits by dev.waiting, tests and tools alike.
    """
    for source in sources:
        yield from (
            source.problem(found.start(), f"a path of one machine: {found[0]}")
            for found in _MACHINE_PATHS.finditer(source.text)
        )
        if source.path.suffix in _PROSE:
            continue
        yield from (
            source.problem(found.start(), f"unfinished: {found[0]}")
            for found in _UNFINISHED.finditer(source.text)
        )
        is_elsewhere = source.path == _WAITING or _CLIENT in source.path.parents
        is_python = source.path.suffix == ".py" and not is_elsewhere
        if source.is_test or is_python:
            yield from (
                source.problem(found.start(), "sleeps: wait for a condition with a deadline")
                for found in (_BLOCKS if source.is_load else _SLEEPS).finditer(source.text)
            )
        if is_python:
            yield from (
                source.problem(found.start(), "waits by hand: dev.waiting has a function for it")
                for found in _WAITS_BY_HAND.finditer(source.text)
            )
