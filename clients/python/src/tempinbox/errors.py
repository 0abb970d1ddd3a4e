"""Every error of this package, below one class.

A message says what went wrong, what is allowed and what to do; text of strangers in it is quoted,
cut and has no control characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tempinbox import error_codes

if TYPE_CHECKING:
    from tempinbox.types import Email, EmailSummary


class TempinboxError(Exception):
    """The base of every error of this package."""


class ConfigurationError(TempinboxError):
    """The client's own settings are missing or malformed."""


class InvalidArgument(TempinboxError, ValueError):
    """An argument is not what the API allows; nothing was sent."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument} {problem}")
        self.argument = argument


@dataclass(frozen=True)
class RateLimit:
    """The plan's requests a UTC day, as the answer's headers say."""

    limit: int
    remaining: int
    resets_at: datetime


@dataclass(frozen=True)
class ErrorAnswer:
    """An answer of the service that is not a success."""

    status: int
    error: str
    """The status' name."""
    code: str | None
    """`X-Error-Code`."""
    reason: str
    """The service's explanation: the field, the value it got, the values it allows."""
    request_id: str | None
    rate_limit: RateLimit | None
    retry_after: float | None
    """Seconds."""
    resume_after: str | None
    """`X-Resume-After`: the cursor to go on with, of a feed."""
    missed: float | None
    """`X-Missed-Events`."""
    request: str
    """`GET https://host/v1/…`"""
    dashboard: str
    """The page under which keys, plan and mail are seen."""


class ApiError(TempinboxError):
    """The service answered with an error.

    `code` is its reason for programs: one of `tempinbox.error_codes`, or one of a newer service;
    None where the answer is a proxy's. `reason` is the same in words, which may change at any time.
    """

    def __init__(self, answer: ErrorAnswer, advice: str = "") -> None:
        request = f", request {answer.request_id}" if answer.request_id else ""
        super().__init__(
            f"{_sentence(answer.reason)}{advice and f' {advice}'} ({answer.request} was answered "
            f"{answer.status} {answer.error}{request})"
        )
        self.status = answer.status
        self.error = answer.error
        self.code = answer.code
        self.reason = answer.reason
        self.request_id = answer.request_id
        self.rate_limit = answer.rate_limit
        self.retry_after = answer.retry_after


class BadRequest(ApiError):
    """400: `field` is what is wrong, where the code is `invalid_field`, or None."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer)
        is_of_field = answer.code == error_codes.INVALID_FIELD
        named = re.match(r"[A-Za-z][\w.\[\]-]*", answer.reason) if is_of_field else None
        self.field = named[0] if named else None


class Unauthorized(ApiError):
    """401: the key is wrong, revoked or expired."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(
            answer,
            "The API key is wrong, revoked or expired: make one in the dashboard under Settings, "
            f"API Keys ({answer.dashboard}/settings/keys), and give it as api_key or in "
            "TEMPINBOX_API_KEY.",
        )


class Forbidden(ApiError):
    """403: the plan, or the key's scopes, do not allow it."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(
            answer,
            f"What your plan allows is under Account ({answer.dashboard}/account), what a key may "
            f"do under Settings, API Keys ({answer.dashboard}/settings/keys).",
        )


class NotFound(ApiError):
    """404: it does not exist, it ended, or it is another account's."""


class Conflict(ApiError):
    """409: it is taken, or under way."""


class CursorExpired(ApiError):
    """410: events behind the cursor are gone or were not recorded; `missed` of them, if known.

    Decide what that means, then go on with `resume_after` as `after`.
    """

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer)
        self.missed = None if answer.missed is None else int(answer.missed)
        self.resume_after = answer.resume_after or "earliest"


class CursorReset(ApiError):
    """410: the service was put back to an earlier moment than the cursor's.

    Go on with `resume_after` as `after`, and drop by `event_id` what you have.
    """

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer)
        self.resume_after = answer.resume_after or "earliest"


class UnprocessableContent(ApiError):
    """422: the Idempotency-Key was used for another body."""


class RateLimited(ApiError):
    """429: the requests of the day or of the second are used up, or another number of the account.

    Where `is_day_used_up`, waiting helps only from `rate_limit.resets_at` on.
    """

    def __init__(self, answer: ErrorAnswer) -> None:
        limit = answer.rate_limit
        self.is_day_used_up = answer.code == error_codes.DAILY_LIMIT
        if limit and self.is_day_used_up:
            advice = (
                f"The day's requests are used up until {limit.resets_at:%Y-%m-%dT%H:%M:%SZ}; a "
                f"larger plan has more ({answer.dashboard}/account)."
            )
        else:
            advice = (
                f"Try again after {answer.retry_after or 1:g} s, or give the client a longer "
                "timeout: it then waits by itself."
            )
        super().__init__(answer, advice)


