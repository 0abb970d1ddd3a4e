"""`./dev chaos restore`: PostgreSQL goes back to a moment under load, as docs/operations/backup.md
says; then what was promised before the moment is looked for.
"""

import contextlib
import dataclasses
import re
import shutil
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dev import postgres, services
from dev.suite import Suite, SuiteOptions
from dev.terminal import fail, heading, item, paint, say
from dev.waiting import delay_until, wait_until

from chaos import calls as api_calls
from chaos import checks
from chaos.checks import Mailboxes
from chaos.load import Inbox, Load, Mail
from chaos.receiver import Receiver
from chaos.restored_feed import RestoredFeed

REPLICAS = "mail-ingest=2,inbox=2,gateway=2"
_INBOXES = 16
_CALL_ROUNDS_A_SECOND = 4.0
_MOMENT = 0.6  # when, as a share of the load's time
_SECOND_LOAD_SECONDS = 5
_MARGIN_SECONDS = 120
_SEQUENCE_GAP = 1_000_000
_RECOVERY_SECONDS = 120
_SETTLING_SECONDS = 150
_SHOWN_VIOLATIONS = 20
# The headers of a record, its key (the inbox), and the value with the subject in it.
_EVENT = re.compile(
    rb"ce_id=([0-9a-f-]{36})[^\n]*? KEY=([0-9a-f-]{36}) VALUE=(.*?)\nEND\n", re.DOTALL
)
_SUBJECT = re.compile(rb"chaos ([0-9a-f]{32})")


@dataclass
class Backup:
    """A base backup of the suite's PostgreSQL beside its data, and the archive of its WAL."""

    suite: Suite
    folder: Path = field(init=False)
    archive: Path = field(init=False)

    def __post_init__(self) -> None:
        data = self.suite.server.data
        self.folder = data.with_name(data.name + ".backup")
        self.archive = data.with_name(data.name + ".archive")

    def wipe(self) -> None:
        """Removes also what a run that was killed left behind."""
        for path in (self.folder, self.archive):
            shutil.rmtree(path, ignore_errors=True)

    def archive_wal(self) -> None:
        """Keeps every finished segment from now on."""
        postgres.make_folder(self.archive)
        server = self.suite.server
        command = f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f"
        server.query("ALTER SYSTEM SET archive_mode = on")
        server.query(f"ALTER SYSTEM SET archive_command = '{command}'")
        self.suite.supervision.restart("postgres")
        server.wait_ready()

    def take(self) -> None:
        """The base backup."""
        postgres.make_folder(self.folder)
        command = [str(postgres.PROGRAMS / "pg_basebackup"), "-D", str(self.folder)]
        command += ["-d", self.suite.server.dsn("postgres")]
        command += ["--checkpoint=fast", "--wal-method=stream"]
        postgres.run_as_its_user(command, self.folder)

    def finish_segment(self, deadline: float) -> None:
        """Everything up to now is in the archive."""
        server = self.suite.server
        segment = server.query("SELECT pg_walfile_name(pg_switch_wal())")
        wait_until((self.archive / segment).exists, deadline, f"{segment} is archived", every=0.2)

    def restore(self, moment: str, deadline: float) -> None:
        """The data as they were at the moment; PostgreSQL runs when this returns."""
        suite = self.suite
        suite.supervision.remove(["postgres"])
        data = suite.server.data
        shutil.rmtree(data)
        postgres.make_folder(data)
        postgres.run_as_its_user(["cp", "-a", f"{self.folder}/.", str(data)], data)
        settings = {
            "restore_command": f"cp {self.archive}/%f %p",
            # PostgreSQL reads this before it knows abbreviations of time zones: no Z.
            "recovery_target_time": moment.replace("T", " ").replace("Z", "+00"),
            "recovery_target_action": "promote",
        }
        with (data / "postgresql.auto.conf").open("a", encoding="ascii") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        postgres.run_as_its_user(["touch", str(data / "recovery.signal")], data)
        suite.supervision.put(suite.server.spec(suite.logs))
        suite.server.wait_ready(_RECOVERY_SECONDS)
        wait_until(
            lambda: suite.server.query("SELECT pg_is_in_recovery()") == "f",
            deadline,
            "PostgreSQL is promoted",
            every=0.2,
        )


@dataclass
class Before:
    """The promises made before the moment."""

    moment: str
    emails: set[str]  # answered 250
    plans: dict[str, str]  # by account


