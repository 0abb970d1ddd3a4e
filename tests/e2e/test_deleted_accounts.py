"""An account that an operator deletes takes its inboxes and their mail with it."""

import subprocess

from harness import Account, Suite, Topic, WebhookDispatcher, eventually, send


def _query(suite: Suite, statement: str) -> str:
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_mail_of_a_deleted_account_is_gone(suite: Suite) -> None:
    leaving = Account.make(suite, plan="pro")
    staying = Account.make(suite, plan="pro")
    inboxes = [leaving.api.new_inbox(ttlSeconds=604_800) for _ in range(3)]
    kept = staying.api.new_inbox()
    own = send(suite, inboxes[0]["emailAddress"])
    shared = send(suite, f"{inboxes[1]['emailAddress']},{kept['emailAddress']}")
    assert own.is_accepted, own.transcript
    assert shared.is_accepted, shared.transcript
    emails = f"FROM mailbox.emails WHERE account_id = '{leaving.account_id}'"
    live = f"FROM mailbox.inboxes WHERE account_id = '{leaving.account_id}' AND is_live"
    body = _query(suite, f"SELECT body_id {emails} AND email_id = '{own.email_id}'")
    bodies = f"FROM mailbox.bodies WHERE body_id = '{body}'"
    assert _query(suite, f"SELECT count(*) {emails}") == "2"
    assert _query(suite, f"SELECT count(*) {bodies}") == "1"

    with Topic(suite, "inbox.expired") as topic:
        suite.operate("account", "delete", leaving.account_id)
        _wait_ended(topic, {inbox["inboxId"] for inbox in inboxes})

    assert _query(suite, f"SELECT count(*) {live}") == "0"
    eventually(lambda: not _query(suite, f"SELECT 1 {emails}"), "its emails are gone")
    eventually(lambda: not _query(suite, f"SELECT 1 {bodies}"), "their messages are gone")
    refused = send(suite, inboxes[0]["emailAddress"])
    assert not refused.is_accepted
    assert "550 5.1.1" in refused.transcript
    # The other recipient has the message still.
    listed = staying.api.get(f"/v1/inboxes/{kept['inboxId']}/emails")["emails"]
    assert len(listed) == 1
    assert staying.api.get("/v1/emails/" + listed[0]["emailId"])["subject"] == "Hello"


def test_the_feed_of_a_deleted_account_is_gone(suite: Suite) -> None:
    leaving = Account.make(suite, plan="pro")
    after = leaving.api.get("/v1/events")["nextCursor"]
    inbox = leaving.api.new_inbox()
    send(suite, inbox["emailAddress"])
    eventually(lambda: len(leaving.api.get("/v1/events", after=after)["events"]) == 2, "two events")
    feed = f"SELECT 1 FROM webhooks.feeds WHERE account_id = '{leaving.account_id}'"
    events = f"SELECT count(*) FROM webhooks.feed_events WHERE account_id = '{leaving.account_id}'"
    assert _query(suite, feed)
    assert _query(suite, events) == "2"

    suite.operate("account", "delete", leaving.account_id)

    eventually(
        lambda: leaving.api.call("GET", "/v1/events", params={"after": after}).status_code == 401,
        "its key is refused",
    )
    # From here on nothing is recorded.
    eventually(lambda: not _query(suite, feed), "its feed is gone")

    # Its events go with the maintenance: hourly, and when a dispatcher begins. That leaves out who
    # was deleted within the last minute.
    _query(
        suite,
        "UPDATE webhooks.deleted_accounts SET deleted_at = deleted_at - interval '1 minute' "
        f"WHERE account_id = '{leaving.account_id}'",
    )
    with WebhookDispatcher(suite):
        eventually(lambda: _query(suite, events) == "0", "its events are gone")


def _wait_ended(topic: Topic, inboxes: set[str]) -> None:
    """Waits until each inbox has its event, which says why."""
    for event in topic.events(seconds=30):
        if event["inbox_id"] in inboxes:
            assert event["reason"] == "EXPIRY_REASON_DELETED"
            inboxes.remove(event["inbox_id"])
        if not inboxes:
            return
    raise AssertionError(f"no inbox.expired of {inboxes}")
