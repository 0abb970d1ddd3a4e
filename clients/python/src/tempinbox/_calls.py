"""Decides what a call sends, when it is tried again and what its answer means; has no sockets.

Each call is a generator that yields what is to be done (`Send`, `Sleep`) and is sent what came of
it. `_transport` does it, so that the same rules serve the client that blocks and the one that
awaits.
"""

import dataclasses
import json
import random
import re
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from tempinbox import _arguments, error_codes
from tempinbox._answers import Operation
from tempinbox._contract import OPERATIONS
from tempinbox.errors import (
    ApiError,
    ConnectionFailed,
    ErrorAnswer,
    InvalidArgument,
    RateLimit,
    RateLimited,
    TempinboxError,
    error_of,
)
from tempinbox.settings import Settings

T = TypeVar("T")

_MAX_CUTS = 6  # Cut connections and 502 or 504 answers before a call gives up.
_FIRST_DELAY = 0.25
_MAX_DELAY = 8.0
_MAX_CUT_DELAY = 2.0  # of a hold: mail that comes meanwhile is seen soon after a restart
_ANSWER_SECONDS = 15  # for the answer to come, beyond a hold
_LAST_ANSWER_SECONDS = 5  # of these, beyond the deadline
_PROXY_CUTS = frozenset({502, 504})  # a proxy's, whose service went away under the request
_RETRIED_DELETES = frozenset({"deleteInbox", "deleteEmail", "deleteWebhook"})


@dataclasses.dataclass(frozen=True)
class Send:
    """A request to be sent; its answer is to be here within these seconds."""

    method: str
    url: str
    headers: Mapping[str, str] = dataclasses.field(repr=False)  # the key is in them
    content: bytes | None
    seconds: float

    @property
    def shown(self) -> str:
        """Describes the request for messages."""
        return f"{self.method} {self.url.partition('?')[0]}"


@dataclasses.dataclass(frozen=True)
class Sleep:
    """The flow waits so many seconds before its next step."""

    seconds: float


@dataclasses.dataclass(frozen=True)
class Response:
    """A response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclasses.dataclass(frozen=True)
class Cut:
    """A request without an answer: why, and whether there was a connection at all."""

    problem: str
    was_connected: bool = True


Outcome = Response | Cut | None
Flow = Generator[Send | Sleep, Outcome, T]


@dataclasses.dataclass(frozen=True)
class Deadline:
    """A moment of this machine's own clock; never compared with a time of the service."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Makes a deadline so many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """Below 0 when it is over."""
        return self.at - time.monotonic()


def call(
    settings: Settings,
    name: str,
    given: Mapping[str, Any],
    *,
    key: str | None = None,
    accept: str = "application/json",
    deadline: Deadline | None = None,
    hold: Callable[[], int] | None = None,
    hold_name: str = "timeoutSeconds",
    was_reached: bool = False,
) -> Flow[Response]:
    """Runs an operation of the contract; returns its answer of 2xx, or raises.

    `hold` says how many seconds the service may keep the request before it answers (its parameter
    `hold_name`), and is asked again for each try. Such a call is repeated until its deadline,
    however often it is cut, once the service was reached, by this call or one before
    (`was_reached`). A service that says when to come again is asked until the deadline by each.
    """
    operation = OPERATIONS[name]
    _arguments.check_all(operation, given)
    deadline = deadline or Deadline.after(settings.timeout)
    request = _build(settings, operation, given, key, accept)
    max_cut_delay = _MAX_CUT_DELAY if hold else _MAX_DELAY
    tries = cuts = refusals = 0
    may_have_worked = False
    refusal: ApiError | None = None  # the last one
    while True:
        # A hold's own time, not the deadline: one dead connection must not use up a long wait.
        seconds = deadline.seconds_left
        if hold:
            held = hold()
            url = _url(settings, operation, {**given, hold_name: held})
            request = dataclasses.replace(request, url=url)
            spare = max(0, round(seconds) - held)
            seconds = held + min(_ANSWER_SECONDS, spare + _LAST_ANSWER_SECONDS)
        outcome = yield dataclasses.replace(request, seconds=max(seconds, 0.05))
        tries += 1

        # An answer ends the call, or says when to repeat it.
        error: TempinboxError
        delay: float | None
        if isinstance(outcome, Response):
            if 200 <= outcome.status < 300:
                return outcome
            if may_have_worked and outcome.status == 404 and name in _RETRIED_DELETES:
                return outcome  # an earlier try did it
            error = refusal = error_of(_error_answer(settings, request, outcome))
            if outcome.status in _PROXY_CUTS:
                cuts += 1
                delay = backoff(cuts, max_cut_delay)
            else:
                refusals += 1
                was_reached = True
                is_repeat = may_have_worked and operation.has_key
                delay = _delay_of(refusal, refusals, is_repeat=is_repeat)
            may_have_worked |= outcome.status in {503, *_PROXY_CUTS}
        else:
            cut = outcome or Cut("no answer")
            may_have_worked |= cut.was_connected
            was_reached |= cut.was_connected
            error = ConnectionFailed(request.shown, cut.problem, tries)
            if refusal and deadline.seconds_left <= 0:
                error = refusal  # the last try had little time: what was answered before helps more
            cuts += 1
            delay = backoff(cuts, max_cut_delay)

        # A hold outlasts every restart of the service; other calls outlast a short one.
        outlasts_all = hold is not None and was_reached
        if cuts >= _MAX_CUTS and not outlasts_all:
            raise error
        if delay is None or delay >= deadline.seconds_left:
            raise error
        yield Sleep(delay)