class ServiceUnavailable(ApiError):
    """503: a part of the service cannot be reached, or is busy."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(
            answer, "Try again, or give the client a longer timeout: it then waits by itself."
        )


_BY_STATUS: dict[int, type[BadRequest | Unauthorized | Forbidden | RateLimited]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    429: RateLimited,
}
_PLAIN: dict[int, type[ApiError]] = {404: NotFound, 409: Conflict, 422: UnprocessableContent}


def error_of(answer: ErrorAnswer) -> ApiError:
    """The error of a status, or of its code."""
    if answer.code == error_codes.CURSOR_EXPIRED:
        return CursorExpired(answer)
    if answer.code == error_codes.CURSOR_RESET:
        return CursorReset(answer)
    if answer.status in _BY_STATUS:
        return _BY_STATUS[answer.status](answer)
    if answer.status == 503:
        return ServiceUnavailable(answer)
    return _PLAIN.get(answer.status, ApiError)(answer)


class ConnectionFailed(TempinboxError):
    """No answer: nothing listens there, the connection was cut, or the answer took too long."""

    def __init__(self, request: str, problem: str, attempts: int = 1) -> None:
        tried = f", {attempts} times" if attempts > 1 else ""
        super().__init__(
            f"{request} failed{tried}: {problem}. Check that the service is running and reachable "
            "from here, and that its address (base_url or TEMPINBOX_BASE_URL) is right."
        )
        self.attempts = attempts


@dataclass(frozen=True)
class Wait:
    """The conditions of a wait, and the inbox it looked in."""

    inbox_id: str
    email_address: str | None
    criteria: Sequence[str]
    """The conditions in words, such as `subject: "your code"`."""
    timeout: float
    dashboard: str

    @property
    def link(self) -> str:
        """The inbox in the dashboard."""
        return f"{self.dashboard}/inboxes/{self.inbox_id}"

    @property
    def name(self) -> str:
        """The inbox for people."""
        return f"{self.email_address} ({self.inbox_id})" if self.email_address else self.inbox_id


@dataclass(frozen=True)
class Miss:
    """An email that came but did not match, with the first condition that it failed."""

    email_id: str
    field: str
    expected: str
    actual: str


class WaitTimeout(TempinboxError):
    """No email matched in time, or fewer than were waited for; `emails` are those that did."""

    def __init__(
        self,
        wait: Wait,
        near_misses: Sequence[Miss],
        emails: Sequence[EmailSummary] = (),
        min_count: int = 1,
    ) -> None:
        matched = f"{len(emails)} of {min_count} emails" if min_count > 1 else "No email"
        lines = [f"{matched} matched within {wait.timeout:g} s.", f"  inbox: {wait.name}"]
        lines += [f"  asked for: {', '.join(wait.criteria)}"]
        for email in emails:
            sent = f"{quoted(email.subject)} from {quoted(email.from_)}"
            lines += [f"  matched: {sent}: {wait.link}/{email.email_id}"]
        if near_misses:
            lines += ["  near misses, the newest first:"]
        else:
            lines += ["  near misses: none; list_rejections says whether mail was refused"]
        for miss in near_misses:
            expected, actual = quoted(miss.expected), quoted(miss.actual)
            where = f"{wait.link}/{miss.email_id}"
            lines += [f"    - {miss.field} should be {expected}, is {actual}: {where}"]
        super().__init__("\n".join([*lines, f"  look: {wait.link}"]))
        self.inbox_id = wait.inbox_id
        self.near_misses = list(near_misses)
        self.emails = list(emails)


class UnexpectedEmail(TempinboxError):
    """An email came that should not."""

    def __init__(self, wait: Wait, email: Email) -> None:
        sent = f"{quoted(email.subject)} from {quoted(email.from_)}"
        received = f"{email.received_at:%Y-%m-%dT%H:%M:%SZ}"
        lines = [
            f"An email came that should not: {sent}, received at {received}.",
            f"  inbox: {wait.name}",
            f"  none was to match: {', '.join(wait.criteria)}",
            f"  look: {wait.link}/{email.email_id}",
        ]
        super().__init__("\n".join(lines))
        self.email = email


class WebhookVerificationError(TempinboxError):
    """A webhook's request is not from the service, or is too old."""


def quoted(text: object, max_characters: int = 100) -> str:
    """Text of strangers for a message: in quotes, in one line, cut, nothing invisible."""
    start = str(text)[: 4 * max_characters]
    shown = "".join(
        " " if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp", "Cs") else one for one in start
    )
    return f'"{shown[:max_characters]}{"…" if len(str(text)) > max_characters else ""}"'


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
