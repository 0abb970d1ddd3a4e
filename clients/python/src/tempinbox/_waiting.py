"""Waits of any length, chained from the API's holds of at most a minute, all after one position."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tempinbox import types
from tempinbox._answers import read
from tempinbox._arguments import argument_name, check
from tempinbox._calls import Deadline, Flow, Sleep, call, read_json
from tempinbox._contract import OPERATIONS
from tempinbox._values import EventName, items_of, moment, without_none
from tempinbox.errors import (
    InvalidArgument,
    Miss,
    TempinboxError,
    UnexpectedEmail,
    Wait,
    WaitTimeout,
    quoted,
)
from tempinbox.settings import MAX_SECONDS, Settings, is_timeout

MAX_HOLD = 55  # seconds; the API's is 60, but many proxies end a request at 60
_MAX_MISSES = 10
_RETRY_DELAY_SECONDS = (
    0.25  # after a hold that ended with its replica: the next one goes to another
)
_BEST_KINDS = ("verify", "reset", "other")  # the best first

InboxReference = str | types.Inbox
"""An inbox by its id, or as it was read."""
Position = int | types.Email | types.EmailSummary | types.Inbox
"""A position in an inbox: a sequence, an email, or an inbox as it was."""


def id_of(inbox: InboxReference) -> str:
    """The id of an inbox."""
    return inbox.inbox_id if isinstance(inbox, types.Inbox) else inbox


def sequence_of(position: Position) -> int:
    """The sequence of a position."""
    if isinstance(position, types.Inbox):
        return position.last_sequence
    if isinstance(position, types.Email | types.EmailSummary):
        return position.sequence
    if isinstance(position, bool) or not isinstance(position, int) or position < 0:
        raise InvalidArgument(
            "after", f"must be a sequence from 0, an email or an inbox, not {position!r}"
        )
    return position


@dataclasses.dataclass
class _Running:
    settings: Settings
    about: Wait
    filters: Mapping[str, Any]
    after: int
    deadline: Deadline
    holds: int = 0
    is_undecided: bool = False  # the last answer was `draining`: it says nothing of what came
    is_last_hold: bool = False


def begin(
    settings: Settings,
    inbox: InboxReference,
    filters: Mapping[str, Any],
    after: Position | None,
    timeout: float,
) -> _Running:
    """Checks the arguments, and fixes position and deadline."""
    if not is_timeout(timeout) or timeout < 1:
        raise InvalidArgument(
            "timeout", f"must be a number from 1 to {MAX_SECONDS:.0f}, not {timeout!r}"
        )
    known = {name: value for name, value in filters.items() if value is not None}
    rules = OPERATIONS["waitForEmail"].query
    for name, value in known.items():
        check(argument_name(name), rules[name], value)
    if after is None:
        after = inbox if isinstance(inbox, types.Inbox) else 0
    position = sequence_of(after)
    criteria = list(_in_words(known))
    about = Wait(
        id_of(inbox),
        inbox.email_address if isinstance(inbox, types.Inbox) else None,
        [*criteria, f"after: {position}"],
        timeout,
        settings.dashboard,
    )
    return _Running(settings, about, known, position, Deadline.after(timeout))


def _in_words(filters: Mapping[str, Any]) -> Iterator[str]:
    """Yields each filter for messages: `subject: "your code"`, `hasCode: true`."""
    for name, value in filters.items():
        if isinstance(value, Mapping):
            yield from (f"header.{key}: {quoted(text)}" for key, text in value.items())
        else:
            yield f"{name}: {str(value).lower() if isinstance(value, bool) else quoted(value)}"


def _narrow(wait: _Running, filters: Mapping[str, Any], *more: str) -> None:
    """Adds what this kind of wait asks for; `more` is what the API has no filter for."""
    wait.filters = {**wait.filters, **filters}
    criteria = [*_in_words(filters), *more, *wait.about.criteria]
    wait.about = dataclasses.replace(wait.about, criteria=criteria)


def wait_for_email(wait: _Running) -> Flow[types.Email]:
    """The matching email with the lowest sequence, or WaitTimeout."""
    return (yield from _next_email(wait, lambda _: None))


def wait_for_emails(wait: _Running, min_count: int) -> Flow[list[types.EmailSummary]]:
    """The matching emails in the order of their sequence, once there are so many."""
    check("min_count", OPERATIONS["waitForEmail"].query["minCount"], min_count)
    wait.filters = {**wait.filters, "minCount": min_count}
    last: types.WaitResult | None = None
    while True:
        result = yield from _hold(wait, "one")
        if result is None:
            misses = _misses_of(last) if last else []
            raise WaitTimeout(wait.about, misses, last.emails if last else [], min_count)
        if result.email:
            return result.emails or [_summary_of(result.email)]
        last = result


def wait_for_code(wait: _Running) -> Flow[str]:
    """The likeliest one-time code of the first email that has one."""
    _narrow(wait, {"hasCode": True})
    no_code = ("hasCode", "true", "false")
    email = yield from _next_email(wait, lambda found: None if found.codes else no_code)
    return email.codes[0].value


def wait_for_link(wait: _Running, kind: str | None, url: str | None) -> Flow[str]:
    """The address of the first link that fits, of the first email that has one."""
    if kind is not None:
        check("kind", OPERATIONS["waitForEmail"].query["linkKind"], kind)
    if url is not None and (not isinstance(url, str) or not url):
        raise InvalidArgument("url", f"must be a string of at least 1 character, not {url!r}")
    # The service finds the emails; it has no filter for a part of an address, and without a kind
    # a link to unsubscribe is none to follow.
    filters = {"linkKind": kind} if kind else {"hasLink": True}
    _narrow(wait, filters, *([f"url: {quoted(url)}"] if url else []))
    expected = (kind or ", ".join(_BEST_KINDS)) + (f" with {url}" if url else "")
    email = yield from _next_email(
        wait,
        lambda found: (
            None
            if _best_link(found, kind, url)
            else ("link", expected, f"{len(found.links)} other links")
        ),
    )
    return str(_best_link(email, kind, url))


def expect_no_email(wait: _Running) -> Flow[None]:
    """Returns when no email matched in the whole time; UnexpectedEmail at once otherwise."""
    while True:
        result = yield from _hold(wait, "none")
        if result is None:
            return
        if result.email:
            raise UnexpectedEmail(wait.about, result.email)


def _next_email(
    wait: _Running, failed: Callable[[types.Email], tuple[str, str, str] | None]
) -> Flow[types.Email]:
    """The first email that matches and that `failed` says nothing against."""
    misses: list[Miss] = []
    others: list[Miss] = []  # the API's own, which it gives anew each time
    while True:
        result = yield from _hold(wait, "one")
        if result is None:
            raise WaitTimeout(wait.about, [*misses, *others][:_MAX_MISSES])
        others = _misses_of(result)
        if not result.email:
            continue
        reason = failed(result.email)
        if reason is None:
            return result.email
        misses.insert(0, Miss(result.email.email_id, *reason))
        del misses[_MAX_MISSES:]
        wait.after = result.email.sequence


def _hold(wait: _Running, expect: str) -> Flow[types.WaitResult | None]:
    """Runs one long poll; returns None when the time is over, but not before one more if the last
    answer decided nothing.
    """
    # Half a second is within what a poll of whole seconds can keep.
    was_reached = wait.holds > 0
    if was_reached and round(wait.deadline.seconds_left) < 1:
        if wait.is_undecided and wait.is_last_hold and expect == "none":
            raise TempinboxError(
                "The service was being replaced when the time was over, so that nothing is "
                "decided: wait again with the same after."
            )
        if not wait.is_undecided or wait.is_last_hold:
            return None
        wait.is_last_hold = True
    wait.holds += 1
    given = {"inboxId": wait.about.inbox_id, **wait.filters}
    given |= {"after": wait.after, "expect": expect}
    response = yield from call(
        wait.settings,
        "waitForEmail",
        given,
        deadline=wait.deadline,
        hold=lambda: min(MAX_HOLD, max(1, round(wait.deadline.seconds_left))),
        was_reached=was_reached,
    )
    result = read(types.WaitResult, read_json(response))
    # Where the inbox ended, the next hold is refused, and says when.
    wait.is_undecided = result.outcome == "draining"
    if wait.is_undecided:
        yield Sleep(_RETRY_DELAY_SECONDS)
    return result


def _misses_of(result: types.WaitResult) -> list[Miss]:
    """Returns the API's own near misses."""
    return [
        Miss(miss.email_id, miss.field, miss.expected, miss.actual) for miss in result.near_misses
    ]


def _summary_of(email: types.Email) -> types.EmailSummary:
    """Returns the summary of an email, as lists have it."""
    names = {one.name for one in dataclasses.fields(types.EmailSummary)}
    names -= {"text", "codes", "extra"}  # only for who asks a list for them
    return types.EmailSummary(**{name: getattr(email, name) for name in names})


def _best_link(email: types.Email, kind: str | None, url: str | None) -> str | None:
    fitting = [link for link in email.links if url is None or url in link.url]
    for one in [kind] if kind else _BEST_KINDS:
        for link in fitting:
            if link.kind == one:
                return link.url
    return None


def events_of(
    after: str | None,
    since: datetime | str | None,
    event_types: Sequence[EventName] | None,
    tag: str | None,
    inbox: InboxReference | None,
    limit: int | None,
) -> dict[str, Any]:
    """The parameters of a page of events."""
    inbox_id = None if inbox is None else id_of(inbox)
    given = without_none(after=after, since=moment(since), types=items_of(event_types))
    return given | without_none(tag=tag, inboxId=inbox_id, limit=limit)
