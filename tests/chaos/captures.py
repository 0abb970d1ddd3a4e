"""`./dev chaos captures`: senders at their worst, and what a neighbour notices of them.

Faults on purpose of every kind, 10,000 guessed passwords of one user, a dictionary of names sent to
a catch-all. The first and the last come in turns, loud and quiet, while another account gets mail
all the time. The times of that mail, the alert, every reply and every log are judged.
"""

import dataclasses
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dev import readiness, services
from dev.suite import Suite
from dev.terminal import fail, heading, item, paint, say
from dev.waiting import delay_until

from chaos import neighbours, offenders
from chaos.alert_samples import Samples
from chaos.checks import Mailboxes
from chaos.neighbours import Neighbour, Turns
from chaos.offenders import Target

REPLICAS = "mail-ingest=2"
SECONDS, RATE, CONNECTIONS = 120, 20, 4
_SENT_A_SECOND = 20.0
_SPAM_A_SECOND = 40.0
_LATER = "451 4.7.1 Try again later"
_GOOD = "235 2.7.0 Authentication successful"
_PASSWORDS = 10_000
_SESSIONS, _GUESSES_A_SESSION = 10, 3  # of each of 100 addresses; the fourth guess ends a session
_MAX_LOGIN_SECONDS = 1.0
_SPAM_PAIRS = 4
# A catch-all is full in a minute instead of days.
_MAX_EMAILS = 150
_LIMITS = {
    "TEMPINBOX_INBOX_MAX_EMAILS": str(_MAX_EMAILS),
    "TEMPINBOX_INBOX_RATE_PER_MINUTE": "60",
}
_NOTICED_BY_SPAM = {"250 2.0.0 Ok:", "450 4.2.1", "550 5.2.2"}

# What is played, and to whom: by a login where the stage has no recipient or the step closes there.
FAULTS: dict[str, tuple[bool, dict[str, Any]]] = {
    "451 at RCPT": (False, {"stage": "rcpt", "reply": _LATER}),
    "550 at RCPT": (False, {"stage": "rcpt", "reply": "550 5.7.1 Not here"}),
    "greylisting": (False, {"stage": "rcpt", "reply": _LATER, "times": 1, "per": "recipient"}),
    "451 at DATA": (False, {"stage": "data", "reply": _LATER, "every": 2}),
    "452 at the end": (False, {"stage": "end", "reply": "452 4.2.2 Full"}),
    "554 at the end": (False, {"stage": "end", "reply": "554 5.6.0 Not this"}),
    "delay": (False, {"stage": "end", "delaySeconds": 2}),
    "cut": (False, {"stage": "end", "cut": "unstored"}),
    "cut after it was stored": (False, {"stage": "end", "cut": "stored"}),
    "454 at AUTH": (True, {"stage": "auth", "reply": "454 4.7.0 Not now", "forSeconds": 3600}),
    "421 at MAIL": (True, {"stage": "mail", "reply": "421 4.7.0 Slower", "abovePerMinute": 30}),
    "cut at RCPT": (True, {"stage": "rcpt", "cut": "unstored"}),
}


def run(suite: Suite, seconds: int, rate: int, connections: int) -> int:
    """The exit code is 0 when nobody but the offenders noticed anything."""
    account = suite.record.account
    assert account
    unlimited = ("--requests-per-day", "100000000")
    suite.operate("plan", "set", "premium", *unlimited)
    mailboxes = Mailboxes(next(services.of("gateway", suite.replicas)).listener, account.api_key)
    # Of which none is full at the end.
    inboxes = 4 + 4 * seconds * rate // _MAX_EMAILS
    neighbour = neighbours.make(suite, inboxes, rate, connections)
    violations = [
        *_play_faults(suite, mailboxes, neighbour, seconds),
        *_guess(suite, mailboxes),
        *_spam(suite, mailboxes, neighbour, seconds),
    ]
    for violation in violations[:20]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(violations)} violations")
    return 1 if violations else 0


def _mail_servers(suite: Suite) -> list[services.Replica]:
    return list(services.of("mail-ingest", suite.replicas))


def _ports_in_the_clear(suite: Suite) -> list[str]:
    ports = [it.submission for it in _mail_servers(suite)]
    return [f"127.0.0.1:{it.clear}" for it in ports if it]


def _play_faults(
    suite: Suite, mailboxes: Mailboxes, neighbour: Neighbour, seconds: float
) -> Iterator[str]:
    """Each fault is set in a quiet turn, and played in the loud one behind it."""
    heading(f"Faults on purpose: {len(FAULTS)} kinds")
    inbox = mailboxes.create(1)[0]
    capture = mailboxes.create_captures(1)[0]
    by_address = Target([it.listener for it in _mail_servers(suite)], [inbox.address])
    by_login = Target(
        _ports_in_the_clear(suite), ["ann@shop.example"], (capture.user, capture.password)
    )
    turns = Turns(seconds, len(FAULTS))
    samples = Samples([it.admin for it in _mail_servers(suite)])
    with offenders.in_another_process() as submit, neighbour.during(turns):
        began = time.monotonic()
        for number, (name, (needs_login, step)) in enumerate(FAULTS.items()):
            target = by_login if needs_login else by_address
            path = f"/v1/inboxes/{(capture if needs_login else inbox).inbox_id}/faults"
            _expect(mailboxes.call("PUT", path, {"steps": [step]}), 200)
            samples.take()
            delay_until(began + (2 * number + 1) * turns.length)
            sent = submit(offenders.send, target, _SENT_A_SECOND, turns.length, "127.9.0")
            delay_until(began + (2 * number + 2) * turns.length)
            seen = sent.result()
            samples.take()
            (played,) = _expect(mailboxes.call("GET", path), 200)["steps"]
            _expect(mailboxes.call("DELETE", path), 200)
            item(name, f"{played['used']} uses; {_shown(seen)}")
            if not played["used"]:
                yield f"{name}: was never played"
    yield from neighbours.check("faults", neighbour.mails, turns, neighbour.rate)
    yield from samples.check()


