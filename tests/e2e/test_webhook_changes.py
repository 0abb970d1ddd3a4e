"""Webhooks that are changed, switched off and on, and given new secrets."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from harness import Account, Receiver, Suite, eventually, outcome, send
from standardwebhooks import Webhook, WebhookVerificationError


def _register(account: Account, receiver: Receiver, **more: Any) -> dict[str, Any]:
    webhook: dict[str, Any] = account.api.post(
        "/v1/webhooks", {"url": receiver.url, "events": ["email.received"], **more}
    )
    return webhook


def _patch(account: Account, webhook: dict[str, Any], **change: Any) -> dict[str, Any]:
    answer = account.api.call("PATCH", "/v1/webhooks/" + webhook["webhookId"], json=change)
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


def _rotate(
    account: Account, webhook: dict[str, Any], headers: dict[str, str] | None = None
) -> requests.Response:
    return account.api.call(
        "POST", f"/v1/webhooks/{webhook['webhookId']}/rotate-secret", headers=headers or {}
    )


def test_a_patch_changes_what_it_names(account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver, description="first")
        del webhook["secret"]

        assert _patch(account, webhook, description="second") == webhook | {"description": "second"}
        assert _patch(account, webhook, events=["inbox.created"], isEnabled=False) == webhook | {
            "description": "second",
            "events": ["inbox.created"],
            "isEnabled": False,
        }
        back = _patch(account, webhook, events=None, description=None, isEnabled=True)
        assert back == webhook | {
            "description": "",
            "events": ["email.received", "inbox.created", "inbox.expired"],
        }
        assert account.api.get("/v1/webhooks/" + webhook["webhookId"]) == back


def test_a_patch_is_taken_as_merge_patch_too(account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver)

        answer = account.api.call(
            "PATCH",
            "/v1/webhooks/" + webhook["webhookId"],
            data=b'{"description":"merged"}',
            headers={"Content-Type": "application/merge-patch+json"},
        )

        assert (answer.status_code, answer.json()["description"]) == (200, "merged")


def test_each_change_is_in_force_for_the_next_mail(suite: Suite, account: Account) -> None:
    with Receiver() as old, Receiver() as new, Receiver() as witness:
        webhook = _register(account, old)
        _register(account, witness)
        address = account.api.new_inbox()["emailAddress"]

        def arrivals(subject: str) -> tuple[bool, bool]:
            """Returns whether the next mail came to the old and to the new address, once the
            witness has it.
            """
            mail = send(suite, address, subject=subject).email_id
            witness.wait_for(lambda it: it.webhook_id == mail, "the witness has it")
            shown = account.api.get("/v1/webhooks/" + webhook["webhookId"])
            if shown["isEnabled"]:
                (old if shown["url"] == old.url else new).wait_for(
                    lambda it: it.webhook_id == mail, subject
                )
            return mail in {it.webhook_id for it in old.requests}, mail in {
                it.webhook_id for it in new.requests
            }

        assert arrivals("as registered") == (True, False)
        _patch(account, webhook, url=new.url)
        assert arrivals("moved") == (False, True)
        _patch(account, webhook, isEnabled=False)
        assert arrivals("switched off") == (False, False)
        _patch(account, webhook, isEnabled=True)
        assert arrivals("switched on") == (False, True)
        _patch(account, webhook, url=old.url)
        assert arrivals("moved back") == (True, False)


def test_what_answers_410_is_switched_off_and_can_be_switched_on_again(
    suite: Suite, account: Account
) -> None:
    with Receiver(answer=lambda number: 410 if number == 0 else 200) as receiver:
        webhook = _register(account, receiver)
        address = account.api.new_inbox()["emailAddress"]
        path = "/v1/webhooks/" + webhook["webhookId"]
        send(suite, address)
        off = eventually(
            lambda: (shown := account.api.get(path)) and not shown["isEnabled"] and shown,
            "it is switched off",
        )
        assert "410" in off["disabledReason"]

        on = _patch(account, webhook, isEnabled=True)

        assert (on["isEnabled"], on["disabledReason"]) == (True, None)
        mail = send(suite, address)
        receiver.wait_for(lambda it: it.webhook_id == mail.email_id, "mail comes again")


def test_after_a_rotation_both_secrets_sign(suite: Suite, account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver)
        address = account.api.new_inbox()["emailAddress"]

        answer = _rotate(account, webhook)

        assert answer.status_code == 200, answer.text
        rotated = answer.json()
        assert rotated["webhookId"] == webhook["webhookId"]
        assert rotated["secret"] != webhook["secret"]
        until = datetime.fromisoformat(rotated["previousSecretExpiresAt"])
        assert (
            timedelta(hours=23, minutes=58)
            < until - datetime.now(UTC)
            <= timedelta(hours=24, seconds=5)
        )
        mail = send(suite, address)
        request = receiver.wait_for(lambda it: it.webhook_id == mail.email_id, "the mail's webhook")
        request.verify(webhook["secret"])
        request.verify(rotated["secret"])
        assert len(request.headers["webhook-signature"].split()) == 2
        with pytest.raises(WebhookVerificationError):
            Webhook("whsec_" + "A" * 32).verify(request.body, dict(request.headers))


def test_a_repeated_rotation_answers_the_same_secret(account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver)
        headers = {"Idempotency-Key": uuid.uuid4().hex}

        first = _rotate(account, webhook, headers)
        again = _rotate(account, webhook, headers)
        other = _rotate(account, webhook)

        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json() == first.json()
        assert again.headers["Idempotency-Replayed"] == "true"
        assert other.json()["secret"] != first.json()["secret"]


def test_too_many_rotations_of_a_day_have_to_wait(account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver)
        assert [_rotate(account, webhook).status_code for _ in range(3)] == [200, 200, 200]

        refused = _rotate(account, webhook)

        assert outcome(refused) == (409, "secret_limit")
        assert "signs with 4 secrets already" in refused.json()["message"]
