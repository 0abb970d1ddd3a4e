"""`./dev chaos upgrade`: a suite of an older commit becomes one of this tree under load, goes back
as a rollback would, and becomes it again in the other order; then everything is counted.

Where a migration takes away what the older release uses, the services are stopped for the upgrade,
and nothing goes back: what was promised before and after is counted all the same.
"""

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import paths, readiness, releases, services
from dev.releases import Release
from dev.suite import Suite, SuiteOptions
from dev.terminal import fail, heading, item, paint, say
from dev.waiting import delay_until, wait_until

from chaos import calls as api_calls
from chaos import checks
from chaos.checks import Mailboxes
from chaos.load import Load, Mail
from chaos.receiver import Receiver
from chaos.strict_calls import StrictCalls

REPLICAS = ",".join(f"{service}=2" for service in services.SERVICES)
_BASELINE = paths.ROOT / "deploy" / "baseline"
_WORKTREES = paths.ROOT / "build" / "upgrade"
# Each before the services that it calls.
CALLERS_FIRST = ["gateway", "mail-ingest", "webhook-dispatcher", "inbox", "rate-limit"]
_INBOXES = 16
_HOOK = "/hook"
_CALL_ROUNDS_A_SECOND = 4.0
# After each replacement the load has to go on by so much, in so much time, before the next.
_MORE_MAILS, _MORE_CALLS = 10, 8
_GOING_ON_SECONDS = 60.0
_READY_SECONDS = 60.0
_REPLACING_SECONDS = 900.0  # past the load's own time: then something hangs
_SETTLING_SECONDS = 120.0
_SHOWN = 20
# Such a migration takes something away, and says which release is the first that does not use it.
_CONTRACT = re.compile(r"^-- contract of v?(\d+(?:\.\d+)*)$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A step of the upgrade: one replica gets the programs of one of the two releases."""

    service: str
    number: int
    is_upgrade: bool

    @property
    def replica(self) -> str:
        """Returns the replica's name as in `./dev status`."""
        return f"{self.service}-{self.number}"


def plan(replicas: int) -> list[tuple[str, list[Step]]]:
    """The passes in their order: each mix of old and new that an upgrade or a rollback makes comes
    to be, callers newer than what they call and older.
    """

    def steps(order: list[str], is_upgrade: bool) -> list[Step]:
        return [
            Step(service, number, is_upgrade)
            for service in order
            for number in range(1, replicas + 1)
        ]

    return [
        ("upgrade, callers first", steps(CALLERS_FIRST, True)),
        ("rollback, callers first", steps(CALLERS_FIRST, False)),
        ("upgrade, what is called first", steps(CALLERS_FIRST[::-1], True)),
    ]


# The older release.


def baseline() -> str:
    """The commit that upgrades start from."""
    return _BASELINE.read_text(encoding="ascii").split()[0]


def _git(*arguments: str, folder: Path = paths.ROOT) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"git {' '.join(arguments[:2])} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _check_out(ref: str) -> Path:
    """A worktree of the commit, kept for the next run; those of other commits are removed."""
    commit = _git("rev-parse", "--verify", f"{ref}^{{commit}}")
    worktree = _WORKTREES / commit[:12]
    _WORKTREES.mkdir(parents=True, exist_ok=True)
    for other in _WORKTREES.iterdir():
        is_kept = other == worktree and (other / ".git").exists()
        if not is_kept or _git("rev-parse", "HEAD", folder=other) != commit:
            shutil.rmtree(other)
    _git("worktree", "prune")
    if not worktree.exists():
        _git("worktree", "add", "--detach", str(worktree), commit)
    return worktree


def older_release(ref: str, preset: str, builds: bool) -> Release:
    """The commit's programs, built by its own ./dev."""
    root = _check_out(ref)
    heading(f"Older release: {ref[:12]} in {root.relative_to(paths.ROOT)}")
    if builds:
        environment = paths.clean_environment()
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [str(root / "dev"), "build", "--preset", preset, *services.PROGRAMS],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0:
            fail(f"the older release could not be built: ./dev build in {root}")
    names = [f"tempinbox-{service}" for service in services.SERVICES]
    return releases.with_known_settings(Release(root, preset), names)


def stopping_migrations(old: Path, new: Path) -> list[str]:
    """Lists the migrations of the newer checkout that take away what services of the older one
    use.
    """
    release = _numbers((old / "VERSION").read_text(encoding="ascii"))
    found = []
    for folder in ("libs", "services"):
        for migration in (new / folder).glob("**/schema/*.sql"):
            name = migration.relative_to(new)
            contract = _CONTRACT.search(migration.read_text(encoding="utf-8"))
            if contract and _numbers(contract[1]) > release and not (old / name).exists():
                found.append(str(name))
    return sorted(found)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def _say_unknown(suite: Suite, old: Release) -> None:
    """Settings that the older programs are not given."""
    suite.use(releases.this(old.preset))
    unknown: set[str] = set()
    for replica in suite.replicas:
        expected = services.spec(replica, suite.replicas, suite.context).environment
        unknown |= (
            expected.keys() - old.environment(f"tempinbox-{replica.service}", expected).keys()
        )
    suite.use(old)
    if unknown:
        item("not given to it", ", ".join(sorted(unknown)))


# The run.


@dataclass
class Run:
    """The load and what it is to be compared with."""

    suite: Suite
    load: Load
    calls: StrictCalls
    receiver: Receiver

    def progress(self) -> tuple[int, int]:
        """Mails answered 250 and calls answered so far."""
        return len(self.load.confirmed()), self.calls.answers.total()


def run(
    suite: Suite, options: SuiteOptions, old: Release, seconds: int, rate: int, connections: int
) -> int:
    """The exit code is 0 when nothing failed and nothing is missing."""
    new = releases.this(old.preset)
    suite.use(old)
    suite.start_services(options)
    _say_unknown(suite, old)
    suite.operate("plan", "set", "premium", "--requests-per-day", "100000000")
    account = suite.record.account
    assert account
    mailboxes = Mailboxes(next(services.of("gateway", suite.replicas)).listener, account.api_key)
    inboxes = mailboxes.create(_INBOXES)
    max_seconds = seconds + _REPLACING_SECONDS
    with Receiver(seed=1, fails=False) as receiver:
        _register(suite, account.api_key, receiver.url + _HOOK)
        load = Load(
            [it.listener for it in services.of("mail-ingest", suite.replicas)],
            inboxes,
            rate,
            int(max_seconds),
            connections,
        )
        gateways = [it.listener for it in services.of("gateway", suite.replicas)]
        calls = StrictCalls(gateways, account.api_key, _CALL_ROUNDS_A_SECOND, load.confirmed)
        running = Run(suite, load, calls, receiver)
        mails: list[Mail] = []
        if taking_away := stopping_migrations(old.root, new.root):
            heading("Stopping")
            item("take away what runs", ", ".join(taking_away))
            _upgrade_stopped(running, mails, new, options, seconds)
            return _judge(running, mails, mailboxes)
        heading("Replacing")
        with _under_load(running, mails, max_seconds):
            _replace_all(running, old, new, time.monotonic(), seconds)
        return _judge(running, mails, mailboxes)


@contextlib.contextmanager
def _under_load(running: Run, mails: list[Mail], max_seconds: float) -> Iterator[None]:
    """Ends with what is under way; `mails` has all of them then."""
    working = [
        threading.Thread(target=lambda: mails.extend(running.load.run()), daemon=True),
        threading.Thread(target=running.calls.run, args=(max_seconds,), daemon=True),
    ]
    for each in working:
        each.start()
    try:
        yield
    finally:
        running.load.end()
        running.calls.end()
        for each in working:
            each.join(timeout=120)
    if any(each.is_alive() for each in working):
        fail("the load does not come to its end")


def _upgrade_stopped(
    running: Run, mails: list[Mail], new: Release, options: SuiteOptions, seconds: int
) -> None:
    """Half of the load, then the upgrade with all services stopped, then the other half, whose
    calls read the mail of the first.
    """
    suite = running.suite
    with _under_load(running, mails, seconds + _GOING_ON_SECONDS):
        _goes_on(running, "before the upgrade")
        delay_until(time.monotonic() + seconds / 2)
    suite.supervision.remove([replica.name for replica in suite.replicas])
    stopped = time.monotonic()
    suite.use(new)
    suite.start_services(options)
    item("stopped", f"for {time.monotonic() - stopped:.1f} s")
    running.load = running.load.another()
    running.calls.begin_again()
    with _under_load(running, mails, seconds + _GOING_ON_SECONDS):
        _goes_on(running, "after the upgrade")
        delay_until(time.monotonic() + seconds / 2)


def _replace_all(running: Run, old: Release, new: Release, began: float, seconds: int) -> None:
    """Every pass, its steps spread over the time as far as they do not take longer themselves."""
    suite = running.suite
    passes = plan(replicas=2)
    total = sum(len(steps) for _, steps in passes)
    _goes_on(running, "before anything is replaced")
    suite.use(new)
    suite.apply_topics()
    suite.migrate()
    _goes_on(running, "after the migration")
    done = 0
    for name, steps in passes:
        started = time.monotonic()
        for step in steps:
            delay_until(began + seconds * done / total)
            _replace(suite, step, new if step.is_upgrade else old)
            _goes_on(running, f"after {step.replica} was replaced ({name})")
            done += 1
            if time.monotonic() > began + seconds + _REPLACING_SECONDS:
                fail("the replacing takes too long")
        mails, calls = running.progress()
        item(name, f"{time.monotonic() - started:.1f} s; {mails} mails, {calls} calls so far")


def _replace(suite: Suite, step: Step, release: Release) -> None:
    suite.use(release)
    replica = next(it for it in suite.replicas if it.name == step.replica)
    if not suite.supervision.put(services.spec(replica, suite.replicas, suite.context)):
        fail(f"{step.replica} ran these programs already")
    readiness.wait_all([replica], suite.supervision, seconds=_READY_SECONDS)


def _goes_on(running: Run, when: str) -> None:
    mails, calls = running.progress()

    def has_gone_on() -> bool:
        now = running.progress()
        return now[0] >= mails + _MORE_MAILS and now[1] >= calls + _MORE_CALLS

    try:
        wait_until(has_gone_on, time.monotonic() + _GOING_ON_SECONDS, "the load goes on")
    except TimeoutError:
        fail(f"the load stands still {when}: {running.progress()} after {(mails, calls)}")


def _register(suite: Suite, key: str, url: str) -> None:
    gateway = next(services.of("gateway", suite.replicas)).listener
    connection = http.client.HTTPConnection(gateway, timeout=30)
    body = json.dumps({"url": url, "events": ["email.received"]})
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    connection.request("POST", "/v1/webhooks", body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != 201:
        fail(f"POST /v1/webhooks answered {answer.status}: {text}")


# Counting.


def mail_violations(mails: list[Mail]) -> list[str]:
    """Lists what no mail server may do to its clients while it is replaced: refuse for good, or
    leave them without an answer to a whole message. A mail that is put off is no loss: they send
    again.
    """
    found = []
    for mail in mails:
        if mail.refused.startswith("5"):
            found.append(f"mail {mail.chaos_id}: refused for good: {mail.refused}")
        elif mail.may_be_stored and not mail.refused:
            found.append(f"mail {mail.chaos_id}: sent whole, never answered")
    return found


def _judge(running: Run, mails: list[Mail], mailboxes: Mailboxes) -> int:
    suite = running.suite
    heading("Settling")
    started = time.monotonic()
    deadline = started + _SETTLING_SECONDS
    _wait(lambda: not readiness.lacking(suite.replicas), deadline)
    confirmed = {mail.email_id for mail in mails if mail.email_id}
    emails = checks.stored(mails, mailboxes)
    expected = confirmed | {email_id for _, email_id in emails}
    events = checks.read_events(suite.cluster.brokers, expected, deadline)
    hooked = {(_HOOK, email_id) for email_id in expected}
    _wait(lambda: hooked <= running.receiver.taken().keys(), deadline)
    delivered = running.receiver.taken()
    item("quiet", f"after {time.monotonic() - started:.1f} s")

    heading("Counting")
    report = checks.check(mails, emails, mailboxes, events)
    violations = mail_violations(mails) + report.violations
    violations += [
        f"{event}: never arrived at the webhook" for _, event in sorted(hooked - delivered.keys())
    ]
    made = {inbox.inbox_id for inbox in running.calls.inboxes}
    ended = {inbox.inbox_id for inbox in running.calls.inboxes if inbox.is_deleted}
    created, expired = (
        checks.read_events(suite.cluster.brokers, inboxes, deadline, topic, checks.BY_KEY)
        for topic, inboxes in (("inbox.created", made), ("inbox.expired", ended))
    )
    facts, found = api_calls.check(
        running.calls, mailboxes.inboxes(api_calls.TAG), created, expired
    )
    violations += found + _of_processes(suite)
    if not confirmed or not made:
        violations.append("no mail was accepted, or no inbox made")
    for fact in report.facts + facts:
        item(*fact)
    put_off = sum(not mail.email_id and not mail.may_be_stored for mail in mails)
    item("put off", f"{put_off} mails; {running.calls.passed_over} connections passed over")
    say()
    say(f"  {'promised':<28} {'of':>8} {'kept':>8}")
    answered = running.calls.answers
    good = sum(count for status, count in answered.items() if status.startswith("2"))
    for what, promised, kept in (
        ("API calls answered well", answered.total(), good),
        ("mails answered 250 are there", len(confirmed), len(confirmed & _ids(emails))),
        ("events of emails on Kafka", len(expected), len(expected & events.keys())),
        ("events at the webhook", len(hooked), len(hooked & delivered.keys())),
        ("inboxes with their event", len(made), len(made & created.keys())),
    ):
        say(f"  {what:<28} {promised:>8} {kept:>8}")
    for violation in violations[:_SHOWN]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(confirmed)} mails, {answered.total()} calls, {len(violations)} violations")
    return 1 if violations else 0


def _ids(emails: list[tuple[str, str]]) -> set[str]:
    return {email_id for _, email_id in emails}


def _of_processes(suite: Suite) -> list[str]:
    """None may end by itself, nor need longer than its time to drain."""
    found = [
        f"{name} ended by itself {child['restarts']} times, last with {child['last_exit']}"
        for name, child in suite.supervision.status().items()
        if child["restarts"]
    ]
    for log in sorted(suite.logs.glob("*.log")):
        text = log.read_text(encoding="utf-8", errors="replace")
        if '"msg":"not drained in time"' in text:
            found.append(f"{log.stem} was not drained in time")
        if '"msg":"a call failed"' in text or '"msg":"a request failed"' in text:
            found.append(f"{log.stem} failed to answer; see {os.path.relpath(log)}")
    return found


def _wait(is_so: Callable[[], bool], deadline: float) -> None:
    """Waits until it is so, or for the deadline: what is missing then is counted afterwards."""
    with contextlib.suppress(TimeoutError):
        wait_until(is_so, deadline, "it is so", every=0.25)
