"""The topic inbox.state as another team reads it: a table of inboxes, without a call of the API."""

from typing import Any

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from harness import Account, Suite, Topic, eventually
from harness.inbox_states import InboxTable


class _Table:
    """The table of one account's inboxes."""

    def __init__(self, topic: Topic, account: str) -> None:
        self._topic = topic
        self._account = account
        self._table = InboxTable()

    def rows(self) -> dict[str, dict[str, Any]]:
        """Returns the rows by inboxId, with the API's names of the fields."""
        for event in self._topic.events(seconds=0.5):
            if event.headers["ce_accountid"] == self._account:
                self._table.take(event.key, event.value, event.headers)
        return self._table.rows()


def _listed(account: Account) -> dict[str, dict[str, Any]]:
    inboxes = account.api.get("/v1/inboxes?status=all&limit=100")["inboxes"]
    names = ("emailAddress", "status", "createdAt", "expiresAt", "expiredAt")
    return {
        inbox["inboxId"]: {"accountId": account.account_id} | {name: inbox[name] for name in names}
        for inbox in inboxes
    }


def test_a_reader_of_the_topic_has_the_same_inboxes_as_the_api(
    suite: Suite, account: Account
) -> None:
    with Topic(suite, "inbox.state") as topic:
        table = _Table(topic, account.account_id)
        kept, renamed, extended, deleted = (
            account.api.new_inbox(name=f"private {number}") for number in range(4)
        )
        account.api.patch("/v1/inboxes/" + renamed["inboxId"], {"name": "private too"})
        for ttl in (600, 7200):
            account.api.patch("/v1/inboxes/" + extended["inboxId"], {"ttlSeconds": ttl})
        account.api.delete("/v1/inboxes/" + deleted["inboxId"])

        eventually(
            lambda: table.rows() == _listed(account),
            "the table and the list are the same",
            seconds=30,
        )
        listed = _listed(account)
        assert listed[kept["inboxId"]]["status"] == "active"
        assert listed[deleted["inboxId"]]["status"] == "expired"
        assert {event.headers["ce_type"] for event in topic.seen} == {"inbox.state"}
        assert not [event for event in topic.seen if b"private" in event.value]


def test_the_topic_of_states_is_compacted(suite: Suite) -> None:
    resource = ConfigResource(ResourceType.TOPIC, "inbox.state")
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    (found,) = admin.describe_configs([resource]).values()

    assert found.result(timeout=15)["cleanup.policy"].value == "compact"
