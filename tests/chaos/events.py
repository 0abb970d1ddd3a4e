"""`./dev chaos events`: brokers, PostgreSQL, services and consumers are killed under load; then
what PostgreSQL holds is compared with what the example consumers and the readers of the accounts'
feeds saw, what the API lists with the table that the topic inbox.state makes, and every door of an
account with the others.
"""

import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

from dev import example_consumers, postgres, readiness, services
from dev.example_consumers import ExampleConsumer
from dev.suite import Suite
from dev.terminal import heading, item, paint, say
from dev.waiting import delay_until, wait_until

from chaos import (
    brokers,
    checks,
    concurrent_tasks,
    consumers,
    doors,
    event_truth,
    faults,
    feed_readers,
    freezes,
)
from chaos import calls as api_calls
from chaos.checks import Mailboxes
from chaos.doors import Comparison, Followed
from chaos.event_truth import Event, Rows, StateTable
from chaos.feed_readers import Reader, Readers
from chaos.load import Inbox, Load, Mail

REPLICAS = "mail-ingest=2,inbox=2,gateway=2,webhook-dispatcher=3"
SECONDS, RATE, CONNECTIONS = 120, 50, 20  # unless something else is asked for
_KILLED = ["mail-ingest", "inbox", "gateway", "webhook-dispatcher", "rate-limit"]
_BETWEEN_KILLS_SECONDS = 3.0
# PostgreSQL crashes at these parts of the run, at once and as by the kernel.
_CRASHES = ((0.35, signal.SIGQUIT), (0.65, signal.SIGKILL))
_ACCOUNTS = 3
_READERS = 64  # of the accounts' feeds, in turn
_INBOXES = 8  # of each account, for mail: they outlive the run
_CALL_ROUNDS_A_SECOND = 1.5  # of each account
_SHORT_TTL_SECONDS = 60  # the shortest there is
# Outbox rows of a process that was killed are taken over after 30 s; the last short-lived inboxes
# end a minute after the load.
_SETTLING_SECONDS = 240.0
_CATCHING_UP_SECONDS = 90.0  # of consumers, once everything is published
_READING_SECONDS = 30.0  # of inbox.state
_AT_REST_SECONDS, _AT_REST_RATE = 10, 20  # of the last comparison of the doors
_AT_REST_SETTLING_SECONDS = 60
_OPENING_SECONDS = 6  # until a comparison looks at what happens
_ANY = re.compile(r"(.*)")  # record, whatever its headers
# So that inbox.state is compacted while the run goes on, not after a week.
_COMPACTED_SOON = {"segment.ms": "10000", "min.cleanable.dirty.ratio": "0.01"}


class InboxCalls(api_calls.Calls):
    """Makes calls of which two of four inboxes are deleted, one ends by itself soon, and one is
    given other TTLs.
    """

    def _next_inbox(self, number: int) -> dict[str, Any]:
        short = {"ttlSeconds": _SHORT_TTL_SECONDS} if number % 4 == 1 else {}
        return super()._next_inbox(number) | short

    def _round(self, number: int) -> None:
        known = len(self.inboxes)
        super()._round(number)
        if number % 4 == 3 and len(self.inboxes) > known:
            for ttl in (900, 7200):
                self._extend(self.inboxes[-1].inbox_id, ttl)

    def _extend(self, inbox_id: str, ttl: int) -> None:
        path = f"/v1/inboxes/{inbox_id}"
        status, body = self._until_answered("PATCH", path, {"ttlSeconds": ttl})
        if status not in (0, 200):
            self.violations.append(f"PATCH {path} was answered {status}: {body}")


@dataclass
class Account:
    """An account that the load works for."""

    account_id: str
    mailboxes: Mailboxes
    inboxes: list[Inbox]  # for mail
    calls: InboxCalls
    key: str
    cursor: str  # in its feed, before anything happened
    gateways: list[str]

    def followed(self) -> Followed:
        """Returns it as who compares its doors sees it."""
        return Followed(self.account_id, self.gateways[0], self.key)

    def more_calls(self) -> InboxCalls:
        """Calls beside those that are counted."""
        return InboxCalls(self.gateways, self.key, _CALL_ROUNDS_A_SECOND, list)


