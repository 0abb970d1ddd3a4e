"""The table that another team builds of the topic inbox.state, as docs/events/contract.md says."""

from typing import Any

from harness.schemas import event_class

_STATE = event_class("inbox_state.proto")
_STATUS = {1: "active", 2: "expired"}


class InboxTable:
    """Keeps of each inbox the state with the highest version; of equal versions the later record
    counts.

    A tombstone ends a row for good.
    """

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}
        self._states: dict[str, Any] = {}
        # Inboxes whose last record is out of date: it is the one that a compacted topic keeps.
        self.overtaken: set[str] = set()

    def take(self, key: str, value: bytes, headers: dict[str, str]) -> None:
        """Takes one record; an empty value is a tombstone."""
        state: Any = _STATE.FromString(value) if value else None
        version = state.version if state else int(headers["inbox_version"])
        if version < self._versions.get(key, 0):
            self.overtaken.add(key)
            return
        self.overtaken.discard(key)
        self._versions[key] = version
        if state:
            self._states[key] = state
        else:
            self._states.pop(key, None)

    def rows(self) -> dict[str, dict[str, Any]]:
        """Returns the rows by inboxId, with the API's names of the fields."""
        return {inbox_id: _row(state) for inbox_id, state in self._states.items()}


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
    row = {
        "accountId": state.account_id,
        "emailAddress": state.email_address,
        "status": _STATUS[state.status],
    }
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
