"""Webhooks as a receiver sees them, judged by the Standard Webhooks library."""

import threading
from typing import Any

from harness import Account, Receiver, Suite, eventually, send


def _register(account: Account, receiver: Receiver, **more: Any) -> dict[str, Any]:
    webhook: dict[str, Any] = account.api.post("/v1/webhooks", {"url": receiver.url, **more})
    return webhook


def _route(suite: Suite, account: Account, webhook: dict[str, Any], *conditions: str) -> None:
    """An enabled rule that sends matching mail to the webhook."""
    when = [part for condition in conditions for part in ("--when", condition)]
    suite.operate(
        "rule",
        "create",
        account.account_id,
        "--name",
        "route",
        "--webhook",
        webhook["webhookId"],
        *when,
    )


def test_a_signed_webhook_arrives(suite: Suite, account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver, events=["email.received"])
        inbox = account.api.new_inbox()

        sent = send(suite, inbox["emailAddress"], subject="Signed")

        request = receiver.wait_for(
            lambda it: it.json["event"] == "email.received", "the mail's webhook"
        )
        request.verify(webhook["secret"])
        assert request.webhook_id == sent.email_id
        assert set(request.json) == {"event", "timestamp", "data"}
        assert request.json["data"] == {
            "emailId": sent.email_id,
            "inboxId": inbox["inboxId"],
            "from": "robot@sender.example",
            "subject": "Signed",
        }
        assert (
            request.json["timestamp"]
            == account.api.get("/v1/emails/" + sent.email_id)["receivedAt"]
        )


def test_rules_choose_the_webhook(suite: Suite, account: Account) -> None:
    with Receiver() as invoices, Receiver() as welcomes:
        for receiver, word in ((invoices, "invoice"), (welcomes, "welcome")):
            _route(
                suite,
                account,
                _register(account, receiver, events=["email.received"]),
                f"subject contains {word}",
            )
        address = account.api.new_inbox()["emailAddress"]

        first = send(suite, address, subject="Your INVOICE of May")
        invoices.wait_for(lambda it: it.webhook_id == first.email_id, "the first invoice")
        second = send(suite, address, subject="Welcome!")
        welcomes.wait_for(lambda it: it.webhook_id == second.email_id, "the welcome")
        third = send(suite, address, subject="invoice and welcome")
        invoices.wait_for(lambda it: it.webhook_id == third.email_id, "both words, invoices")
        welcomes.wait_for(lambda it: it.webhook_id == third.email_id, "both words, welcomes")

        assert {it.webhook_id for it in invoices.requests} == {first.email_id, third.email_id}
        assert {it.webhook_id for it in welcomes.requests} == {second.email_id, third.email_id}


def test_all_conditions_of_a_rule_must_match(suite: Suite, account: Account) -> None:
    with Receiver() as strict, Receiver() as everything:
        _route(
            suite,
            account,
            _register(account, strict),
            "subject starts_with Reset",
            "from ends_with @bank.example",
        )
        _route(suite, account, _register(account, everything))
        address = account.api.new_inbox()["emailAddress"]

        half = send(suite, address, subject="Reset it", sender="a@shop.example")
        everything.wait_for(
            lambda it: it.webhook_id == half.email_id, "the catch-all gets what matches half"
        )
        whole = send(suite, address, subject="reset it", sender="a@bank.example")
        strict.wait_for(lambda it: it.webhook_id == whole.email_id, "both conditions match")

        assert half.email_id not in {it.webhook_id for it in strict.requests}


def test_a_failed_delivery_comes_again_with_the_same_id(suite: Suite, account: Account) -> None:
    with Receiver(answer=lambda number: 500 if number == 0 else 200) as receiver:
        webhook = _register(account, receiver, events=["email.received"])
        sent = send(suite, account.api.new_inbox()["emailAddress"])

        first, second = receiver.wait_for_count(2, seconds=30)[:2]

        assert first.webhook_id == second.webhook_id == sent.email_id
        assert first.body == second.body
        assert (
            int(second.headers["webhook-timestamp"]) >= int(first.headers["webhook-timestamp"]) + 4
        ), "the attempt's time, not the event's"
        second.verify(webhook["secret"])
        assert all(it.webhook_id == sent.email_id for it in receiver.requests)