@dataclass
class Run:
    """Everything that goes on at once, until its time is over or something fails."""

    suite: Suite
    accounts: list[Account]
    consumers: list[ExampleConsumer]
    readers: Readers
    comparisons: list[Comparison]
    load: Load
    seconds: int
    seed: int
    rounds: int | None  # of rolling restarts alone
    counts: Counter[str] = field(default_factory=Counter)
    mails: list[Mail] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)  # consumers that did so by themselves
    _over: threading.Event = field(default_factory=threading.Event)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.brokers = brokers.Breaking(
            self.suite, self.seed, self._goes_on, self._make_inbox, self.counts
        )

    def _make_inbox(self) -> Inbox:
        [inbox] = self.accounts[0].mailboxes.create(1)
        return inbox

    def carry_out(self) -> None:
        """Load and faults side by side; what fails first ends the others and is passed on."""
        self._began = time.monotonic()
        work: list[Callable[[], object]] = [
            lambda: self.mails.extend(self.load.run()),
            *(partial(it.calls.run, self.seconds) for it in self.accounts),
            self._break_brokers,
        ]
        if not self.rounds:
            work.append(self._kill_services)
            work += [partial(self._kill_consumer, it) for it in self.consumers]
        concurrent_tasks.run_all(work, self._end)

    def _end(self) -> None:
        self._over.set()
        self.load.end()
        for account in self.accounts:
            account.calls.end()

    def _goes_on(self) -> bool:
        return not self._over.is_set() and time.monotonic() < self._began + self.seconds

    def _kill_services(self) -> None:
        replicas = {
            service: [replica.name for replica in services.of(service, self.suite.replicas)]
            for service in _KILLED
        }
        kills = faults.kills(replicas, self.seconds, self.seed, _BETWEEN_KILLS_SECONDS)
        crashes = [faults.Fault(at * self.seconds, "postgres", how) for at, how in _CRASHES]
        planned = sorted(kills + crashes)
        due = takewhile(lambda _: not self._over.is_set(), planned)
        faults.carry_out(self.suite, due, self._began, self.counts)

    def _break_brokers(self) -> None:
        self.brokers.run(self._began, self.rounds)
        self._end()  # where rounds were asked for, they are the run

    def _kill_consumer(self, consumer: ExampleConsumer) -> None:
        self.ended += consumers.kill_again_and_again(
            consumer, self.seed, self._began, self._goes_on, self.counts
        )


def prepare() -> None:
    """Builds the consumers, which takes long once."""
    for language in example_consumers.LANGUAGES:
        example_consumers.build(language)


def run(suite: Suite, load: tuple[int, int, int], seed: int, rounds: int | None) -> int:
    """The exit code is 0 when every event was seen once and the table is right; `load` is rate,
    seconds, connections.
    """
    rate, seconds, connections = load
    suite.operate(
        "plan", "set", "premium", "--requests-per-day", "100000000", "--live-inboxes", "1000000"
    )
    _apply_topics(suite)
    accounts = [_make_account(suite, number) for number in range(_ACCOUNTS)]
    servers = [replica.listener for replica in services.of("mail-ingest", suite.replicas)]
    inboxes = [inbox for account in accounts for inbox in account.inboxes]
    mail = Load(servers, inboxes, rate, seconds, connections)
    with consumers.running(suite.cluster.brokers, suite.logs / "consumers") as started:
        # Rounds take as long as they take, a comparison a time that is given.
        compared = [] if rounds else [account.followed() for account in accounts]
        times = (seconds, int(_SETTLING_SECONDS))
        with doors.comparing(suite, compared, times, "under-load") as comparisons:
            if comparisons:
                delay_until(time.monotonic() + _OPENING_SECONDS)
            heading("Breaking")
            readers = _make_readers(suite, accounts, seed)
            done = Run(suite, accounts, started, readers, comparisons, mail, seconds, seed, rounds)
            readers.start()
            done.carry_out()
            _say_faults(done)
            return _judge(done, _settle(done))


def _make_readers(suite: Suite, accounts: list[Account], seed: int) -> Readers:
    gateways = [replica.listener for replica in services.of("gateway", suite.replicas)]
    readers = []
    for number in range(_READERS):
        account = accounts[number % len(accounts)]
        readers.append(
            Reader(account.account_id, gateways, account.key, account.cursor, seed + number)
        )
    return Readers(readers)


def _apply_topics(suite: Suite) -> None:
    """The release's, inbox.state compacted sooner, and those for the consumers' dead letters."""
    listed = json.loads(suite.release.topics.read_text(encoding="utf-8"))["topics"]
    for topic in listed:
        if topic["name"] == "inbox.state":
            topic["config"] |= _COMPACTED_SOON
    listed += [{"name": name, "partitions": 1} for name in consumers.dead_letter_topics()]
    path = suite.logs / "topics.json"
    path.write_text(json.dumps({"topics": listed}), encoding="utf-8")
    suite.apply_topics(path)


