"""`./dev chaos api`: inboxes are made, read and deleted at a steady rate while what they stand on
is killed; then each call's answer is compared with what is there.
"""

import contextlib
import signal
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from dev import postgres, readiness, services
from dev.suite import Suite
from dev.terminal import Failure, heading, item, paint, say
from dev.waiting import wait_until

from chaos import api_history, checks, concurrent_tasks, faults, freezes
from chaos.api_history import NEVER, Creation
from chaos.calls import SETTLED, Calls
from chaos.checks import Mailboxes
from chaos.load import Inbox, Mail, send_to_each

REPLICAS = "gateway=2,inbox=2,mail-ingest=2"
RATE = 40  # rounds a second, unless something else is asked for
_KILLED = ["gateway", "inbox"]  # beside PostgreSQL and Kafka
_BETWEEN_KILLS_SECONDS = 1.5
_KEYS = 9_000  # an account may store 10,000 keys a day
_NO_LIMIT = 1_000_000
_LIMIT, _LIMITED_PLAN, _LIMITED_CALLERS, _HELD = 12, "business", 8, 2
_LIMITED_ROUNDS_A_SECOND = 1.0  # of each of its callers
_WAITING_FOR_DELETION = 2
_SAMPLE_SECONDS = 0.3
# An outbox row of a process that was killed is taken over when its lease has ended (30 s).
_SETTLING_SECONDS = 120.0
_REFUSED_MAILS = 200  # to deleted inboxes
_SHOWN_VIOLATIONS = 20


class Caller(Calls):
    """A round: an inbox is made (every other with an Idempotency-Key, which is sometimes repeated
    after its answer), it gets a mail at once or is deleted some rounds later, an earlier one and an
    earlier mail are read, and an address that is taken is asked for.
    """

    def __init__(
        self, gateways: list[str], key: str, rate: float, servers: list[str], keys: int
    ) -> None:
        super().__init__(gateways, key, rate, list)
        self.creations: list[Creation] = []
        self.mails: list[Mail] = []
        self._servers = servers
        self._keys = keys  # it may use so many
        self._to_delete: deque[Creation] = deque()

    def _round(self, number: int) -> None:
        has_key = number % 2 == 0 and number < 2 * self._keys
        made = self.create(has_key, is_repeated=number % 4 == 0)
        if made.inbox_ids:
            if number % 3 == 0:
                self._to_delete.append(made)
            elif number % 3 == 1:
                self._send(made)
        if len(self._to_delete) > _WAITING_FOR_DELETION:
            self._remove(self._to_delete.popleft())
        answered = [it for it in self.creations if it.inbox_ids]
        if answered:
            self._look(answered[number * 7 % len(answered)], number)
            self._ask_for_its_address(answered[-1], number)

    def create(self, has_key: bool, is_repeated: bool = False) -> Creation:
        """Creates an inbox; with a key it repeats the call until it is answered, and once more if
        `is_repeated`.
        """
        made = Creation(uuid.uuid4().hex, has_key, time.monotonic())
        self.creations.append(made)
        params = {"name": made.name, "tags": [made.name], "ttlSeconds": 86_400}
        headers = {"Idempotency-Key": made.name} if has_key else {}
        call = self._until_answered if has_key else self._call
        for _ in range(1 + (has_key and is_repeated)):
            self._note(made, *call("POST", "/v1/inboxes", params, headers))
            if not made.inbox_ids:
                break
        return made

    def _note(self, made: Creation, status: int, body: Any) -> None:
        made.answered_at = min(made.answered_at, time.monotonic())
        if status == 201:
            made.inbox_ids.append(body["inboxId"])
            made.address = made.address or body["emailAddress"]
        elif status == 403 and not made.inbox_ids:
            made.was_refused = True
        elif 0 < status < SETTLED:
            self.violations.append(f"POST /v1/inboxes was answered {status}: {body}")

    def _send(self, made: Creation) -> None:
        """It takes mail from the moment of its answer."""
        self.mails += send_to_each(self._servers[:1], [as_inbox(made)])
        self._servers.append(self._servers.pop(0))

    def _remove(self, made: Creation) -> None:
        path = f"/v1/inboxes/{made.inbox_id}"
        made.delete_began_at = time.monotonic()
        status, body = self._call("DELETE", path)
        if status == 404:
            self.violations.append(f"DELETE {path}, the first one, was answered 404: {body}")
        elif status != 200:
            status, body = self._until_answered("DELETE", path)
        # 404: an earlier try had done it, and its answer was lost.
        if status in (200, 404):
            made.deleted_at = time.monotonic()
        elif status:
            self.violations.append(f"DELETE {path} was answered {status}: {body}")

    def _look(self, made: Creation, number: int) -> None:
        """Checks that an inbox is still as it was answered, by its id and in a list nobody
        requested before.
        """
        path = f"/v1/inboxes/{made.inbox_id}"
        if number % 2:
            self._judge(made, path, self._read(path))
        else:
            path = f"/v1/inboxes?status=all&tag={made.name}"
            listed = self._read(path)
            if listed is not None:
                [same] = listed["inboxes"] if len(listed["inboxes"]) == 1 else [{}]
                self._judge(made, path, same)
        stored = [mail for mail in self.mails if mail.email_id]
        if stored:
            mail = stored[number * 7 % len(stored)]
            self._read(f"/v1/emails/{mail.email_id}")
            path = f"/v1/inboxes/{mail.inboxes[0].inbox_id}/emails"
            listed = self._read(path)
            if listed and mail.email_id not in [it["emailId"] for it in listed["emails"]]:
                self.violations.append(f"GET {path} lacks {mail.email_id}")

    def _judge(self, made: Creation, path: str, shown: dict[str, Any] | None) -> None:
        if shown is None:  # not answered
            return
        status = "expired" if made.is_deleted else "active"
        is_undecided = made.delete_began_at != NEVER and not made.is_deleted
        if shown.get("inboxId") != made.inbox_id or shown["emailAddress"] != made.address:
            self.violations.append(f"GET {path} shows {shown}, not {made.inbox_id}")
        elif shown["status"] != status and not is_undecided:
            self.violations.append(f"GET {path} shows {shown['status']}, not {status}")

    def _ask_for_its_address(self, made: Creation, number: int) -> None:
        """Fails alone among the creations that go on at the same time."""
        if number % 5:
            return
        params = {"name": uuid.uuid4().hex, "localPart": made.address.partition("@")[0]}
        status, body = self._call("POST", "/v1/inboxes", params)
        if 0 < status < SETTLED and status != 409:
            self.violations.append(
                f"{made.address}, asked for again, was answered {status}: {body}"
            )


