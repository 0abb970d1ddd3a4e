"""`./dev chaos`: breaks a suite of its own under load, then counts what was promised and what was
kept.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dev import build, packages, readiness, services, testing
from dev.running import stop_on_signals
from dev.suite import Suite, SuiteOptions
from dev.terminal import fail, heading, item, paint, say
from dev.waiting import wait_until

from chaos import (
    api,
    brokers,
    captures,
    checks,
    concurrent_tasks,
    events,
    faults,
    freezes,
    logins,
    restore,
    upgrade,
    webhooks,
)
from chaos import calls as api_calls
from chaos.checks import Mailboxes
from chaos.load import Load, LoginLoad, Mail

_INBOXES = 32
_REPLICAS = {
    "api": api.REPLICAS,
    "captures": captures.REPLICAS,
    "mail": "mail-ingest=2,inbox=2,gateway=2",
    "events": events.REPLICAS,
    "webhooks": webhooks.REPLICAS,
    "restore": restore.REPLICAS,
    "upgrade": upgrade.REPLICAS,
}
# Each of these has a replica killed in its turn.
_KILLED = ["mail-ingest", "inbox", "gateway"]
_BETWEEN_KILLS_SECONDS = 1.5
_CALL_ROUNDS_A_SECOND = 4.0
# An outbox row of a process that was killed is taken over when its lease has ended, 30 s after it
# was given.
_SETTLING_SECONDS = 120


def usual(name: str, rounds: int | None = None) -> tuple[int, int]:
    """Seconds and mails (api: rounds of calls) a second, where nothing else is asked for."""
    if rounds:
        seconds = brokers.seconds_of(rounds) if name == "events" else freezes.seconds_of(rounds)
        return seconds, freezes.ROUNDS_RATE
    others = {
        "api": (60, api.RATE),
        "captures": (captures.SECONDS, captures.RATE),
        "events": (events.SECONDS, events.RATE),
    }
    return others.get(name, (60, 100))


def usual_connections(name: str) -> int:
    """SMTP connections of the load, or callers at once, where nothing else is asked for."""
    return {"captures": captures.CONNECTIONS, "events": events.CONNECTIONS}.get(name, 16)


@dataclass(frozen=True)
class Course:
    """The course of a run: how long, how much, and in which order."""

    seconds: int
    rate: int
    connections: int
    seed: int
    events: int
    # So many rounds of the fault in Kafka's leaderships and of nothing else.
    rounds: int | None = None
    base: str | None = None  # of an upgrade: the commit to start from; None: the one of baseline


def run(name: str, preset: str, course: Course, builds: bool) -> int:
    """Does one run; the exit code is 0 when every promise was kept."""
    stop_on_signals()
    packages.ensure("build", "run", *(["test"] if name == "captures" else []))  # promtool
    if builds:
        build.build(preset, services.PROGRAMS)
    base = course.base or upgrade.baseline()
    old = upgrade.older_release(base, preset, builds) if name == "upgrade" else None
    if name == "events":
        events.prepare()
    heading(f"Chaos: {name}, {_load_of(name, course)} ({preset}, seed {course.seed})")
    nodes = brokers.COUNT if name == "events" else None
    options = SuiteOptions(preset=preset, replicas=_REPLICAS[name], brokers=nodes)
    with testing.own_suite("chaos", preset) as suite:
        suite.start_infrastructure(options, outlives_caller=False)
        if old:
            return upgrade.run(suite, options, old, course.seconds, course.rate, course.connections)
        suite.start_services(options)
        if name == "webhooks":
            return webhooks.run(suite, course.events, course.seconds, course.seed)
        load = (course.rate, course.seconds, course.connections)
        if name == "api":
            return api.run(suite, load, course.seed, course.rounds)
        if name == "captures":
            return captures.run(suite, course.seconds, course.rate, course.connections)
        if name == "restore":
            return restore.run(suite, options, load, course.seed)
        if name == "events":
            return events.run(suite, load, course.seed, course.rounds)
        return _run_mail(suite, course)


def _load_of(name: str, course: Course) -> str:
    if name == "webhooks":
        return f"{course.events} events in {course.seconds} s"
    long = f"{course.rounds} rounds" if course.rounds else f"{course.seconds} s"
    if name == "api":
        return f"{long} at {course.rate} rounds of calls a second by {course.connections} callers"
    return f"{long} at {course.rate} mails a second over {course.connections} connections"


def _run_mail(suite: Suite, course: Course) -> int:
    numbers = ["--requests-per-day", "100000000", "--captures", str(course.connections)]
    suite.operate("plan", "set", "premium", *numbers)
    account = suite.record.account
    assert account
    mailboxes = Mailboxes(next(services.of("gateway", suite.replicas)).listener, account.api_key)
    inboxes = mailboxes.create(_INBOXES)
    captures = mailboxes.create_captures(_half(course.connections))
    servers = [replica.listener for replica in services.of("mail-ingest", suite.replicas)]

    heading("Breaking")
    rate = _half(course.rate)
    load = Load(servers, inboxes, rate, course.seconds, len(captures))
    login_load = LoginLoad(logins.listeners(suite), captures, rate, course.seconds)
    gateways = [replica.listener for replica in services.of("gateway", suite.replicas)]
    calls = api_calls.Calls(
        gateways,
        account.api_key,
        _CALL_ROUNDS_A_SECOND,
        lambda: load.confirmed() + login_load.confirmed(),
    )
    busy = mailboxes.create(len(freezes.moments(course.seconds, course.rounds)))
    planned = freezes.schedule(
        {
            service: [replica.name for replica in services.of(service, suite.replicas)]
            for service in _KILLED
        },
        _KILLED,
        course.seconds,
        course.seed,
        _BETWEEN_KILLS_SECONDS,
        course.rounds,
    )
    counts: Counter[str] = Counter()
    mails: list[Mail] = []
    login_mails: list[Mail] = []
    busy_mails: list[Mail] = []
    began = time.monotonic()

    def end() -> None:
        load.end()
        login_load.end()
        calls.end()

    work: list[Callable[[], object]] = [
        partial(faults.carry_out, suite, planned, began, counts),
        partial(calls.run, course.seconds),
        lambda: mails.extend(load.run()),
        lambda: login_mails.extend(login_load.run()),
        lambda: busy_mails.extend(freezes.load_inboxes(servers, busy, planned, began)),
    ]
    concurrent_tasks.run_all(work, end)
    item("faults", ", ".join(f"{what} x {times}" for what, times in sorted(counts.items())))
    _say_load("mails", mails, course)
    _say_load("mails by login", login_mails, course)
    item("busy inboxes", freezes.fact(busy_mails))
    mails += busy_mails

    heading("Settling")
    started = time.monotonic()
    deadline = started + _SETTLING_SECONDS
    _wait_healthy(suite, deadline)
    item("suite", f"ready again after {time.monotonic() - started:.1f} s")
    confirmed = {mail.email_id for mail in mails + login_mails if mail.email_id}
    emails = checks.stored(mails + login_mails, mailboxes)
    # If a mail's process was killed before it published the events, they come when the lease of
    # their outbox row ends.
    expected = confirmed | {email_id for _, email_id in emails}
    published = checks.read_events(suite.cluster.brokers, expected, deadline)
    item(
        "events",
        f"of {len(expected & published.keys())} of {len(expected)} emails after "
        f"{time.monotonic() - started:.1f} s",
    )

    heading("Counting")
    report = checks.check(mails + login_mails, emails, mailboxes, published)
    _check_calls(report, calls, suite, mailboxes, deadline)
    for line in report.facts:
        item(*line)
    if not any(mail.email_id for mail in mails):
        report.violations.append("no mail was accepted")
    report.violations += logins.check(login_mails, login_load.failures, mailboxes)
    report.violations += freezes.check_course(counts, busy_mails)
    for violation in report.violations[:20]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(confirmed)} mails answered 250, {len(report.violations)} violations")
    return 1 if report.violations else 0


def _half(number: int) -> int:
    return max(1, number // 2)


def _check_calls(
    report: checks.Report,
    calls: api_calls.Calls,
    suite: Suite,
    mailboxes: Mailboxes,
    deadline: float,
) -> None:
    made = {inbox.inbox_id for inbox in calls.inboxes}
    ended = {inbox.inbox_id for inbox in calls.inboxes if inbox.is_deleted}
    created, expired = (
        checks.read_events(suite.cluster.brokers, expected, deadline, topic, checks.BY_KEY)
        for topic, expected in (("inbox.created", made), ("inbox.expired", ended))
    )
    facts, violations = api_calls.check(calls, mailboxes.inboxes(api_calls.TAG), created, expired)
    report.facts += facts
    report.violations += violations
    if not made:
        report.violations.append("no inbox was made")


def _say_load(name: str, mails: list[Mail], course: Course) -> None:
    confirmed = sum(mail.email_id is not None for mail in mails)
    unconfirmed = sum(mail.may_be_stored for mail in mails)
    item(
        name,
        f"{len(mails)} tried in {course.seconds} s: {confirmed} answered 250, {unconfirmed} "
        "unconfirmed, the rest turned away before the dot",
    )
    slowest = max((mail.seconds for mail in mails if mail.email_id), default=0.0)
    item("slowest 250", f"{slowest:.1f} s")


def _wait_healthy(suite: Suite, deadline: float) -> None:
    try:
        wait_until(
            lambda: not readiness.lacking(suite.replicas), deadline, "all are well", every=0.2
        )
    except TimeoutError:
        fail("not ready again in time: " + ", ".join(readiness.lacking(suite.replicas)))
