"""Tests whose X-Forwarded-For is believed when wrong keys are counted by address."""

import requests
from harness import Gateway, Suite

_ALLOWANCE = 60
# The allowance begins anew with each minute, which may be in the middle of them.
_ENOUGH = 2 * _ALLOWANCE + 1


def _status(gateway: Gateway, forwarded_for: str) -> int:
    """Returns the status of a request with a wrong key."""
    headers = {"X-API-Key": "wrong", "X-Forwarded-For": forwarded_for}
    return requests.get(
        f"http://{gateway.address}/v1/domains", headers=headers, timeout=10
    ).status_code


def test_behind_a_trusted_proxy_each_client_has_an_allowance_of_its_own(suite: Suite) -> None:
    with Gateway(suite, trusted_proxies="127.0.0.0/8") as gateway:
        before = [_status(gateway, "192.0.2.1") for _ in range(_ALLOWANCE)]
        past = next(
            (
                status
                for _ in range(_ENOUGH - _ALLOWANCE)
                if (status := _status(gateway, "192.0.2.1")) != 401
            ),
            None,
        )
        other = _status(gateway, "192.0.2.2")

    assert set(before) == {401}
    assert past == 429
    assert other == 401


def test_nobody_else_chooses_whose_allowance_it_uses(suite: Suite) -> None:
    with Gateway(suite) as gateway:
        statuses = [_status(gateway, f"192.0.2.{number}") for number in range(1, _ENOUGH + 1)]

    assert set(statuses[:_ALLOWANCE]) == {401}
    assert 429 in statuses