class LimitedCaller(Caller):
    """A caller whose account may have fewer inboxes than its callers create: a refused caller, or
    one that holds two, deletes one.
    """

    def _round(self, number: int) -> None:
        made = self.create(has_key=True, is_repeated=number % 8 == 0)
        if made.inbox_ids:
            self._to_delete.append(made)
        if self._to_delete and (made.was_refused or len(self._to_delete) > _HELD):
            self._remove(self._to_delete.popleft())


def as_inbox(made: Creation) -> Inbox:
    """Returns the inbox that mail goes to."""
    return Inbox(made.inbox_id, made.address)


@dataclass
class Account:
    """An account with callers; the plan allows it so many live inboxes."""

    account_id: str
    mailboxes: Mailboxes
    limit: int
    callers: list[Caller]

    @property
    def creations(self) -> list[Creation]:
        """Returns the creations of all its callers."""
        return list(chain.from_iterable(caller.creations for caller in self.callers))


@dataclass
class Run:
    """Callers of two accounts, and what is killed meanwhile."""

    suite: Suite
    free: Account
    limited: Account
    seconds: int
    seed: int
    rounds: int | None  # of freezes alone
    counts: Counter[str] = field(default_factory=Counter)
    busy_mails: list[Mail] = field(default_factory=list)
    max_live: int = 0  # of the limited account, as PostgreSQL says
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def callers(self) -> list[Caller]:
        """Returns the callers of both accounts."""
        return self.free.callers + self.limited.callers

    @property
    def servers(self) -> list[str]:
        """Returns the addresses of the mail servers."""
        return [it.listener for it in services.of("mail-ingest", self.suite.replicas)]

    def carry_out(self) -> None:
        """Returns when the last call was answered or given up."""
        busy = [
            as_inbox(self.free.callers[0].create(has_key=True))
            for _ in freezes.moments(self.seconds, self.rounds)
        ]
        planned = freezes.schedule(
            {
                name: [replica.name for replica in services.of(name, self.suite.replicas)]
                for name in freezes.PUBLISHERS
            },
            _KILLED,
            self.seconds,
            self.seed,
            _BETWEEN_KILLS_SECONDS,
            self.rounds,
        )
        began = time.monotonic()
        watching = threading.Thread(target=self._watch_limit, daemon=True)
        watching.start()
        work: list[Callable[[], object]] = [
            partial(faults.carry_out, self.suite, planned, began, self.counts),
            *(partial(caller.run, self.seconds) for caller in self.callers),
            lambda: self.busy_mails.extend(
                freezes.load_inboxes(self.servers, busy, planned, began)
            ),
        ]
        try:
            concurrent_tasks.run_all(work, self._end)
        finally:
            self._over.set()
        watching.join()

    def _end(self) -> None:
        for caller in self.callers:
            caller.end()

    def _watch_limit(self) -> None:
        statement = (
            "SELECT count(*) FROM mailbox.inboxes WHERE is_live AND account_id = "  # noqa: S608
            f"'{self.limited.account_id}'"
        )
        while not self._over.wait(_SAMPLE_SECONDS):
            with contextlib.suppress(Failure):  # it is being killed
                live = int(self.suite.server.query(statement, postgres.ROLE))
                self.max_live = max(self.max_live, live)