def _guess(suite: Suite, mailboxes: Mailboxes) -> Iterator[str]:
    """10,000 passwords of one user from 100 addresses, while the user logs in over and over."""
    heading(f"Guessing: {_PASSWORDS} passwords of one user from 100 addresses")
    capture = mailboxes.create_captures(1)[0]
    server = _ports_in_the_clear(suite)[0]
    passwords = [offenders.invented_password(number) for number in range(_PASSWORDS)]
    times: list[float] = []
    began = time.monotonic()
    with offenders.in_another_process() as submit:
        guessing = submit(
            offenders.guess,
            *(server, capture.user, passwords, "127.8.0", _SESSIONS, _GUESSES_A_SESSION),
        )
        ended = threading.Event()
        guessing.add_done_callback(lambda _: ended.set())
        while not ended.wait(0.1):
            reply, took = offenders.log_in(server, "127.8.1.1", capture.user, capture.password)
            times.append(took)
            if reply != _GOOD:
                yield f"the good login was answered {reply}"
        seen = guessing.result()
    item("guesses", f"{sum(seen.values())} in {time.monotonic() - began:.0f} s; {_shown(seen)}")
    item(
        "good logins",
        f"{len(times)}, p50 {neighbours.percentile(times, 0.5) * 1000:.1f} ms, "
        f"slowest {max(times) * 1000:.1f} ms",
    )
    yield from check_guesses(seen, times)
    yield from check_logs(suite.logs, capture.user)


def check_guesses(seen: Counter[str], times: list[float]) -> Iterator[str]:
    """A guess that was good, and an owner who was kept waiting."""
    for reply in seen:
        if not reply.startswith(("535 5.7.8 ", "421 4.7.0 ", offenders.CUT)):
            yield f"a guess was answered {reply}"
    if not seen:
        yield "nobody guessed"
    if not times:
        yield "nobody with the password logged in"
    elif max(times) >= _MAX_LOGIN_SECONDS:
        yield f"a good login took {max(times):.2f} s"


def check_logs(folder: Path, user: str) -> Iterator[str]:
    """Logs with a password, or with a response of AUTH PLAIN that holds one of this user."""
    response = offenders.auth_line(user, "tic_").split()[-1].decode()
    begins = response[: len(f"_{user}_tic") // 3 * 4]  # of each response, whatever is behind it
    secret = re.compile(rf"\btic_\w|{re.escape(begins)}")
    for log in sorted(folder.glob("*.log")):
        if secret.search(log.read_text(encoding="utf-8", errors="replace")):
            yield f"{log.name} holds a password"


def _spam(
    suite: Suite, mailboxes: Mailboxes, neighbour: Neighbour, seconds: float
) -> Iterator[str]:
    """A dictionary of names in loud turns, until the catch-all is full."""
    heading(f"Spam into a catch-all that holds {_MAX_EMAILS} emails")
    _restart_with_limits(suite)
    made = _expect(mailboxes.call("POST", "/v1/inboxes", {"localPart": "*"}), 201)
    domain = made["emailAddress"].removeprefix("*@")
    target = Target(
        [it.listener for it in _mail_servers(suite)],
        [f"name{number}@{domain}" for number in range(5000)],
    )
    turns = Turns(seconds, _SPAM_PAIRS)
    seen: Counter[str] = Counter()
    with offenders.in_another_process() as submit, neighbour.during(turns):
        began = time.monotonic()
        for number in range(_SPAM_PAIRS):
            delay_until(began + (2 * number + 1) * turns.length)
            sent = submit(offenders.send, target, _SPAM_A_SECOND, turns.length, "127.9.1")
            delay_until(began + (2 * number + 2) * turns.length)
            seen += sent.result()
    item("spam", _shown(seen))
    yield from neighbours.check("spam", neighbour.mails, turns, neighbour.rate)
    yield from check_spam(seen)
    shown = _expect(mailboxes.call("GET", f"/v1/inboxes/{made['inboxId']}"), 200)
    if shown["expiresAt"] != made["expiresAt"]:
        yield f"spam moved the end of the catch-all to {shown['expiresAt']}"
    if shown["emailCount"] > _MAX_EMAILS:
        yield f"the catch-all holds {shown['emailCount']} emails"


def check_spam(seen: Counter[str]) -> Iterator[str]:
    """Spam is taken until it is too fast, and until the inbox is full; it gets no other reply."""
    for expected in sorted(_NOTICED_BY_SPAM):
        if not any(reply.startswith(expected) for reply in seen):
            yield f"no spam was answered {expected}"
    for reply in seen:
        if not reply.startswith(tuple(_NOTICED_BY_SPAM)):
            yield f"spam was answered {reply}"


def _restart_with_limits(suite: Suite) -> None:
    """Lets services that bound inboxes do so, which they do not in a suite for tests."""
    replicas = [it for it in suite.replicas if it.service in ("mail-ingest", "inbox")]
    for replica in replicas:
        spec = services.spec(replica, suite.replicas, suite.context)
        limited = dataclasses.replace(spec, environment=spec.environment | _LIMITS)
        suite.supervision.put(limited)
        readiness.wait_all([replica], suite.supervision, seconds=60)


def _expect(answer: tuple[int, Any], status: int) -> Any:
    if answer[0] != status:
        fail(f"the API answered {answer[0]}: {answer[1]}")
    return answer[1]


def _shown(seen: Counter[str]) -> str:
    ranked = sorted(seen.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{reply} x {count}" for reply, count in ranked)
