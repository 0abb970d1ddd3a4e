"""Breaks pods, PostgreSQL, a broker, and sends more load than memory."""

import contextlib
import http.client
import signal
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

from dev.terminal import fail
from dev.waiting import wait_until

from k8s import host_services, installation, layout
from k8s.course import Course
from k8s.installation import SERVICES, Object, wait_for

_AWAY_SECONDS = 8.0
_SMALL = "8MiB"


def kill(course: Course) -> str:
    """SIGKILL to the process of one pod of each service, as the kernel would."""
    slowest = 0.0
    for service in SERVICES:
        pod = installation.ready(service)[0]
        name = installation.name_of(pod)
        before = installation.restarts()[name]
        started = time.monotonic()
        _kill(pod)
        wait_for(partial(_is_started_again, name, before), 60, f"{name} is started again")
        installation.wait_whole(service)
        slowest = max(slowest, time.monotonic() - started)
        course.heal()
        course.load.wait_progress()
    return f"one pod of each, ready again after at most {slowest:.0f} s"


def _is_started_again(name: str, before: int) -> bool:
    return installation.restarts().get(name, 0) > before


def _kill(pod: Object) -> None:
    """Kills a pod by its container's runtime: the image has no shell to do it from inside."""
    container = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
    node = (layout.STATE / pod["spec"]["nodeName"] / "pid").read_text().strip()
    command = ["nsenter", "-t", node, "--mount", "--net", "--uts", "--"]
    command += ["ctr", "-n", "k8s.io", "tasks", "kill", "-s", "SIGKILL", container]
    done = installation.attempt(*command)
    if done.returncode != 0:
        fail(f"{installation.name_of(pod)} could not be killed: {done.stderr}")


def _stay_ready(what: str, seconds: float) -> None:
    """No pod leaves its Service because something that it needs is away."""
    counts = {service: len(installation.ready(service)) for service in SERVICES}

    def first_short() -> str | None:
        short = (it for it, count in counts.items() if len(installation.ready(it)) < count)
        return next(short, None)

    with contextlib.suppress(TimeoutError):
        short = wait_until(first_short, time.monotonic() + seconds, "a pod that is not ready")
        fail(f"pods of {short} are not ready because {what} is away")


def postgres(course: Course) -> str:
    """Its process is ended at once, comes back, and the pods go on by themselves."""
    before = installation.restarts()
    host_services.stop_database()
    try:
        _stay_ready("PostgreSQL", _AWAY_SECONDS)
    finally:
        host_services.start_database()
    course.heal()
    return _went_on(course, before, "PostgreSQL")


def broker(course: Course) -> str:
    """Kills one of three: two copies of each partition are left, which is enough to write."""
    before = installation.restarts()
    host_services.stop_broker(2, signal.SIGKILL)
    try:
        _stay_ready("a broker", _AWAY_SECONDS)
        course.load.wait_progress()
    finally:
        host_services.start_brokers(range(2, 3))
        host_services.brokers().wait_ready(120)
    course.heal()
    return _went_on(course, before, "the broker")


def _went_on(course: Course, before: dict[str, int], what: str) -> str:
    started = time.monotonic()
    course.load.wait_progress()
    wait_for(lambda: time.monotonic() > started + 12, 30, "the time after which nothing may fail")
    again = [pod for pod, count in installation.restarts().items() if count > before.get(pod, 0)]
    if again:
        fail(f"{', '.join(again)} started again because {what} was away")
    return f"away for {_AWAY_SECONDS:.0f} s; every pod ready throughout, none started again"


# Memory.


def memory(course: Course) -> str:
    """Bounds made small; then more mail, and larger answers, than they allow."""
    over = {
        "services": {
            "mail-ingest": {"settings": {"memory-limit": _SMALL, "spool-limit": "16MiB"}},
            "gateway": {"settings": {"answer-memory": _SMALL}},
        }
    }
    course.installed.upgrade(over, keeps=False)
    before = installation.restarts()
    refused = _crowd_of_mail(course)
    refused_answers = _crowd_of_readers(course)
    again = [pod for pod, count in installation.restarts().items() if count > before.get(pod, 0)]
    if again:
        fail(f"{', '.join(again)} were killed at their bounds")
    if not refused.get("452"):
        fail(f"mail-ingest never answered 452: {refused}")
    if not refused_answers.get("503"):
        fail(f"the gateway never answered 503: {refused_answers}")
    course.installed.upgrade()
    course.heal()
    return f"mail {refused}, answers {refused_answers}; no pod killed"


def _crowd_of_mail(course: Course) -> dict[str, int]:
    """Senders that hold 2 MB each, without the dot, all at once."""
    (inbox,) = course.load.new_inboxes(1)
    host, _, port = course.load.smtp.rpartition(":")
    counts: dict[str, int] = {}
    lock = threading.Lock()

    def send() -> None:
        reply = "none"
        with contextlib.suppress(OSError, EOFError):
            reply = _smtp_reply(host, int(port), inbox.address)
        with lock:
            counts[reply[:3]] = counts.get(reply[:3], 0) + 1

    _all_at_once(send, 60)
    return counts


def _smtp_reply(host: str, port: int, address: str) -> str:
    """Returns the first reply that is not the expected one, or the last one."""
    body = (b"x" * 76 + b"\r\n") * 40_000
    with socket.create_connection((host, port), timeout=60) as connection:
        replies = connection.makefile("rb")

        def expect(expected: str) -> str:
            while True:
                line = replies.readline()
                if not line:
                    raise EOFError
                if line[3:4] != b"-":
                    text = line.decode()
                    return "" if text.startswith(expected) else text

        steps = [
            (b"", "220"),
            (b"EHLO sender.example\r\n", "250"),
            (b"MAIL FROM:<a@sender.example>\r\n", "250"),
            (f"RCPT TO:<{address}>\r\n".encode(), "250"),
            (b"DATA\r\n", "354"),
            (b"Subject: large\r\n\r\n" + body + b".\r\n", "250"),
        ]
        for said, expected in steps:
            connection.sendall(said)
            if refused := expect(expected):
                return refused
        return "250"


def _crowd_of_readers(course: Course) -> dict[str, int]:
    """Readers of a large message who take their answer slowly."""
    host, _, port = course.load.smtp.rpartition(":")
    (inbox,) = course.load.new_inboxes(1)
    wait_for(lambda: _smtp_reply(host, int(port), inbox.address) == "250", 60, "a large mail is in")
    listed = _get(course, f"/v1/inboxes/{inbox.inbox_id}/emails")
    email_id = listed.partition('"emailId":"')[2].partition('"')[0]
    counts: dict[str, int] = {}
    lock = threading.Lock()
    released = threading.Event()

    def read() -> None:
        connection = http.client.HTTPConnection(course.load.gateway, timeout=60)
        kind = "none"
        with contextlib.suppress(OSError, http.client.HTTPException):
            headers = {"X-API-Key": course.load.key, "Accept": "message/rfc822"}
            connection.request("GET", f"/v1/emails/{email_id}/raw", headers=headers)
            answer = connection.getresponse()
            kind = str(answer.status)
            if answer.status == http.HTTPStatus.OK:
                released.wait(5)
                answer.read()
        connection.close()
        with lock:
            counts[kind] = counts.get(kind, 0) + 1

    _all_at_once(read, 40)
    return counts


def _get(course: Course, path: str) -> str:
    connection = http.client.HTTPConnection(course.load.gateway, timeout=30)
    connection.request("GET", path, headers={"X-API-Key": course.load.key})
    body = connection.getresponse().read().decode()
    connection.close()
    return body


def _all_at_once(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(timeout=120)
