"""Judges whether two requests take the same time, on a machine that does other things as well."""

import statistics
from collections.abc import Callable

_PAIRS = 100
_MAX_PAIRS = 800


def times_apart(first: Callable[[], float], second: Callable[[], float], most: float) -> float:
    """Returns how many times as long the slower of the two takes: by the median over pairs of one
    of each, in turns before and after the other, so that what the machine does meanwhile falls on
    both.

    Above `most` more pairs are taken: with them chance goes away and a difference stays.
    """
    ratios: list[float] = []
    while True:
        for pair in range(_PAIRS):
            if pair % 2:
                before, after = first(), second()
            else:
                after, before = second(), first()
            ratios.append(before / after)
        found = statistics.median(ratios)
        apart = max(found, 1 / found)
        if apart <= most or len(ratios) >= _MAX_PAIRS:
            return apart
