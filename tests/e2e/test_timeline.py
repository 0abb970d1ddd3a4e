"""Tests an email's timeline, which shows why it did not arrive."""

from datetime import datetime
from typing import Any

from dev.ports import free_port
from harness import SENDER, Account, Api, Gateway, Receiver, Suite, eventually, send

_ARRIVAL = ["connected", "accepted", "stored", "published"]


def _timeline(api: Api, email: str) -> Any:
    return api.get(f"/v1/emails/{email}/timeline")


def _names(timeline: Any) -> list[str]:
    return [step["step"] for step in timeline["steps"]]


def _of_kind(timeline: Any, name: str) -> list[Any]:
    return [step for step in timeline["steps"] if step["step"] == name]


def _make_hook(account: Account, url: str) -> str:
    made = account.api.post("/v1/webhooks", {"url": url, "events": ["email.received"]})
    return str(made["webhookId"])


def _make_rule(suite: Suite, account: Account, webhook: str, word: str) -> str:
    made = suite.operate(
        "rule",
        "create",
        account.account_id,
        "--name",
        f"About {word}",
        "--webhook",
        webhook,
        "--when",
        f"subject contains {word}",
    )
    return str(made["id"])


def test_a_timeline_shows_the_way_from_the_mail_server_to_the_second_attempt(
    suite: Suite, account: Account, other_account: Account
) -> None:
    with Receiver(answer=lambda number: 503 if number == 0 else 204) as receiver:
        webhook = _make_hook(account, receiver.url)
        fitting = _make_rule(suite, account, webhook, "invoice")
        unfitting = _make_rule(suite, account, webhook, "welcome")
        inbox = account.api.new_inbox()
        email = send(suite, inbox["emailAddress"], subject="Your invoice").email_id

        def after_attempts(count: int) -> Any:
            timeline = _timeline(account.api, email)
            return timeline if len(_of_kind(timeline, "attempt")) == count else None

        failed = eventually(lambda: after_attempts(1), "the first attempt is shown", seconds=30)
        done = eventually(lambda: after_attempts(2), "the second attempt is shown", seconds=60)

    assert _names(done) == [*_ARRIVAL, "rules", "delivery", "attempt", "attempt"]
    assert (done["emailId"], done["inboxId"]) == (email, inbox["inboxId"])
    assert (done["missing"], done["isTruncated"]) == ([], False)
    connected, accepted, stored, published, rules, delivery, first, second = done["steps"]
    assert connected["remoteAddress"]
    assert accepted["at"] == account.api.get("/v1/emails/" + email)["receivedAt"]
    assert accepted["mailFrom"] == SENDER
    assert accepted["recipients"] == [inbox["emailAddress"]]
    assert published["isPublished"]
    for step in (connected, stored, published):
        assert step["at"] is not None or step["note"]
    assert rules["rules"] == [
        {"ruleId": fitting, "name": "About invoice", "isMatch": True},
        {"ruleId": unfitting, "name": "About welcome", "isMatch": False},
    ]
    assert (delivery["webhookId"], delivery["url"]) == (webhook, receiver.url)
    assert (delivery["status"], delivery["ruleIds"]) == ("succeeded", [fitting])
    assert delivery["nextAttemptAt"] is None
    read = account.api.get(f"/v1/webhooks/{webhook}/deliveries/{delivery['deliveryId']}")
    assert (read["webhookId"], read["deliveryId"]) == (webhook, delivery["deliveryId"])
    assert (read["eventId"], len(read["attempts"])) == (email, 2)
    assert (first["number"], first["statusCode"], first["outcome"]) == (1, 503, "failed")
    assert (second["number"], second["statusCode"], second["outcome"]) == (2, 204, "succeeded")
    assert [step["webhookId"] for step in (first, second)] == [webhook, webhook]
    assert datetime.fromisoformat(first["at"]) < datetime.fromisoformat(second["at"])

    (pending,) = _of_kind(failed, "delivery")
    (attempt,) = _of_kind(failed, "attempt")
    assert pending["status"] == "pending"
    assert pending["nextAttemptAt"] == attempt["nextAttemptAt"] > attempt["at"]

    foreign = other_account.api.call("GET", f"/v1/emails/{email}/timeline")
    assert foreign.status_code == 404
    assert receiver.url not in foreign.text


def test_a_timeline_without_webhooks_ends_with_publishing(suite: Suite, account: Account) -> None:
    email = send(suite, account.api.new_inbox()["emailAddress"]).email_id

    def once_published() -> Any:
        timeline = _timeline(account.api, email)
        return timeline if timeline["steps"][-1].get("isPublished") else None

    assert _names(eventually(once_published, "the event is published")) == _ARRIVAL


def test_a_timeline_of_a_mail_whose_inbox_ended_is_gone(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    email = send(suite, inbox["emailAddress"]).email_id
    assert _names(_timeline(account.api, email))[:4] == _ARRIVAL

    account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    gone = account.api.call("GET", f"/v1/emails/{email}/timeline")
    assert gone.status_code == 404


def test_without_a_dispatcher_what_is_known_is_shown_and_what_is_missing_named(
    suite: Suite, account: Account
) -> None:
    email = send(suite, account.api.new_inbox()["emailAddress"]).email_id
    with Gateway(suite, webhook_dispatcher_rpc=f"127.0.0.1:{free_port()}") as gateway:
        timeline = _timeline(Api(f"http://{gateway.address}", account.key), email)

    assert _names(timeline) == _ARRIVAL
    assert timeline["missing"] == ["webhooks_unavailable"]