def run(suite: Suite, load: tuple[int, int, int], seed: int, rounds: int | None) -> int:
    """The exit code is 0 when every answer was kept; `load` is rate, seconds, callers."""
    rate, seconds, callers = load
    many = ["--requests-per-day", "100000000", "--burst-per-second", "0", "--live-inboxes"]
    suite.operate("plan", "set", "premium", *many, str(_NO_LIMIT))
    suite.operate("plan", "set", _LIMITED_PLAN, *many, str(_LIMIT))
    gateways = [replica.listener for replica in services.of("gateway", suite.replicas)]
    servers = [replica.listener for replica in services.of("mail-ingest", suite.replicas)]

    def account(plan: str, limit: int, make: Callable[[str], list[Caller]]) -> Account:
        address = f"chaos-{plan}@example.com"
        made = suite.operate_json("account", "create", "--email", address, "--plan", plan)
        key = suite.operate_json("key", "create", made["accountId"], "--label", "chaos")["key"]
        return Account(made["accountId"], Mailboxes(gateways[0], key), limit, make(key))

    def free(key: str) -> list[Caller]:
        share, keys = rate / callers, _KEYS // callers
        return [Caller(gateways, key, share, servers[:], keys) for _ in range(callers)]

    def limited(key: str) -> list[Caller]:
        share = min(_LIMITED_ROUNDS_A_SECOND, _KEYS / _LIMITED_CALLERS / seconds)
        return [LimitedCaller(gateways, key, share, [], _KEYS) for _ in range(_LIMITED_CALLERS)]

    done = Run(
        suite,
        account("premium", _NO_LIMIT, free),
        account(_LIMITED_PLAN, _LIMIT, limited),
        seconds,
        seed,
        rounds,
    )
    heading("Breaking")
    done.carry_out()
    item("faults", ", ".join(f"{what} x {times}" for what, times in sorted(done.counts.items())))
    item("busy inboxes", freezes.fact(done.busy_mails))
    _settle(done)
    return _judge(done)


def _soon() -> float:
    """Returns the deadline for what must come."""
    return time.monotonic() + _SETTLING_SECONDS


def _settle(done: Run) -> None:
    """Waits until everything that must come has come; what is missing then is counted."""
    heading("Settling")
    started = time.monotonic()
    outbox = "SELECT count(*) FROM mailbox.outbox"

    def is_published() -> bool:
        with contextlib.suppress(Failure):
            return int(done.suite.server.query(outbox, postgres.ROLE)) == 0
        return False

    for what, is_so in (
        ("ready", lambda: not readiness.lacking(done.suite.replicas)),
        ("outbox empty", is_published),
    ):
        try:
            wait_until(is_so, started + _SETTLING_SECONDS, what, every=0.25)
            item(what, f"after {time.monotonic() - started:.1f} s")
        except TimeoutError:
            item(what, paint("not in time", "red"))


# Counting.


def _judge(done: Run) -> int:
    heading("Counting")
    violations = [it for caller in done.callers for it in caller.violations]
    violations += check_course(done)
    violations += _check_limit(done)
    violations += _check_mail(done)
    creations = done.free.creations + done.limited.creations
    shown = [
        inbox for account in (done.free, done.limited) for inbox in account.mailboxes.inboxes()
    ]
    created, expired = (
        _read_events(done.suite, topic, ids)
        for topic, ids in (
            ("inbox.created", {it["inboxId"] for it in shown}),
            ("inbox.expired", {it["inboxId"] for it in shown if it["status"] == "expired"}),
        )
    )
    violations += api_history.check(creations, shown, created, expired)
    answers = sum((caller.answers for caller in done.callers), Counter[str]())
    item("calls", ", ".join(f"{what} x {times}" for what, times in sorted(answers.items())))
    for fact in api_history.facts(creations, shown):
        item(*fact)
    repeated = created.total() + expired.total() - len(created) - len(expired)
    item("events", f"{len(created)} inbox.created, {len(expired)} inbox.expired, {repeated} again")
    for violation in violations[:_SHOWN_VIOLATIONS]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{answers.total()} calls, {len(creations)} inboxes, {len(violations)} violations")
    return 1 if violations else 0


