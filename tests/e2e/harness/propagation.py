"""Checks that a change is in force within its time."""

import time
from collections.abc import Callable, Iterable
from functools import partial

import requests

from harness.api import Api
from harness.waiting import eventually

_SECONDS = 1.0


def in_force(
    apis: Iterable[Api],
    is_new: Callable[[requests.Response], bool | None],
    what: str,
    since: float | None = None,
) -> None:
    """Each gateway answers by what was changed whatever it is asked a second after the change.

    Judged by when a request was sent, since on a busy machine an answer may take its time. `is_new`
    returns None where an answer says nothing of the change, as a 503 does anyway. `since` is the
    moment of the change by time.monotonic(), now if not given.
    """
    changed = time.monotonic() if since is None else since

    def look(api: Api) -> bool:
        sent = time.monotonic() - changed
        answer = api.call("GET", "/v1/domains")
        outcome = None if answer.status_code == 503 else is_new(answer)
        assert outcome is not False or sent < _SECONDS, (
            f"not so for a request sent {sent:.2f} s after the change: {what}; "
            f"{answer.status_code} {answer.text}"
        )
        return bool(outcome)

    for api in apis:
        eventually(partial(look, api), what)


def status_is(status: int) -> Callable[[requests.Response], bool]:
    """Makes an `is_new`: the answer has this status."""
    return lambda answer: answer.status_code == status
