"""Percentiles of what was measured."""


def percentile(ordered: list[float], percent: float) -> float:
    """The value that so many percent of a sorted list stay at or below."""
    return ordered[min(len(ordered) - 1, int(percent * len(ordered) / 100))]
