"""A day's limit is exact while rate-limit answers in time, which a busy machine may not let it."""

import urllib.request
from collections.abc import Callable
from typing import TypeVar

from harness.replica import Gateway
from harness.suite import Suite

_ATTEMPTS = 5
_METRIC = "tempinbox_gateway_quota_fail_open_total"

Result = TypeVar("Result")


def let_through(suite: Suite, *gateways: Gateway) -> int:
    """Returns how many requests passed uncounted so far, since rate-limit did not answer within 250
    ms.

    At the suite's gateways and at those given.
    """
    total = sum(gateway.metric(_METRIC) for gateway in gateways)
    for admin in suite.of_each("gateway", "ADMIN"):
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        total += sum(float(line.split()[-1]) for line in lines if line.startswith(_METRIC))
    return int(total)


def in_time(suite: Suite, attempt: Callable[[], Result], *gateways: Gateway) -> Result:
    """Repeats an attempt until no request was let through during it, and returns its result.

    An attempt may be made again, so what it counts begins with it.
    """
    for _ in range(_ATTEMPTS):
        before = let_through(suite, *gateways)
        result = attempt()
        if let_through(suite, *gateways) == before:
            return result
    raise AssertionError(f"rate-limit was late in each of {_ATTEMPTS} attempts")
