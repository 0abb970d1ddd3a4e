"""Tests what must always hold, seen from outside."""

import concurrent.futures

from harness import Account, Api, Receiver, Suite, Topic, eventually, send, send_raw


def test_an_email_is_readable_before_its_event_is_seen(suite: Suite, api: Api) -> None:
    inboxes = [api.new_inbox() for _ in range(4)]
    count = 40
    message = b"From: a@sender.example\r\nSubject: quick\r\n\r\nhi\r\n"

    with Topic(suite, "email.received") as topic, concurrent.futures.ThreadPoolExecutor(4) as pool:
        sending = [
            pool.submit(send_raw, suite, [inboxes[number % 4]["emailAddress"]], message)
            for number in range(count)
        ]
        expected = {inbox["inboxId"] for inbox in inboxes}
        seen: set[str] = set()
        for event in topic.events(seconds=30):
            if event.key in expected:
                assert api.call("GET", "/v1/emails/" + event.headers["ce_id"]).status_code == 200, (
                    "seen before it could be read"
                )
                seen.add(event.headers["ce_id"])
            if len(seen) == count:
                break
        assert [answer.result() for answer in sending] == [{}] * count
        assert len(seen) == count


def test_sequences_have_no_gap(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    message = b"From: a@sender.example\r\nSubject: in order\r\n\r\nhi\r\n"

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: send_raw(suite, [inbox["emailAddress"]], message), range(24)))

    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails", limit=100)["emails"]
    assert [email["sequence"] for email in emails] == list(range(24, 0, -1)), (
        "newest first, one after the other"
    )


def test_one_id_everywhere(suite: Suite, account: Account) -> None:
    with (
        Receiver(answer=lambda number: 503 if number == 0 else 200) as receiver,
        Topic(suite, "email.received") as topic,
    ):
        account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        inbox = account.api.new_inbox()

        sent = send(suite, inbox["emailAddress"])

        event = topic.wait_for(lambda it: it["inbox_id"] == inbox["inboxId"], "the mail's event")
        attempts = receiver.wait_for_count(2, seconds=30)
        (listed,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
        ids = {
            sent.email_id,
            event["email_id"],
            event.headers["ce_id"],
            listed["emailId"],
            attempts[0].webhook_id,
            attempts[1].webhook_id,
        }
        assert ids == {sent.email_id}
        assert attempts[0].json["data"]["emailId"] == sent.email_id


def test_mail_is_refused_once_the_inbox_is_gone(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    assert send(suite, inbox["emailAddress"]).is_accepted

    api.delete("/v1/inboxes/" + inbox["inboxId"])

    sent = send(suite, inbox["emailAddress"])
    assert not sent.is_accepted
    assert "550 5.1.1" in sent.transcript
    eventually(
        lambda: (
            "550 5.1.1"
            in send(suite, inbox["emailAddress"], more=("--quit-after", "RCPT")).transcript
        ),
        "refused at RCPT",
    )
    taken = api.call(
        "POST", "/v1/inboxes", json={"localPart": inbox["emailAddress"].partition("@")[0]}
    )
    assert taken.status_code == 409, "the address is not given out again for 30 days"


def test_a_live_inbox_beside_a_dead_one_gets_its_mail(suite: Suite, api: Api) -> None:
    dead, live = api.new_inbox(), api.new_inbox()
    api.delete("/v1/inboxes/" + dead["inboxId"])

    refused = send_raw(
        suite,
        [dead["emailAddress"], live["emailAddress"]],
        b"From: a@sender.example\r\nSubject: one\r\n\r\nhi\r\n",
    )

    assert set(refused) <= {dead["emailAddress"]}
    assert len(api.get(f"/v1/inboxes/{live['inboxId']}/emails")["emails"]) == 1


def test_another_account_sees_nothing(
    suite: Suite, account: Account, other_account: Account
) -> None:
    with Receiver() as receiver:
        webhook = account.api.post("/v1/webhooks", {"url": receiver.url})
        inbox = account.api.new_inbox(tags=["mine"])
        sent = send(suite, inbox["emailAddress"])
        receiver.wait_for(lambda it: it.webhook_id == sent.email_id, "its webhook")
        requests = [
            ("GET", f"/v1/inboxes/{inbox['inboxId']}"),
            ("GET", f"/v1/inboxes/{inbox['inboxId']}/emails"),
            ("DELETE", f"/v1/inboxes/{inbox['inboxId']}"),
            ("GET", f"/v1/emails/{sent.email_id}"),
            ("GET", f"/v1/webhooks/{webhook['webhookId']}"),
            ("DELETE", f"/v1/webhooks/{webhook['webhookId']}"),
        ]

        statuses = {
            f"{method} {path}": other_account.api.call(method, path).status_code
            for method, path in requests
        }

        assert set(statuses.values()) == {404}, statuses
        assert other_account.api.get("/v1/inboxes", tag="mine")["inboxes"] == []
        assert other_account.api.get("/v1/webhooks")["webhooks"] == []
        assert account.api.get("/v1/inboxes/" + inbox["inboxId"])["status"] == "active"
        assert account.api.get("/v1/webhooks/" + webhook["webhookId"])["isEnabled"]