def _make_account(suite: Suite, number: int) -> Account:
    """A Premium account with its load; the suite's own is not among them, and has no inbox."""
    address = f"chaos{number}@example.com"
    made = suite.operate_json("account", "create", "--email", address, "--plan", "premium")
    account_id = str(made["accountId"])
    key = suite.operate_json("key", "create", account_id, "--label", "chaos")["key"]
    gateways = [replica.listener for replica in services.of("gateway", suite.replicas)]
    mailboxes = Mailboxes(gateways[0], key)
    calls = InboxCalls(gateways, key, _CALL_ROUNDS_A_SECOND, list)
    cursor = feed_readers.begin(gateways[0], key)
    inboxes = mailboxes.create(_INBOXES)
    return Account(account_id, mailboxes, inboxes, calls, key, cursor, gateways)


def _say_faults(done: Run) -> None:
    item("faults", ", ".join(f"{what} x {times}" for what, times in sorted(done.counts.items())))
    back = done.brokers.back_after
    if back:
        item("brokers", f"in sync again {min(back):.1f} to {max(back):.1f} s after their end")
    item("busy inboxes", freezes.fact(done.brokers.mails))
    confirmed = sum(mail.email_id is not None for mail in done.mails)
    item("mails", f"{len(done.mails)} tried: {confirmed} answered 250")


# Settling.


@dataclass(frozen=True)
class Findings:
    """The state when all is quiet, or time is over."""

    truth: dict[str, Event]
    table: StateTable
    listed: Rows


_ENDING = "mailbox.inboxes WHERE is_live AND expires_at < now() + interval '5 minutes'"


def _settle(done: Run) -> Findings:
    """Waits until everything that must come has come; what is missing then is counted."""
    heading("Settling")
    suite = done.suite
    started = time.monotonic()

    def wait(what: str, is_so: Callable[[], bool], seconds: float = _SETTLING_SECONDS) -> None:
        deadline = min(started + _SETTLING_SECONDS, time.monotonic() + seconds)
        try:
            wait_until(is_so, deadline, what, every=0.5)
            item(what, f"after {time.monotonic() - started:.1f} s")
        except TimeoutError:
            item(what, paint("not in time", "red"))

    wait("ready", lambda: not readiness.lacking(suite.replicas))
    wait("in sync", lambda: not brokers.behind(suite.cluster))
    wait("short TTLs ended", lambda: _count(suite, _ENDING) == 0)
    wait("outbox empty", lambda: _count(suite, "mailbox.outbox") == 0)
    truth = event_truth.stored_events(suite.server)
    wait(
        "consumers have all",
        lambda: all(truth.keys() <= it.ids() for it in done.consumers),
        _CATCHING_UP_SECONDS,
    )
    findings = _look(done, truth)
    expected = events_of_accounts(done.accounts, truth, findings.listed)
    wait("readers have all", lambda: done.readers.have(expected), _CATCHING_UP_SECONDS)
    done.readers.stop()
    wait("doors are compared", lambda: all(it.has_ended() for it in done.comparisons))

    def are_same() -> bool:
        nonlocal findings
        findings = _look(done, truth)
        return findings.table.rows == findings.listed

    wait("inbox.state is right", are_same, _READING_SECONDS)
    return findings


def _look(done: Run, truth: dict[str, Event]) -> Findings:
    table = event_truth.read_states(done.suite.cluster.brokers)
    listed: Rows = {}
    for account in done.accounts:
        listed |= event_truth.as_rows(account.account_id, account.mailboxes.inboxes())
    return Findings(truth, table, listed)


def events_of_accounts(
    accounts: list[Account], truth: dict[str, Event], listed: Rows
) -> dict[str, Set[str]]:
    """The ids of each account's events; the list has all of its inboxes, ended ones too."""
    found: dict[str, set[str]] = {account.account_id: set() for account in accounts}
    for event_id, event in truth.items():
        if row := listed.get(event.inbox_id):
            found[row["accountId"]].add(event_id)
    return dict(found)


def _count(suite: Suite, what: str) -> int:
    statement = f"SELECT count(*) FROM {what}"  # noqa: S608 - names of this file
    return int(suite.server.query(statement, postgres.ROLE))


# Counting.