def _read_events(suite: Suite, topic: str, ids: set[str]) -> Counter[str]:
    return checks.read_events(suite.cluster.brokers, ids, _soon(), topic, checks.BY_KEY)


def _check_limit(done: Run) -> list[str]:
    """While it ran, and when the rest of the plan's inboxes is taken now: exactly so many."""
    account = done.limited
    for _ in range(account.limit + 1):
        if not account.callers[0].create(has_key=True).inbox_ids:
            break
    live = sum(inbox["status"] == "active" for inbox in account.mailboxes.inboxes())
    item("limit", f"{account.limit}; at most {done.max_live} were live, {live} are now")
    violations = api_history.check_limit(account.creations, account.limit)
    violations += api_history.check_limit(done.free.creations, done.free.limit)
    if done.max_live > account.limit:
        violations.append(f"{done.max_live} inboxes were live in SQL, allowed: {account.limit}")
    if live != account.limit:
        violations.append(f"{live} live inboxes can be had, the plan allows {account.limit}")
    return violations


def _check_mail(done: Run) -> list[str]:
    """Every inbox that is kept takes mail, which is there, once and whole; no deleted one does."""
    mails = [mail for caller in done.free.callers for mail in caller.mails] + done.busy_mails
    violations = _send_until_taken(done.servers, done.free.creations, mails)
    emails = checks.stored(mails, done.free.mailboxes)
    ids = {email_id for _, email_id in emails} | {it.email_id for it in mails if it.email_id}
    events = checks.read_events(done.suite.cluster.brokers, ids, _soon())
    report = checks.check(mails, emails, done.free.mailboxes, events)
    for fact in report.facts:
        item(*fact)
    violations += report.violations
    violations += _send_until_taken(done.servers, done.limited.creations, [])
    deleted = [it for it in done.free.creations + done.limited.creations if it.is_deleted]
    for mail in send_to_each(done.servers, map(as_inbox, deleted[-_REFUSED_MAILS:])):
        if not mail.refused.startswith("5"):
            said = mail.email_id or mail.refused or "nothing"
            violations.append(f"{mail.inboxes[0].inbox_id}: deleted, answered a mail with {said}")
    return violations


def _send_until_taken(
    servers: list[str], creations: Iterable[Creation], mails: list[Mail]
) -> list[str]:
    """Adds to the mails until each inbox that is kept has taken one."""
    kept = {it.inbox_id: as_inbox(it) for it in creations if it.is_kept}

    def is_done() -> bool:
        taken = {mail.inboxes[0].inbox_id for mail in mails if mail.email_id}
        missing = [inbox for inbox_id, inbox in kept.items() if inbox_id not in taken]
        mails.extend(send_to_each(servers, missing))
        return all(mail.email_id for mail in mails[len(mails) - len(missing) :])

    with contextlib.suppress(TimeoutError):
        wait_until(is_done, _soon(), "mail is taken", every=1.0)
    taken = {mail.inboxes[0].inbox_id for mail in mails if mail.email_id}
    return [f"inbox {inbox}: takes no mail" for inbox in sorted(kept.keys() - taken)] + [
        f"inbox {mail.inboxes[0].inbox_id}: its mail was refused: {mail.refused}"
        for mail in mails
        if mail.refused.startswith("5")
    ]


def check_course(done: Run) -> list[str]:
    """A run that broke nothing, or in which nothing happened, proves nothing."""
    killed = faults.broken(done.counts, signal.SIGKILL, signal.SIGQUIT)
    creations = done.free.creations + done.limited.creations
    failed = sum(caller.answers[what] for caller in done.callers for what in ("none", "503", "500"))
    happened = {
        "inbox was made": any(it.inbox_ids for it in creations),
        "inbox was deleted": any(it.is_deleted for it in creations),
        "key was repeated": any(len(it.inbox_ids) > 1 for it in creations),
        "mail was accepted": any(mail.email_id for it in done.free.callers for mail in it.mails),
        "call failed": failed,
        "creation came to the plan's limit": any(it.was_refused for it in done.limited.creations),
    }
    targets = freezes.PUBLISHERS if done.rounds else [*_KILLED, "postgres", "kafka"]
    violations = [f"no {name} was killed" for name in targets if name not in killed]
    violations += [f"no {what}" for what, is_so in happened.items() if not is_so]
    return violations + freezes.check_course(done.counts, done.busy_mails)