def read_json(response: Response) -> dict[str, Any]:
    """The object that was answered."""
    if response.status == 404:  # of a repeated DELETE
        return {}
    try:
        found = json.loads(response.content)
    except ValueError as failure:
        raise TempinboxError(
            f"the service answered {response.status} without sound JSON; is base_url that of the "
            "API?"
        ) from failure
    if not isinstance(found, dict):
        raise TempinboxError("the service answered JSON that is no object")
    return found


def backoff(tries: int, max_delay: float = _MAX_DELAY) -> float:
    """Returns the delay before the next try: twice as long each time, with jitter."""
    # Bounded, since a wait of a day has tries enough for a power that no float holds.
    delay = min(max_delay, _FIRST_DELAY * 2.0 ** min(tries - 1, 10))
    return delay * random.uniform(0.75, 1.25)  # noqa: S311 - no secret


def _delay_of(error: ApiError, refusals: int, *, is_repeat: bool) -> float | None:
    """Returns the delay before the same request makes sense; None if it never does."""
    if isinstance(error, RateLimited) and error.is_day_used_up:
        return None
    # The try before, whose answer did not come, is still under way with the same key.
    is_under_way = is_repeat and error.code == error_codes.IDEMPOTENCY_IN_PROGRESS
    if error.status not in (429, 503) and not is_under_way:
        return None
    # Each request counts against the day's quota, also where Retry-After is 1 s each time.
    requested = (error.retry_after or 0) + random.uniform(0, 0.1)  # noqa: S311 - no secret
    return max(requested, backoff(refusals))


def _url(settings: Settings, operation: Operation, given: Mapping[str, Any]) -> str:
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", quote(str(given[name]), safe=""))
    query: dict[str, str] = {}
    for name, rule in operation.query.items():
        if name not in given:
            continue
        if "prefix" in rule:  # a parameter for each pair
            query |= {rule["prefix"] + key: value for key, value in given[name].items()}
        else:
            query[name] = _in_query(given[name])
    return settings.base_url + path + (f"?{urlencode(query)}" if query else "")


def _build(
    settings: Settings, operation: Operation, given: Mapping[str, Any], key: str | None, accept: str
) -> Send:
    headers = {
        "X-API-Key": settings.api_key,
        "Accept": accept,
        "User-Agent": "tempinbox-python",
    }
    content = None
    if operation.body is not None:
        body = {name: given[name] for name in operation.body if name in given}
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        headers["Content-Type"] = "application/json"
    if operation.has_key:
        headers["Idempotency-Key"] = _checked_key(key)
    return Send(operation.method, _url(settings, operation, given), headers, content, 0.0)


def _checked_key(key: str | None) -> str:
    if key is None:
        return str(uuid.uuid4())
    if not isinstance(key, str) or not re.fullmatch(
        r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?", key
    ):
        raise InvalidArgument(
            "idempotency_key", "must be 1 to 255 printable ASCII characters, no space at the ends"
        )
    return key


def _in_query(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _error_answer(settings: Settings, request: Send, response: Response) -> ErrorAnswer:
    """Reads the body of an error; a proxy's own page has no such body."""
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    found = body if isinstance(body, dict) else {}
    return ErrorAnswer(
        status=response.status,
        error=str(found.get("error", ""))[:100] or "without a name",
        code=(response.headers.get("x-error-code") or "")[:100] or None,
        reason=str(found.get("message", ""))[:2000] or "The answer has no message of the API",
        request_id=response.headers.get("x-request-id"),
        rate_limit=_rate_limit(response.headers),
        retry_after=_retry_after(response.headers.get("retry-after")),
        resume_after=response.headers.get("x-resume-after"),
        missed=_number(response.headers.get("x-missed-events")),
        request=request.shown,
        dashboard=settings.dashboard,
    )


def _rate_limit(headers: Mapping[str, str]) -> RateLimit | None:
    limit, remaining, reset = (
        _number(headers.get(f"x-ratelimit-{name}")) for name in ("limit", "remaining", "reset")
    )
    if limit is None or remaining is None or reset is None:
        return None
    return RateLimit(int(limit), int(remaining), datetime.fromtimestamp(reset, timezone.utc))


def _retry_after(text: str | None) -> float | None:
    """Seconds, also where a proxy gives a date."""
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:  # as "-0000" is read
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"[0-9]{1,11}", text) else None
