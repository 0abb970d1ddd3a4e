"""Rules as their account makes them, in the dashboard, and what becomes of real mail."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from harness import Receiver, Suite, User, eventually, outcome, send
from harness.receiver import Request

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SHORTEST_LIFE_SECONDS = 60


@pytest.fixture
def user(suite: Suite) -> User:
    """Makes a user on Premium."""
    return User.make(suite)


def _make_webhook(user: User, url: str, *events: str) -> str:
    webhook = user.dashboard.post("/webhooks", {"url": url, "events": list(events) or None})
    return str(webhook["webhookId"])


def test_a_rule_has_these_fields_and_no_others(user: User) -> None:
    webhook = _make_webhook(user, "http://127.0.0.1:49151/hook")
    other = _make_webhook(user, "http://127.0.0.1:49151/other")
    conditions = [
        {"field": "subject", "operator": "contains", "value": "Invoice"},
        {"field": "from", "operator": "ends_with", "value": "@shop.example"},
    ]

    made = user.dashboard.post(
        "/rules", {"name": "Invoices", "webhookId": webhook, "conditions": conditions}
    )

    assert list(made) == ["id", "name", "webhookId", "conditions", "isEnabled", "createdAt"]
    assert _UUID.fullmatch(made["id"])
    assert _TIME.fullmatch(made["createdAt"])
    assert made == {
        "id": made["id"],
        "name": "Invoices",
        "webhookId": webhook,
        "conditions": conditions,
        "isEnabled": True,
        "createdAt": made["createdAt"],
    }
    assert user.dashboard.get("/rules/" + made["id"]) == made
    assert user.dashboard.get("/rules") == {"rules": [made]}
    change = {"name": "All", "webhookId": other, "conditions": [], "isEnabled": False}
    assert user.dashboard.patch("/rules/" + made["id"], change) == made | change
    assert user.dashboard.get("/rules/" + made["id"]) == made | change
    in_use = user.dashboard.call("DELETE", "/webhooks/" + other)
    assert outcome(in_use) == (409, "webhook_in_use")
    assert user.dashboard.delete("/rules/" + made["id"]) == {"id": made["id"], "deleted": True}
    assert user.dashboard.get("/rules") == {"rules": []}


# Each field with its text in the mail, and for each operator a value that fits and one that does
# not, though it would with another operator or field.
_SUBJECT = "Your INVOICE of May"
_SENDER = "billing@Shop.example"
_RECIPIENT = "{local}+May@{domain}"
_VALUES: dict[str, dict[str, tuple[str, str]]] = {
    "subject": {
        "contains": ("invoice of", "Shop"),
        "equals": ("your invoice of MAY", "Your INVOICE of"),
        "starts_with": ("your inv", "INVOICE"),
        "ends_with": ("OF may", "Your INVOICE"),
    },
    "from": {
        "contains": ("ING@shop", "INVOICE"),
        "equals": ("billing@shop.EXAMPLE", "billing@shop.exampl"),
        "starts_with": ("BILLING@", "@shop.example"),
        "ends_with": ("@SHOP.example", "billing@shop"),
    },
    "to": {
        "contains": ("+may@", "billing"),
        "equals": ("{LOCAL}+may@{domain}", "{local}@{domain}x"),
        "starts_with": ("{LOCAL}+MAY", "@{domain}"),
        "ends_with": ("+MAY@{domain}", "{local}+may"),
    },
}


@pytest.mark.parametrize("field", _VALUES)
def test_each_operator_of_a_field_routes_mail(suite: Suite, user: User, field: str) -> None:
    inbox = user.dashboard.post("/inboxes", {})
    local, domain = inbox["emailAddress"].split("@")
    parts = {"local": local, "LOCAL": local.upper(), "domain": domain}
    with Receiver() as fitting, Receiver() as unfitting:
        targets = [_make_webhook(user, receiver.url) for receiver in (fitting, unfitting)]
        made: dict[str, bool] = {}
        for operator, values in _VALUES[field].items():
            for value, target, fits in zip(values, targets, (True, False), strict=True):
                condition = {
                    "field": field,
                    "operator": operator,
                    "value": value.format(**parts),
                }
                rule = user.dashboard.post(
                    "/rules",
                    {
                        "name": f"{operator} {value}"[:100],
                        "webhookId": target,
                        "conditions": [condition],
                    },
                )
                made[rule["id"]] = fits

        sent = send(suite, _RECIPIENT.format(**parts), subject=_SUBJECT, sender=_SENDER)

        fitting.wait_for(lambda it: it.webhook_id == sent.email_id, "the mail's webhook")
        (delivery,) = _deliveries_of(user, targets[0], sent.email_id)
        assert set(delivery["ruleIds"]) == {rule for rule, fits in made.items() if fits}
        routing = eventually(
            lambda: user.dashboard.get(f"/emails/{sent.email_id}")["routing"],
            "the dispatcher answers in time",
        )
        assert {it["ruleId"]: it["isMatch"] for it in routing} == made
        assert _deliveries_of(user, targets[1], sent.email_id) == []
        assert [it.webhook_id for it in fitting.requests].count(sent.email_id) == 1
        # The event of the new inbox may come after the webhooks were there.
        assert sent.email_id not in [it.webhook_id for it in unfitting.requests]


def _deliveries_of(user: User, webhook: str, event: str) -> list[dict[str, Any]]:
    found = user.dashboard.get(f"/webhooks/{webhook}/deliveries")["deliveries"]
    return [delivery for delivery in found if delivery["eventId"] == event]


def _is_about(event: str, request: Request) -> bool:
    return bool(request.json["event"] == event)


def test_two_webhooks_get_the_same_bytes_of_an_event(suite: Suite, user: User) -> None:
    inbox = user.dashboard.post("/inboxes", {})
    with Receiver() as first, Receiver() as second:
        secrets = {}
        for receiver in (first, second):
            made = user.dashboard.post("/webhooks", {"url": receiver.url})
            secrets[receiver] = made["secret"]

        sent = send(suite, inbox["emailAddress"], subject='Größe 24 \N{SNOWMAN} "quoted"')
        user.dashboard.delete("/inboxes/" + inbox["inboxId"])

        for event in ("email.received", "inbox.expired"):
            both = [
                receiver.wait_for(partial(_is_about, event), event) for receiver in (first, second)
            ]
            assert both[0].body == both[1].body
            assert both[0].webhook_id == both[1].webhook_id
            for receiver, request in zip((first, second), both, strict=True):
                request.verify(secrets[receiver])
        # inbox.created may have come, too: its consumer can be behind the webhook.
        mail = first.wait_for(partial(_is_about, "email.received"), "the mail")
        assert mail.webhook_id == sent.email_id


@pytest.fixture(scope="session", autouse=True)
def short_lived(suite: Suite) -> Iterator[tuple[dict[str, Any], Receiver]]:
    """An inbox with the shortest life there is, made before the other tests so that it ends while
    they run, and who hears of it.
    """
    user = User.make(suite)
    with Receiver() as receiver:
        webhook = user.dashboard.post(
            "/webhooks", {"url": receiver.url, "events": ["inbox.expired"]}
        )
        receiver.secret = webhook["secret"]
        inbox = user.dashboard.post("/inboxes", {"ttlSeconds": _SHORTEST_LIFE_SECONDS})
        shorter = {"ttlSeconds": _SHORTEST_LIFE_SECONDS - 1}
        assert user.dashboard.call("POST", "/inboxes", json=shorter).status_code == 400
        yield inbox, receiver


@pytest.mark.last
def test_a_webhook_hears_of_an_inbox_that_ended_by_itself(
    short_lived: tuple[dict[str, Any], Receiver],
) -> None:
    inbox, receiver = short_lived

    def is_of_it(it: Request) -> bool:
        return bool(it.json["data"]["inboxId"] == inbox["inboxId"])

    request = receiver.wait_for(is_of_it, "its end", seconds=_SHORTEST_LIFE_SECONDS + 30)

    assert request.json["event"] == "inbox.expired"
    expired_at = request.json["data"]["expiredAt"]
    assert request.json["data"] == {
        "inboxId": inbox["inboxId"],
        "emailAddress": inbox["emailAddress"],
        "expiredAt": expired_at,
        "reason": "ttl",
    }
    assert request.json["timestamp"] == expired_at
    assert expired_at >= inbox["expiresAt"]