def _judge(done: Run, findings: Findings) -> int:
    heading("Counting")
    suite, truth = done.suite, findings.truth
    violations = [f"consumer ended by itself: {end}" for end in done.ended]
    for consumer in done.consumers:
        if end := consumer.ended_by_itself():
            violations.append(f"consumer ended by itself: {end}")
        consumer.stop()
        types = consumer.types()
        violations += event_truth.check_consumer(consumer.language, truth, types, consumer.counts())
        item(consumer.language, f"{len(truth.keys() & types.keys())} of {len(truth)} events")
    expected = events_of_accounts(done.accounts, truth, findings.listed)
    violations += done.readers.violations(expected)
    item(
        "feeds",
        f"{sum(map(len, expected.values()))} events of {len(expected)} accounts, "
        f"{len(done.readers.readers)} readers broke off "
        f"{sum(reader.breaks for reader in done.readers.readers)} times",
    )
    violations += event_truth.check_table(findings.table, findings.listed)
    violations += _check_answers(done, truth)
    violations += _check_topics(suite.cluster.brokers, truth)
    happened = Counter(event.type for event in truth.values())
    violations += check_course(done.counts, happened, done.rounds)
    if not any(mail.email_id for mail in done.brokers.mails):
        violations.append("no busy inbox took a mail")
    for comparison in done.comparisons:
        violations += comparison.violations()
    violations += _compare_at_rest(done)
    table = findings.table
    item(
        "inbox.state",
        f"{len(table.rows)} inboxes from {table.records} records of {table.written}, "
        f"{len(findings.listed)} are listed",
    )
    for violation in violations:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(truth)} events, {len(violations)} violations")
    return 1 if violations else 0


def _compare_at_rest(done: Run) -> list[str]:
    """Compares the doors once more, with nothing broken; nothing else counts what happens now."""
    seconds = _AT_REST_SECONDS + 2 * _OPENING_SECONDS
    suite = done.suite
    servers = [replica.listener for replica in services.of("mail-ingest", suite.replicas)]
    inboxes = [inbox for account in done.accounts for inbox in account.inboxes]
    load = Load(servers, inboxes, _AT_REST_RATE, seconds, len(inboxes))
    followed = [account.followed() for account in done.accounts]
    times = (_AT_REST_SECONDS, _AT_REST_SETTLING_SECONDS)
    with doors.comparing(suite, followed, times, "at-rest") as comparisons:
        calls = [partial(account.more_calls().run, seconds) for account in done.accounts]
        concurrent_tasks.run_all([load.run, *calls], load.end)
        return [found for comparison in comparisons for found in comparison.violations()]


def _check_answers(done: Run, truth: dict[str, Event]) -> list[str]:
    """Checks that SQL holds what was answered."""
    violations = [
        f"email {mail.email_id}: answered 250, not in SQL"
        for mail in done.mails + done.brokers.mails
        if mail.email_id and mail.email_id not in truth
    ]
    created, expired = (
        Counter(event.inbox_id for event in truth.values() if event.type == kind)
        for kind in ("inbox.created", "inbox.expired")
    )
    for account in done.accounts:
        shown = account.mailboxes.inboxes(api_calls.TAG)
        facts, found = api_calls.check(account.calls, shown, created, expired)
        violations += found
        for fact in facts:
            item(*fact)
    return violations


def _check_topics(bootstrap: str, truth: dict[str, Event]) -> list[str]:
    """Repeats are allowed, dead letters are not: every record could be read."""
    records = Counter(dict.fromkeys(example_consumers.TOPICS, 0))
    for topic in records:
        records[topic] = _count_records(bootstrap, topic)
    item(
        "records",
        ", ".join(f"{topic} x {count}" for topic, count in records.items())
        + f": {records.total() - len(truth)} repeated",
    )
    return [
        f"{topic}: holds {letters} dead letters"
        for topic in consumers.dead_letter_topics()
        if (letters := _count_records(bootstrap, topic))
    ]


def _count_records(bootstrap: str, topic: str) -> int:
    return checks.read_events(bootstrap, set(), 0.0, topic, _ANY).total()


def check_course(
    counts: Counter[str], events: Counter[str], rounds: int | None = None
) -> list[str]:
    """A run that broke nothing, or in which nothing happened, proves nothing."""
    killed = faults.broken(counts, signal.SIGKILL)
    everything = [*_KILLED, "postgres", "kafka", *example_consumers.LANGUAGES]
    expected = freezes.PUBLISHERS if rounds else everything
    violations = [f"no {name} was killed" for name in expected if name not in killed]
    if "kafka" not in faults.broken(counts, signal.SIGTERM):
        violations.append("no kafka was restarted")
    if not counts["leaders ELECTED"]:
        violations.append("no leader was elected")
    return violations + [
        f"no event {topic}" for topic in example_consumers.TOPICS if not events[topic]
    ]
