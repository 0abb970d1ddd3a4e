"""Signatures of webhooks, judged by the Standard Webhooks libraries of two other languages."""

import base64
from collections.abc import Callable
from email.header import Header
from functools import partial

import pytest
from harness import Account, Receiver, Request, Suite, send
from harness.verifiers import VERIFIERS, Signed

_TOO_LATE_SECONDS = 6 * 60.0  # the libraries refuse what is older than five minutes
_SUBJECTS = [
    "Plain",
    "Grüße aus Köln – 你好, мир 🚀",
    "e\u0301 is not \u00e9, \u202eleft\u202c, zero\u200bwidth",
    '"quoted" \\ back / slash <tag> & line',
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧‍👦 " + "ß" * 200,
]

_NAMES = ["plain", "letters", "invisible", "quotes", "long"]

Verifier = Callable[[Signed], str]


def _is_of(email_id: str, request: Request) -> bool:
    return request.webhook_id == email_id


@pytest.fixture(params=list(VERIFIERS))
def why_refused(request: pytest.FixtureRequest) -> Verifier:
    """Each of the libraries."""
    return VERIFIERS[request.param]


@pytest.fixture(scope="module")
def arrived(suite: Suite) -> dict[str, Signed]:
    """A webhook for each subject, as it came."""
    account = Account.make(suite)
    with Receiver() as receiver:
        webhook = account.api.post(
            "/v1/webhooks", {"url": receiver.url, "events": ["email.received"]}
        )
        address = account.api.new_inbox()["emailAddress"]
        found = {}
        for subject in _SUBJECTS:
            mail = send(
                suite, address, subject=Header(subject, "utf-8", maxlinelen=10_000).encode()
            )
            request = receiver.wait_for(partial(_is_of, mail.email_id), f"the mail {subject!r}")
            assert request.json["data"]["subject"] == subject
            found[subject] = Signed.of(request, webhook["secret"])
        return found


@pytest.mark.parametrize("subject", _SUBJECTS, ids=_NAMES)
def test_the_signature_is_taken(
    arrived: dict[str, Signed], why_refused: Verifier, subject: str
) -> None:
    assert why_refused(arrived[subject]) == ""


@pytest.mark.parametrize("subject", _SUBJECTS[:2], ids=_NAMES[:2])
def test_what_was_changed_is_refused(
    arrived: dict[str, Signed], why_refused: Verifier, subject: str
) -> None:
    genuine = arrived[subject]
    other_secret = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
    moved = {
        **genuine.headers,
        "webhook-timestamp": str(int(genuine.headers["webhook-timestamp"]) + 1),
    }
    renamed = {**genuine.headers, "webhook-id": "01990000-0000-7000-8000-000000000000"}

    assert why_refused(genuine.but(secret=other_secret)) == "No matching signature found"
    assert why_refused(genuine.but(body=genuine.body + b" ")) == "No matching signature found"
    assert (
        why_refused(genuine.but(body=genuine.body.replace(b"email.received", b"inbox.created")))
        == "No matching signature found"
    )
    assert why_refused(genuine.but(headers=moved)) == "No matching signature found"
    assert why_refused(genuine.but(headers=renamed)) == "No matching signature found"


def test_what_comes_late_is_refused(arrived: dict[str, Signed], why_refused: Verifier) -> None:
    genuine = arrived["Plain"]

    assert why_refused(genuine.but(later=_TOO_LATE_SECONDS)) == "Message timestamp too old"
    assert why_refused(genuine.but(later=-_TOO_LATE_SECONDS)) == "Message timestamp too new"


def test_both_secrets_sign_while_one_is_rotated(
    suite: Suite, account: Account, why_refused: Verifier
) -> None:
    with Receiver() as receiver:
        webhook = account.api.post(
            "/v1/webhooks", {"url": receiver.url, "events": ["email.received"]}
        )
        rotated = account.api.call("POST", f"/v1/webhooks/{webhook['webhookId']}/rotate-secret")
        assert rotated.status_code == 200, rotated.text
        fresh = rotated.json()["secret"]
        assert fresh != webhook["secret"]

        mail = send(suite, account.api.new_inbox()["emailAddress"], subject=_SUBJECTS[1])
        signed = Signed.of(
            receiver.wait_for(lambda it: it.webhook_id == mail.email_id, "the mail"), fresh
        )

    signatures = signed.headers["webhook-signature"].split(" ")
    assert len(signatures) == 2
    for secret in (fresh, webhook["secret"]):
        assert why_refused(signed.but(secret=secret)) == ""
    for secret in (fresh, webhook["secret"]):
        alone = [
            signed.but(headers={**signed.headers, "webhook-signature": one}, secret=secret)
            for one in signatures
        ]
        assert sorted(map(why_refused, alone)) == ["", "No matching signature found"], (
            "one signature for each secret"
        )
