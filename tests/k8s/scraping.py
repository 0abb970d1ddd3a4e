"""Reads what pods say of themselves on their port for the operator. Runs inside."""

import urllib.request

from k8s.installation import Object


def lines(pod: Object) -> list[str]:
    """Its metrics; none where it does not answer."""
    address = f"http://{pod['status']['podIP']}:9090/metrics"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.read().decode()).splitlines()
    except OSError:
        return []


def total(pod: Object, metric: str, label: str = "") -> float:
    """The sum of a metric's lines, of those with a label such as `code="ok"`."""
    return sum(
        float(line.split()[-1])
        for line in lines(pod)
        if line.startswith((metric + "{", metric + " ")) and label in line
    )
