"""Standard Webhooks: whether a request is from the service."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping

from tempinbox._answers import Answer, read
from tempinbox.errors import WebhookVerificationError
from tempinbox.types import EmailReceivedEvent, InboxCreatedEvent, InboxExpiredEvent

Event = EmailReceivedEvent | InboxCreatedEvent | InboxExpiredEvent | Answer
_KINDS: dict[str, type[EmailReceivedEvent | InboxCreatedEvent | InboxExpiredEvent]] = {
    "email.received": EmailReceivedEvent,
    "inbox.created": InboxCreatedEvent,
    "inbox.expired": InboxExpiredEvent,
}
_MAX_SIGNATURES = 20


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance: float = 300,
) -> Event:
    """The event of a webhook's request, or WebhookVerificationError.

    `body` is the request's body as it was received; `secrets` are the webhook's `whsec_…`, both
    while one replaces the other; `tolerance` is how many seconds old, or ahead, a request may be.
    An event of a name that this version does not know is an `Answer` with its content in `extra`.
    """
    found = {name.lower(): value for name, value in headers.items()}
    identifier = _header(found, "webhook-id")
    timestamp = _header(found, "webhook-timestamp")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("webhook-timestamp must be Unix seconds")
    age = time.time() - int(timestamp)
    if abs(age) > tolerance:
        raise WebhookVerificationError(
            f"webhook-timestamp is {abs(age):.0f} s {'old' if age > 0 else 'ahead'}, more than "
            f"{tolerance:g} s: an old request sent again, or a clock that is wrong"
        )
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{identifier}.{timestamp}.".encode() + raw
    expected = [
        base64.b64encode(hmac.digest(_key_of(secret), signed, hashlib.sha256))
        for secret in ([secrets] if isinstance(secrets, str) else secrets)
    ]
    given = _header(found, "webhook-signature").split(" ")[:_MAX_SIGNATURES]
    signatures = [one.removeprefix("v1,").encode() for one in given if one.startswith("v1,")]
    # Every pair is compared, so that the time says nothing of which one fits.
    fits = [hmac.compare_digest(one, other) for one in signatures for other in expected]
    if not any(fits):
        raise WebhookVerificationError(
            "webhook-signature is of another secret, or the body is not as it was received (it "
            "must be the bytes, not JSON written anew)"
        )
    return _event_of(raw)


def _event_of(body: bytes) -> Event:
    try:
        content = json.loads(body)
    except ValueError as failure:
        raise WebhookVerificationError("The body is no JSON") from failure
    kind = content.get("event") if isinstance(content, dict) else None
    if not isinstance(kind, str):
        raise WebhookVerificationError("The body is no event: it has no name of one in `event`")
    return read(_KINDS.get(kind, Answer), content)


def _header(headers: Mapping[str, str], name: str) -> str:
    if not headers.get(name):
        raise WebhookVerificationError(f"Header {name} is missing")
    return headers[name]


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not 24 <= len(key) <= 64:
        raise WebhookVerificationError(
            "The secret must be whsec_ and 24 to 64 bytes in base64, as the webhook showed it once"
        )
    return key
