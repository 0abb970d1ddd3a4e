"""Requests of webhooks, signed by the Standard Webhooks library."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from standardwebhooks import Webhook

from tempinbox import WebhookVerificationError, verify_webhook
from tempinbox.types import Answer, EmailReceivedEvent

SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"  # noqa: S105 - of nothing
OTHER = "whsec_ehJ1Ub5Yb5CRsHM6uyiRMmu0ZIMz+gPA"
EVENT = {
    "event": "email.received",
    "timestamp": "2026-11-21T10:00:07.512Z",
    "data": {"emailId": "e", "inboxId": "i", "from": "a@b.example", "subject": "Hä", "more": 1},
}
BODY = json.dumps(EVENT, ensure_ascii=False)


def _headers(secret: str = SECRET, ago: int = 0, body: str = BODY) -> dict[str, str]:
    at = datetime.now(timezone.utc) - timedelta(seconds=ago)
    return {
        "Webhook-Id": "id-1",
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("id-1", at, body),
    }


def test_a_signed_request_is_its_event() -> None:
    for body in (BODY, BODY.encode()):
        event = verify_webhook(body, _headers(), SECRET)

        assert isinstance(event, EmailReceivedEvent)
        assert event.data.from_ == "a@b.example"
        assert event.data.extra == {"more": 1}


def test_an_event_that_is_not_known_here_has_its_content_in_extra() -> None:
    body = json.dumps({**EVENT, "event": "inbox.renamed"})

    event = verify_webhook(body, _headers(body=body), SECRET)

    assert type(event) is Answer
    assert event.extra == {**EVENT, "event": "inbox.renamed"}


def test_one_of_several_signatures_and_secrets_is_enough() -> None:
    both = _headers()
    both["Webhook-Signature"] = (
        _headers(OTHER)["Webhook-Signature"] + " " + both["Webhook-Signature"]
    )

    assert verify_webhook(BODY, both, SECRET)
    assert verify_webhook(BODY, _headers(OTHER), [SECRET, OTHER])


@pytest.mark.parametrize(
    ("body", "headers", "secret", "says"),
    [
        (BODY + " ", _headers, SECRET, "as it was received"),
        (BODY, lambda: _headers(OTHER), SECRET, "of another secret"),
        (BODY, lambda: _headers(ago=301), SECRET, r"is 30\d s old, more than 300 s"),
        (BODY, lambda: _headers(ago=-400), SECRET, "ahead"),
        (BODY, dict, SECRET, "Header webhook-id is missing"),
        (BODY, lambda: _headers() | {"Webhook-Timestamp": "now"}, SECRET, "must be Unix seconds"),
        (
            BODY,
            lambda: _headers() | {"Webhook-Signature": "v1,é v2,x x"},
            SECRET,
            "of another secret",
        ),
        (BODY, _headers, "whsec_short", "must be whsec_ and 24 to 64 bytes"),
        ("{", lambda: _headers(body="{"), SECRET, "no JSON"),
        ("{}", lambda: _headers(body="{}"), SECRET, "has no name"),
    ],
)
def test_another_request_is_refused(
    body: str, headers: Callable[[], dict[str, str]], secret: str, says: str
) -> None:
    with pytest.raises(WebhookVerificationError, match=says):
        verify_webhook(body, headers(), secret)