def run(suite: Suite, options: SuiteOptions, load: tuple[int, int, int], seed: int) -> int:
    """The exit code is 0 when every promise was kept; `load` is rate, seconds, connections."""
    backup = Backup(suite)
    backup.wipe()
    try:
        with Receiver(seed) as receiver:
            return _rehearse(suite, options, backup, receiver, load)
    finally:
        backup.wipe()


def _rehearse(
    suite: Suite,
    options: SuiteOptions,
    backup: Backup,
    receiver: Receiver,
    load_of: tuple[int, int, int],
) -> int:
    rate, seconds, connections = load_of
    backup.archive_wal()
    suite.operate("plan", "set", "premium", "--requests-per-day", "100000000")
    account = suite.record.account or fail("the suite has no account")
    gateways = [replica.listener for replica in services.of("gateway", suite.replicas)]
    servers = [replica.listener for replica in services.of("mail-ingest", suite.replicas)]
    mailboxes = Mailboxes(gateways[0], account.api_key)
    inboxes = mailboxes.create(_INBOXES)
    mailboxes.add_webhook(f"{receiver.url}/hook")
    feed = RestoredFeed.of(gateways[0], account.api_key)
    key_id = suite.operate_json("key", "list", account.account_id)["keys"][0]["keyId"]

    heading("Going on")
    load = Load(servers, inboxes, rate, seconds, connections)
    calls = api_calls.Calls(gateways, account.api_key, _CALL_ROUNDS_A_SECOND, load.confirmed)
    first: list[Mail] = []
    threads = [
        threading.Thread(target=lambda: first.extend(load.run()), daemon=True),
        threading.Thread(target=calls.run, args=(seconds,), daemon=True),
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    backup.take()
    item("base backup", f"after {time.monotonic() - began:.1f} s, under load")
    changed = suite.operate_json(
        "account", "create", "--email", "changed@example.com", "--plan", "pro"
    )["accountId"]
    delay_until(began + _MOMENT * seconds)
    feed.before = feed.read_on(feed.begin)
    before = Before("", set(load.confirmed()), {account.account_id: "premium", changed: "pro"})
    before.moment = suite.server.query(_NOW)
    item("moment", f"{before.moment}, {len(before.emails)} mails answered 250")
    lost_account = _change_after(suite, changed)
    for thread in threads:
        thread.join()
    item("after it", f"{len(load.confirmed()) - len(before.emails)} mails answered 250")
    feed.past = feed.read_on(feed.before)
    violations = list(calls.violations)

    heading("Restoring")
    started = time.monotonic()
    deadline = started + _RECOVERY_SECONDS
    suite.supervision.remove([replica.name for replica in suite.replicas])
    backup.finish_segment(deadline)
    backup.restore(before.moment, deadline)
    item("PostgreSQL", f"is at the moment after {time.monotonic() - started:.1f} s")
    violations += _settle(suite, before.moment)
    suite.start_services(options)
    violations += _check_key(suite, mailboxes, key_id)

    heading("Going on again")
    second = Load(servers, inboxes, rate, _SECOND_LOAD_SECONDS, connections).run()
    found = _Found(suite, mailboxes, receiver, feed, time.monotonic() + _SETTLING_SECONDS)
    return _judge(found, before, first, second, violations, lost_account)


_NOW = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"


def _change_after(suite: Suite, changed: str) -> str:
    """Changes what the restore takes back; returns the id of an account that will be lost."""
    suite.operate("account", "set-plan", changed, "--plan", "business")
    return str(
        suite.operate_json("account", "create", "--email", "lost@example.com", "--plan", "pro")[
            "accountId"
        ]
    )


def _ctl(suite: Suite, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Whatever its exit code is."""
    command, environment = suite.operator_command(list(arguments))
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def _settle(suite: Suite, moment: str) -> list[str]:
    """Checks, settles, and settles again."""
    options = ["--moment", moment, "--margin", str(_MARGIN_SECONDS)]
    violations = []
    if (code := _ctl(suite, "restore", "check", *options).returncode) != 1:
        violations.append(f"restore check of an unsettled database ended with {code}, not 1")
    settled = _ctl(suite, "restore", "settle", "--set-offsets", *options)
    say(settled.stdout.rstrip())
    if settled.returncode != 0:
        fail(f"restore settle failed ({settled.returncode}): {settled.stderr}")
    state = "SELECT version FROM accounts.changes"
    version = suite.server.query(state, postgres.ROLE)
    codes = {
        verb: _ctl(suite, "restore", verb, *options).returncode for verb in ("settle", "check")
    }
    violations += [
        f"restore {verb} of a settled database ended with {code}, not 0"
        for verb, code in codes.items()
        if code != 0
    ]
    if suite.server.query(state, postgres.ROLE) != version:
        violations.append("the second restore settle changed something")
    return violations


def _check_key(suite: Suite, mailboxes: Mailboxes, key_id: str) -> list[str]:
    """It is refused until the operator names it."""
    status = mailboxes.status("/v1/inboxes?limit=1")
    suite.operate("key", "activate", key_id)
    with contextlib.suppress(TimeoutError):
        _wait(
            lambda: mailboxes.status("/v1/inboxes?limit=1") == 200,
            time.monotonic() + 10,
            "the key is accepted",
        )
    activated = mailboxes.status("/v1/inboxes?limit=1")
    violations = []
    if status != 401:
        violations.append(f"the suspended key was answered {status}, not 401")
    if activated != 200:
        violations.append(f"the activated key was answered {activated}, not 200")
    return violations


@dataclass
class _Found:
    """Says where to look when all is quiet, and until when."""

    suite: Suite
    mailboxes: Mailboxes
    receiver: Receiver
    feed: RestoredFeed
    deadline: float


def _judge(
    found: _Found,
    before: Before,
    first: list[Mail],
    second: list[Mail],
    violations: list[str],
    lost_account: str,
) -> int:
    heading("Counting")
    suite = found.suite
    expected = before.emails | {mail.email_id for mail in second if mail.email_id}
    mails = [as_promised(mail, before.emails) for mail in first] + second
    emails = checks.stored(mails, found.mailboxes)
    stored = {email_id for _, email_id in emails}
    events = checks.read_events(suite.cluster.brokers, stored, found.deadline)
    kept = Counter({email_id: times for email_id, times in events.items() if email_id in stored})
    report = checks.check(mails, emails, found.mailboxes, kept)
    violations += report.violations
    taken = _taken(found, expected)
    violations += [f"{email_id}: no webhook" for email_id in sorted(expected - taken)]
    subjects = read_subjects(suite.cluster.brokers)
    violations += second_ids(subjects)
    violations += _check_feed(found, {event_id for _, _, event_id in subjects})
    violations += _check_sequences(found.mailboxes, second)
    violations += _check_plans(suite, before, found.deadline)
    violations += _check_tombstone(suite, lost_account, found.deadline)
    violations += _check_lost_inboxes(suite)
    lost = {mail.email_id for mail in first if mail.email_id} - before.emails - stored
    if not lost:
        violations.append("nothing was lost: the restore went back to nothing")
    if not before.emails:
        violations.append("no mail was answered 250 before the moment")
    if not any(mail.email_id for mail in second):
        violations.append("no mail was answered 250 after the restore")
    for line in report.facts:
        item(*line)
    item("lost", f"{len(lost)} mails that were answered 250 after the moment")
    item("webhooks", f"{len(expected & taken)} of {len(expected)} emails arrived")
    for violation in violations[:_SHOWN_VIOLATIONS]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(before.emails)} mails before the moment, {len(violations)} violations")
    return 1 if violations else 0


def as_promised(mail: Mail, before: set[str]) -> Mail:
    """A mail answered after the moment may be there or not: as if nobody had answered."""
    if mail.email_id is None or mail.email_id in before:
        return mail
    return dataclasses.replace(mail, email_id=None)


def read_subjects(brokers: str) -> list[tuple[str, str, str]]:
    """Reads from each record of email.received: chaos id, inbox, event id."""
    command = ["kcat", "-C", "-b", brokers, "-t", "email.received", "-o", "beginning", "-e", "-q"]
    command += ["-f", "%h KEY=%k VALUE=%s\\nEND\\n"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        fail(f"kcat failed: {done.stderr.decode(errors='replace')}")
    return parse_subjects(done.stdout)


def parse_subjects(printed: bytes) -> list[tuple[str, str, str]]:
    """Parses what kcat printed."""
    return [
        (subject[1].decode(), event[2].decode(), event[1].decode())
        for event in _EVENT.finditer(printed)
        if (subject := _SUBJECT.search(event[3]))
    ]


def second_ids(events: Iterable[tuple[str, str, str]]) -> list[str]:
    """A violation for each mail that has events with two ids in one inbox."""
    ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for chaos_id, inbox_id, event_id in events:
        ids[chaos_id, inbox_id].add(event_id)
    if not ids:
        return ["no event of a mail is on Kafka"]
    return [
        f"{chaos_id}: has the event ids {', '.join(sorted(found))} in {inbox_id}"
        for (chaos_id, inbox_id), found in sorted(ids.items())
        if len(found) > 1
    ]


def _taken(found: _Found, expected: set[str]) -> set[str]:
    def ids() -> set[str]:
        return {event_id for _, event_id in found.receiver.taken()}

    with contextlib.suppress(TimeoutError):
        _wait(lambda: expected <= ids(), found.deadline, "all webhooks arrived")
    return ids()


def _check_feed(found: _Found, published: set[str]) -> Iterable[str]:
    """What Kafka holds is in the feed, once, for who was before the moment and who was past it."""
    with contextlib.suppress(TimeoutError):
        _wait(
            lambda: published <= found.feed.read_on(found.feed.begin).known,
            found.deadline,
            "the feed has all events",
        )
    return found.feed.violations(published)


def _check_sequences(mailboxes: Mailboxes, second: list[Mail]) -> list[str]:
    """Checks that mail after the restore has sequences above everything that clients have seen."""
    answered = {mail.email_id for mail in second if mail.email_id}
    inboxes: dict[str, Inbox] = {it.inbox_id: it for mail in second for it in mail.inboxes}
    return [
        f"{row['emailId']}: has the sequence {row['sequence']} after the restore"
        for inbox in inboxes.values()
        for row in mailboxes.list(inbox)
        if row["emailId"] in answered and row["sequence"] <= _SEQUENCE_GAP
    ]


_BEHIND = """
SELECT count(*) FROM accounts.accounts AS a
LEFT JOIN mailbox.account_states AS m USING (account_id)
LEFT JOIN webhooks.account_states AS w USING (account_id)
WHERE a.deleted_at IS NULL
  AND (m.version IS DISTINCT FROM a.version OR w.version <> a.version)
"""


def _check_plans(suite: Suite, before: Before, deadline: float) -> list[str]:
    """Checks that every service has the plans of before the moment and gets a new change."""
    violations = []
    for account, plan in before.plans.items():
        shown = suite.operate_json("account", "show", account)["plan"]
        if shown != plan:
            violations.append(f"account {account} has the plan {shown}, not {plan}")
    for what in ("after the restore", "after another change"):
        try:
            _wait(
                lambda: suite.server.query(_BEHIND, postgres.ROLE) == "0",
                deadline,
                "all services have the plans",
            )
        except TimeoutError:
            count = suite.server.query(_BEHIND, postgres.ROLE)
            violations.append(f"{count} accounts are not as they should be in a service {what}")
        for account in before.plans:
            suite.operate("account", "set-plan", account, "--plan", "premium")
    return violations


def _check_tombstone(suite: Suite, account: str, deadline: float) -> list[str]:
    """Checks the tombstone of an account that only Kafka knew."""
    command = ["kcat", "-C", "-b", suite.cluster.brokers, "-t", "account.state"]
    command += ["-o", "beginning", "-e", "-q", "-f", "%k %S\\n"]

    def is_deleted() -> bool:
        lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        sizes = [line.split()[1] for line in lines if line.startswith(account + " ")]
        return bool(sizes) and sizes[-1] == "-1"

    try:
        _wait(is_deleted, deadline, "its tombstone")
    except TimeoutError:
        return [f"account {account}: is lost, but has no tombstone in account.state"]
    return []


def _check_lost_inboxes(suite: Suite) -> list[str]:
    """Addresses that inbox.created holds and the database does not are quarantined."""
    known = suite.server.query("SELECT inbox_id FROM mailbox.inboxes", postgres.ROLE).split()
    created = checks.read_events(
        suite.cluster.brokers, set(), time.monotonic(), "inbox.created", checks.BY_KEY
    )
    lost = created.keys() - set(known)
    kept = suite.server.query(
        "SELECT inbox_id FROM mailbox.addresses WHERE state = 'quarantined'", postgres.ROLE
    ).split()
    item("inboxes", f"{len(lost)} that only Kafka knows")
    return [f"inbox {inbox_id}: is lost, its address is free" for inbox_id in lost - set(kept)]


def _wait(is_so: Callable[[], bool], deadline: float, what: str) -> None:
    wait_until(is_so, deadline, what, every=0.25)
