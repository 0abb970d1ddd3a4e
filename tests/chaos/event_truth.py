"""Compares what happened in a chaos run as PostgreSQL holds it with what readers of Kafka made of
it; a difference is a violation.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dev import paths, postgres, python_packages
from dev.postgres import Server
from dev.terminal import fail

_EMAILS = "SELECT email_id, 'email.received', inbox_id FROM mailbox.emails"
_CREATED = "SELECT created_event_id, 'inbox.created', inbox_id FROM mailbox.inboxes"
_EXPIRED = (
    "SELECT expired_event_id, 'inbox.expired', inbox_id FROM mailbox.inboxes WHERE NOT is_live"
)
FIELDS = ("accountId", "emailAddress", "status", "createdAt", "expiresAt", "expiredAt")

Rows = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Event:
    """An event that must be on Kafka."""

    type: str
    inbox_id: str


def stored_events(server: Server) -> dict[str, Event]:
    """Returns the events by id: of every email that is there, of every inbox that was made, of
    every one that ended.
    """
    rows = server.query(f"{_EMAILS} UNION ALL {_CREATED} UNION ALL {_EXPIRED}", postgres.ROLE)
    return {
        event_id: Event(kind, inbox_id)
        for event_id, kind, inbox_id in (row.split("|") for row in rows.splitlines())
    }


# Consumers.


def check_consumer(
    name: str, truth: dict[str, Event], types: dict[str, str], counts: Counter[str]
) -> Iterator[str]:
    """`types` are those of the events whose ids it has, `counts` its work in each inbox."""
    for event_id, event in sorted(truth.items()):
        if event_id not in types:
            yield f"{event.type} {event_id}: is in SQL, not seen by the consumer in {name}"
        elif types[event_id] != event.type:
            yield f"{event.type} {event_id}: is {types[event_id]} to the consumer in {name}"
    for event_id in sorted(types.keys() - truth.keys()):
        yield f"{types[event_id]} {event_id}: seen by the consumer in {name}, not in SQL"
    known = Counter(event.inbox_id for event_id, event in truth.items() if event_id in types)
    for inbox_id in sorted(known.keys() | counts.keys()):
        if counts[inbox_id] != known[inbox_id]:
            yield (
                f"inbox {inbox_id}: the consumer in {name} worked {counts[inbox_id]} times and has "
                f"the ids of {known[inbox_id]} events"
            )


# The table.


@dataclass(frozen=True)
class StateTable:
    """The table of a reader of inbox.state, from how many records, of how many that were written.

    `overtaken` are inboxes whose last record is not their newest state.
    """

    rows: Rows
    overtaken: list[str]
    records: int
    written: int


def read_states(brokers: str) -> StateTable:
    """Reads the topic from the beginning to the end."""
    done = subprocess.run(
        [python_packages.python(), "-B", "-m", "chaos.state_reader"],
        input=json.dumps({"brokers": brokers}),
        env=paths.clean_environment() | {"PYTHONPATH": paths.HARNESS_PYTHON_PATH},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        fail(f"inbox.state could not be read: {done.stderr[-2000:]}")
    return StateTable(**json.loads(done.stdout))


def as_rows(account_id: str, inboxes: Iterable[dict[str, Any]]) -> Rows:
    """Inboxes as the API lists them, as rows of the table."""
    return {
        inbox["inboxId"]: {"accountId": account_id} | {name: inbox[name] for name in FIELDS[1:]}
        for inbox in inboxes
    }


def check_table(read: StateTable, listed: Rows) -> Iterator[str]:
    """Checks that they are the same, and stay so when Kafka keeps the last record of each inbox."""
    table = read.rows
    for inbox_id in read.overtaken:
        yield f"inbox {inbox_id}: its newest state is not its last record in inbox.state"
    for inbox_id in sorted(table.keys() | listed.keys()):
        if inbox_id not in table:
            yield f"inbox {inbox_id}: is listed, not in inbox.state"
        elif inbox_id not in listed:
            yield f"inbox {inbox_id}: is in inbox.state, not listed"
        else:
            for name in FIELDS:
                said, so = table[inbox_id][name], listed[inbox_id][name]
                if said != so:
                    yield f"inbox {inbox_id}: {name} is {said} in inbox.state, {so} in the list"
