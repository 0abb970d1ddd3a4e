"""Figures beside what they must reach (docs/development/benchmarks.md).

A bench that misses one ends with exit code 1.
"""


def at_least(what: str, reached: float, bound: float) -> bool:
    """Prints and answers whether it is met."""
    return _judge(what, reached, f"at least {bound:g}", reached >= bound)


def at_most(what: str, reached: float, bound: float) -> bool:
    """Prints and answers whether it is met."""
    return _judge(what, reached, f"at most {bound:g}", reached <= bound)


def _judge(what: str, reached: float, expected: str, is_met: bool) -> bool:
    figure = f"{reached:,.0f}" if reached >= 100 else f"{reached:.2f}"
    print(f"  {what}: {figure} (target: {expected}): {'met' if is_met else 'missed'}", flush=True)
    return is_met
