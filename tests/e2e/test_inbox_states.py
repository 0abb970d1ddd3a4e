"""The topic inbox.state as another team reads it: a table of inboxes, without a call of the API."""

from typing import Any

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from harness import Account, Event, Suite, Topic, event_class, eventually

_STATE = event_class("inbox_state.proto")
_STATUS = {1: "active", 2: "expired"}


class _Table:
    """What a consumer keeps of each inbox: the state with the highest version."""

    def __init__(self, topic: Topic, account: str) -> None:
        self._topic = topic
        self._account = account
        self._states: dict[str, Any] = {}

    def rows(self) -> dict[str, dict[str, Any]]:
        """By inboxId, as the API names the fields."""
        for event in self._topic.events(seconds=0.5):
            if event.headers["ce_accountid"] == self._account:
                self._take(event)
        return {inbox_id: _row(state) for inbox_id, state in self._states.items()}

    def _take(self, event: Event) -> None:
        state: Any = _STATE.FromString(event.value)
        known = self._states.get(event.key)
        if known is None or state.version >= known.version:
            self._states[event.key] = state


def _row(state: Any) -> dict[str, Any]:
    assert set(state.DESCRIPTOR.fields_by_name) == {
        "inbox_id",
        "account_id",
        "email_address",
        "status",
        "created_at",
        "expires_at",
        "expired_at",
        "version",
    }
    row = {"emailAddress": state.email_address, "status": _STATUS[state.status]}
    for name, field in (
        ("createdAt", "created_at"),
        ("expiresAt", "expires_at"),
        ("expiredAt", "expired_at"),
    ):
        row[name] = _time(getattr(state, field)) if state.HasField(field) else None
    return row


def _time(timestamp: Any) -> str:
    text: str = timestamp.ToDatetime().isoformat(timespec="milliseconds")
    return text + "Z"


def _listed(account: Account) -> dict[str, dict[str, Any]]:
    inboxes = account.api.get("/v1/inboxes?status=all&limit=100")["inboxes"]
    names = ("emailAddress", "status", "createdAt", "expiresAt", "expiredAt")
    return {inbox["inboxId"]: {name: inbox[name] for name in names} for inbox in inboxes}


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