def test_the_life_of_an_inbox_is_announced(account: Account) -> None:
    with Receiver() as receiver:
        webhook = _register(account, receiver)
        inbox = account.api.new_inbox()
        created = receiver.wait_for(lambda it: it.json["event"] == "inbox.created", "inbox.created")

        account.api.delete("/v1/inboxes/" + inbox["inboxId"])

        expired = receiver.wait_for(lambda it: it.json["event"] == "inbox.expired", "inbox.expired")
        created.verify(webhook["secret"])
        expired.verify(webhook["secret"])
        known = {"inboxId": inbox["inboxId"], "emailAddress": inbox["emailAddress"]}
        assert created.json["data"] == known | {
            "createdAt": inbox["createdAt"],
            "expiresAt": inbox["expiresAt"],
        }
        ended = account.api.get("/v1/inboxes/" + inbox["inboxId"])["expiredAt"]
        assert expired.json["data"] == known | {"expiredAt": ended, "reason": "deleted"}


def test_a_rule_is_in_force_for_the_next_mail(suite: Suite, account: Account) -> None:
    with Receiver() as before, Receiver() as after:
        _register(account, before, events=["email.received"])
        chosen = _register(account, after, events=["email.received"])
        address = account.api.new_inbox()["emailAddress"]
        unrouted = send(suite, address)
        for receiver in (before, after):
            receiver.wait_for(
                lambda it: it.webhook_id == unrouted.email_id,
                "without rules every subscribed endpoint",
            )

        _route(suite, account, chosen)
        routed = send(suite, address)

        after.wait_for(lambda it: it.webhook_id == routed.email_id, "the rule's webhook")
        last = send(suite, address)
        after.wait_for(lambda it: it.webhook_id == last.email_id, "the rule's webhook again")
        assert {it.webhook_id for it in before.requests} == {unrouted.email_id}


def test_a_hanging_endpoint_slows_nobody(suite: Suite, account: Account) -> None:
    released = threading.Event()

    def hang(_number: int) -> int:
        released.wait(60)
        return 200

    with Receiver(answer=hang) as hanging, Receiver() as healthy:
        _register(account, hanging, events=["email.received"])
        _register(account, healthy, events=["email.received"])
        address = account.api.new_inbox()["emailAddress"]
        try:
            for count in (1, 2, 3):
                send(suite, address)
                healthy.wait_for_count(count)
        finally:
            released.set()


def test_plain_http_to_the_outside_is_refused(account: Account) -> None:
    numbers = (
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
        "[::ffff:169.254.169.254]",
    )
    tunnels = (
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::1]",
        "[2002:a9fe:a9fe::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[::10.0.0.1]",
        "[fe80::1%25lo]",
    )
    hosts = tuple(f"http://{host}/" for host in (*numbers, *tunnels))
    for url in (
        "ftp://example.com/",
        "http://10.0.0.1/",
        "https://169.254.169.254/latest",
        "not a url",
        *hosts,
    ):
        answer = account.api.call("POST", "/v1/webhooks", json={"url": url})
        assert answer.status_code == 400, f"{url}: {answer.status_code} {answer.text}"


def test_endpoints_are_listed_from_either_end(account: Account) -> None:
    with Receiver() as receiver:
        made = [_register(account, receiver)["webhookId"] for _ in range(3)]

        first = account.api.get("/v1/webhooks", order="asc", limit=2)
        rest = account.api.get("/v1/webhooks", order="asc", limit=2, cursor=first["nextCursor"])
        newest = account.api.get("/v1/webhooks", limit=2)
        mixed = [
            account.api.call("GET", "/v1/webhooks", params={"cursor": first["nextCursor"]}),
            account.api.call(
                "GET", "/v1/webhooks", params={"cursor": newest["nextCursor"], "order": "asc"}
            ),
        ]

    assert [webhook["webhookId"] for webhook in first["webhooks"] + rest["webhooks"]] == made
    assert rest["nextCursor"] is None
    assert [webhook["webhookId"] for webhook in newest["webhooks"]] == made[:0:-1]
    for answer in mixed:
        assert answer.status_code == 400
        assert answer.headers["X-Error-Code"] == "invalid_cursor"


def test_endpoints_are_listed_and_deleted(account: Account) -> None:
    with Receiver() as receiver:
        made = _register(account, receiver, description="first")
        secret = made.pop("secret")
        assert secret.startswith("whsec_")
        path = "/v1/webhooks/" + made["webhookId"]

        assert account.api.get(path) == made
        assert account.api.get("/v1/webhooks")["webhooks"] == [made]
        assert account.api.delete(path) == {"webhookId": made["webhookId"], "deleted": True}
        assert account.api.call("GET", path).status_code == 404
        assert eventually(lambda: account.api.get("/v1/webhooks")["webhooks"] == [], "it is gone")
