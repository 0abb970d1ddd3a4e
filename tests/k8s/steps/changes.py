"""Checks what is seen of mails: one whole trace, and in the end everything that was promised."""

from dev.terminal import fail, paint, say

from k8s import installation
from k8s.course import Course

_WHOLE = {
    "smtp transaction",
    "commit mail",
    "send email.received",
    "process email.received",
    "POST",
}
_SHOWN = 10


def trace(course: Course) -> str:
    """A mail of the load whose spans, of all pods it went through, hang together."""
    if not course.with_load:
        return "no load, no mail to trace"

    def whole() -> tuple[str, int] | None:
        by_trace: dict[str, list[tuple[str, str, str]]] = {}
        for span in course.sink.spans:
            found = by_trace.setdefault(span.trace_id, [])
            found.append((span.name, span.span_id, span.parent_id))
        for identity, spans in by_trace.items():
            known = {span for _, span, _ in spans}
            roots = [name for name, _, parent in spans if parent not in known]
            if {name for name, _, _ in spans} >= _WHOLE and roots == ["smtp transaction"]:
                return identity, len(spans)
        return None

    identity, count = installation.wait_for(whole, 60, "a whole trace of a mail")
    services = sorted({it.service for it in course.sink.spans if it.trace_id == identity})
    return f"trace {identity[:8]}: {count} spans of {', '.join(services)}, one root"


def _connections(course: Course) -> str:
    """Fails where there were more than the chart's budget of that moment."""
    budget = course.installed.connection_budget
    most = max(course.connections, key=lambda it: it.count)
    summary = f"at most {most.count} connections (in {most.step}), {budget(most.at)} allowed then"
    worst = max(course.connections, key=lambda it: it.count - budget(it.at))
    if worst.count > budget(worst.at):
        fail(
            f"{worst.count} connections in {worst.step}, the chart's budget was then "
            f"{budget(worst.at)}; {summary}"
        )
    return summary


def judge(course: Course) -> str:
    """Checks after the load that no mail answered 250 is lost, no webhook missed, and connections
    are in budget.
    """
    summary = _connections(course)
    if not course.with_load:
        return summary
    course.load.stop()
    facts, violations = course.load.judge()
    for line in violations[:_SHOWN]:
        say("  " + paint("violation: ", "red") + line)
    if violations:
        fail(f"{len(violations)} violations: {facts}")
    return f"{facts}; {summary}"
