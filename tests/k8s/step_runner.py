"""The rehearsal inside: its steps in their order, each with its row of the table.

`python3 -m k8s.step_runner OPTIONS`, with the packages of the end-to-end tests.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from dev.terminal import Failure, heading, paint, say
from dev.waiting import delay_until
from harness import OtlpSink

from k8s import host_services, installation, layout, sabotage
from k8s.course import Connections, Course
from k8s.load import OF_FAULTS, PUT_OFF, ClusterLoad
from k8s.load import Failure as Failed
from k8s.steps import alerts, changes, faults, nodes, releases, replicas, rotation, trial

PLANNED, FAULT, UNLOADED = "planned", "fault", "unloaded"
_SHOWN = 5


@dataclass(frozen=True)
class Step:
    """`does` it, and answers what was seen; a Failure where it is not as promised."""

    does: str
    kind: str
    run: Callable[[Course], str]


@dataclass
class Row:
    """The outcome of a step."""

    name: str
    is_good: bool
    seconds: float
    failed: int
    put_off: int
    summary: str


STEPS = {
    "dry-run": Step("every file of values, and the stock chart", UNLOADED, releases.dry_run),
    "trial": Step("values.trial.yaml, to a code", UNLOADED, trial.trial),
    "install": Step("the release with TLS, then its account", UNLOADED, releases.install),
    "test": Step("helm test: doctor and smoke", PLANNED, releases.test),
    "upgrade": Step("from the older release, with migrations", PLANNED, releases.upgrade),
    "rollback": Step("to the older release and forward", PLANNED, releases.rollback),
    "failing-migration": Step("the old pods go on", PLANNED, releases.failing_migration),
    "tls": Step("calls between services, where they had none", UNLOADED, releases.encrypt_calls),
    "roll": Step("each service, new pods", PLANNED, replicas.roll),
    "scale": Step("each service 1, 3, 1", PLANNED, replicas.scale),
    "cpu": Step("the gateway by CPU", PLANNED, replicas.by_cpu),
    "lag": Step("the dispatcher by lag 2, 6, 2", PLANNED, replicas.by_lag),
    "drain": Step("each node, two at once", PLANNED, nodes.drain),
    "secrets": Step("every Secret replaced", PLANNED, rotation.rotate),
    "trace": Step("one mail, from SMTP to its webhook", PLANNED, changes.trace),
    "kill": Step("each service, one pod", FAULT, faults.kill),
    "memory": Step("mail-ingest and gateway at their bounds", FAULT, faults.memory),
    "postgres": Step("PostgreSQL lost and started", FAULT, faults.postgres),
    "broker": Step("a Kafka broker lost and started", FAULT, faults.broker),
    "alerts": Step("DependencyAway, ConsumerBehind", FAULT, alerts.fire_and_resolve),
    "judge": Step("what was promised is there", UNLOADED, changes.judge),
    "uninstall": Step("and nothing of it is left", UNLOADED, releases.uninstall),
}


def _needs(name: str, course: Course) -> bool:
    """Returns whether the release must be there before the step, and is not."""
    return name not in ("dry-run", "trial", "install", "uninstall") and not course.load.key


def _watch_connections(course: Course, ended: threading.Event) -> None:
    """pg_stat_activity all the time; PostgreSQL may be away."""
    count = "SELECT count(*) FROM pg_stat_activity WHERE client_addr << '10.244.0.0/16'"
    while not ended.is_set():
        try:
            seen = int(host_services.database().query(count))
            course.connections.append(Connections(time.monotonic(), course.step, seen))
        except (Failure, ValueError):
            pass
        delay_until(time.monotonic() + 2.0)


def _carry_out(name: str, step: Step, course: Course) -> Row:
    say(paint(f"\n{name}", "bold") + f"  {step.does}")
    began = time.monotonic()
    course.healed, course.step = 0.0, name
    before = installation.restarts() if step.kind == PLANNED else {}
    try:
        if step.kind != UNLOADED:
            course.load.wait_progress()
        summary = step.run(course)
        if step.kind != UNLOADED:
            course.load.wait_progress()
        is_good = True
    except (Failure, TimeoutError) as problem:
        summary, is_good = str(problem), False
    found = course.load.failures(began)
    kinds = Counter(it.kind for it in found)
    put_off = kinds.pop(PUT_OFF, 0)
    if is_good and step.kind != UNLOADED:
        wrong = _wrong(step, course, found)
        if step.kind == PLANNED:
            after = installation.restarts()
            wrong += [
                f"{pod} was started again"
                for pod, count in after.items()
                if count > before.get(pod, 0)
            ]
        is_good = not wrong
        for line in wrong[:_SHOWN]:
            say("  " + paint("violation: ", "red") + line)
        if wrong:
            summary = f"{len(wrong)} violations; {summary}"
    seconds = time.monotonic() - began
    row = Row(name, is_good, seconds, kinds.total(), put_off, summary)
    say("  " + _line(row))
    if kinds:
        say("  failed: " + ", ".join(f"{kind} x {count}" for kind, count in sorted(kinds.items())))
    return row


def _wrong(step: Step, course: Course, found: list[Failed]) -> list[str]:
    if step.kind == PLANNED:
        return [it.what for it in found if it.kind != PUT_OFF]
    late = [
        f"{it.at - course.healed:.1f} s after: {it.what}"
        for it in found
        if course.healed and it.at > course.healed + 10
    ]
    return late + [it.what for it in found if it.kind not in OF_FAULTS]


def _line(row: Row) -> str:
    word = paint("ok", "green") if row.is_good else paint("FAILED", "red")
    return (
        f"{row.name:<18} {word:<6} {row.seconds:6.1f} s  failed {row.failed:>3}, put off "
        f"{row.put_off:>3}  {row.summary}"
    )


def main() -> int:
    """0 when every chosen step was as promised."""
    options = json.loads(sys.argv[1])
    only = [name for name in (options["only"] or "").split(",") if name]
    skip = [name for name in (options["skip"] or "").split(",") if name]
    expected = [name for name in STEPS if (not only or name in only) and name not in skip]
    has_host_services = set(expected) != {"trial"}  # whose PostgreSQL and Kafka are pods
    if has_host_services:
        heading("Beside the cluster")
        host_services.start()
    ended = threading.Event()
    rows = []
    with ClusterLoad() as load, OtlpSink(layout.HOST_ADDRESS, installation.OTLP_PORT) as sink:
        course = Course(load, sink, options["with_load"], options["older"], options["unknown"])
        if options["sabotage"]:
            chosen = sabotage.ALL[options["sabotage"]]
            course.sabotage = options["sabotage"]
            say(paint("sabotage: ", "yellow") + chosen.does)
            if not only:
                expected = [it for it in STEPS if it in ("install", *chosen.seen_by)]
            course.installed.given = installation.laid_over(course.installed.given, chosen.values)
            course.installed.chart = sabotage.sabotaged_chart(chosen)
        watching = threading.Thread(target=_watch_connections, args=(course, ended), daemon=True)
        if has_host_services:
            watching.start()
        for name in expected:
            if _needs(name, course):
                rows.append(_carry_out("install", STEPS["install"], course))
                if not rows[-1].is_good:
                    break
            rows.append(_carry_out(name, STEPS[name], course))
            if name == "install" and not rows[-1].is_good:
                break
        ended.set()
        if has_host_services:
            watching.join(timeout=10)
        load.stop()
    heading("\nSeen")
    for row in rows:
        say(_line(row))
    failed = [row.name for row in rows if not row.is_good]
    if options["sabotage"]:
        return _found(sabotage.ALL[options["sabotage"]], failed)
    return 1 if failed else 0


def _found(planted: sabotage.Sabotage, failed: list[str]) -> int:
    """1 where the steps that must find the fault are those that failed; a fault that is seen
    elsewhere proves nothing.
    """
    elsewhere = [name for name in failed if name not in planted.seen_by]
    if elsewhere:
        say(f"the sabotage was to fail {', '.join(planted.seen_by)}, not {', '.join(elsewhere)}")
        return 2
    say(f"the sabotage was found by {', '.join(failed)}" if failed else "nothing was found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
