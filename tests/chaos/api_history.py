"""Records what callers of the API did in a chaos run and how they were answered, and compares it
with what is there at the end.
"""

import itertools
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

NEVER = float("inf")


@dataclass
class Creation:
    """An inbox that a caller requested: with a key again and again until it was answered, without
    one once. Times are of one monotonic clock.
    """

    name: str  # of the inbox; no two are the same
    has_key: bool
    began_at: float
    inbox_ids: list[str] = field(default_factory=list)  # one for each answer 201, repeats too
    address: str = ""
    answered_at: float = NEVER
    was_refused: bool = False  # 403: the plan's inboxes are used up
    delete_began_at: float = NEVER
    deleted_at: float = NEVER  # when the deletion was answered

    @property
    def inbox_id(self) -> str:
        """The first that was answered; empty without an answer 201."""
        return self.inbox_ids[0] if self.inbox_ids else ""

    @property
    def is_deleted(self) -> bool:
        """Its deletion was answered."""
        return self.deleted_at != NEVER

    @property
    def is_kept(self) -> bool:
        """It was answered 201, and nobody asked for its deletion."""
        return bool(self.inbox_ids) and self.delete_began_at == NEVER


Inboxes = list[dict[str, Any]]  # as the API lists them


def check(
    creations: list[Creation], shown: Inboxes, created: Counter[str], expired: Counter[str]
) -> list[str]:
    """Violations: `shown` are all inboxes of the callers at the end, ended ones too, the counters
    say how often an inbox has its event on Kafka (repeats are allowed).
    """
    by_name: defaultdict[str, Inboxes] = defaultdict(list)
    for inbox in shown:
        by_name[inbox["name"]].append(inbox)
    violations: list[str] = []
    for creation in creations:
        violations += _check_one(creation, by_name.pop(creation.name, []))
    violations += [
        f"inbox {inbox['inboxId']}: exists, nobody asked for it"
        for strangers in by_name.values()
        for inbox in strangers
    ]
    there = {inbox["inboxId"] for inbox in shown}
    ended = {inbox["inboxId"] for inbox in shown if inbox["status"] == "expired"}
    violations += _check_events("inbox.created", created, there)
    violations += _check_events("inbox.expired", expired, ended)
    return violations


def _check_events(topic: str, events: Counter[str], due: set[str]) -> Iterator[str]:
    for inbox in sorted(due - events.keys()):
        yield f"inbox {inbox}: {topic} is not on Kafka"
    for inbox in sorted(events.keys() - due):
        yield f"inbox {inbox}: has {topic}, which is not so"


def _check_one(creation: Creation, found: Inboxes) -> Iterator[str]:
    name = f"inbox {creation.inbox_id or creation.name}"
    if len(set(creation.inbox_ids)) > 1:
        yield f"{name}: a repeat of its key was answered with {creation.inbox_ids}"
    if len(found) > 1:
        yield f"{name}: exists {len(found)} times"
    if creation.was_refused and found:
        yield f"{name}: answered 403, exists"
    if not creation.inbox_ids:
        return
    same = next((it for it in found if it["inboxId"] == creation.inbox_id), None)
    if same is None:
        yield f"{name}: answered 201, not listed"
        return
    if same["emailAddress"] != creation.address:
        yield f"{name}: answered as {creation.address}, listed as {same['emailAddress']}"
    if creation.is_deleted and same["status"] != "expired":
        yield f"{name}: its deletion was answered, it is {same['status']}"
    if creation.is_kept and same["status"] != "active":
        yield f"{name}: nobody deleted it, it is {same['status']}"


def check_limit(creations: list[Creation], limit: int) -> list[str]:
    """Checks an account whose plan allows so many live inboxes: never were more answered and not
    yet requested to be deleted, and nobody was refused while fewer could be live.
    """
    answered = [it for it in creations if it.inbox_ids]
    certain = _Overlap((it.answered_at, it.delete_began_at) for it in answered)
    violations = []
    if (most := certain.most()) > limit:
        violations.append(f"{most} inboxes were live at once, the plan allows {limit}")
    possible = _Overlap((it.began_at, it.deleted_at) for it in creations if not it.was_refused)
    for refused in filter(lambda it: it.was_refused, creations):
        most = possible.most(refused.began_at, refused.answered_at)
        if most < limit:
            violations.append(
                f"{refused.name}: refused while at most {most} inboxes could be live, the plan "
                f"allows {limit}"
            )
    return violations


class _Overlap:
    """Counts the spans of time that hold a moment."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        # An end comes before a beginning of the same moment.
        steps = sorted(step for begin, end in spans for step in ((begin, 1), (end, -1)))
        self._moments = [moment for moment, _ in steps]
        self._counts = list(itertools.accumulate((step for _, step in steps), initial=0))

    def most(self, since: float = -NEVER, until: float = NEVER) -> int:
        """Returns the maximum at any moment of this span."""
        first, last = bisect_right(self._moments, since), bisect_right(self._moments, until)
        return max(self._counts[first : last + 1])


def facts(creations: list[Creation], shown: Inboxes) -> list[tuple[str, str]]:
    """Summarizes the creations for the reader of the run."""
    answered = sum(bool(it.inbox_ids) for it in creations)
    refused = sum(it.was_refused for it in creations)
    silent = [it for it in creations if not it.inbox_ids and not it.was_refused]
    names = {inbox["name"] for inbox in shown}
    repeats = sum(max(0, len(it.inbox_ids) - 1) for it in creations)
    return [
        (
            "inboxes",
            (
                f"{len(creations)} asked for: {answered} answered 201, {refused} answered 403, "
                f"{len(silent)} neither, of which {sum(it.name in names for it in silent)} exist"
            ),
        ),
        ("deleted", f"{sum(it.is_deleted for it in creations)}"),
        ("repeats", f"{repeats} of an Idempotency-Key whose 201 had come"),
    ]
