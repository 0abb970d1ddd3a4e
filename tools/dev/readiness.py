"""Asking services whether they are ready."""

import http.client
import json
import time

from dev.services import Replica
from dev.supervision import Supervision
from dev.terminal import fail
from dev.waiting import wait_until

_DEATHS_THAT_ARE_NO_ACCIDENT = 3


def probe(admin: str) -> tuple[bool, str]:
    """Returns whether /readyz says 200, and what else is to be known: what it waits for, or what it
    lost.
    """
    connection = http.client.HTTPConnection(admin, timeout=2)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return False, "does not answer"
    finally:
        connection.close()
    return answer.status == 200, _explain(body)


def _explain(body: str) -> str:
    try:
        said = json.loads(body)
        waiting = ", ".join(
            f"{name}: {reason}" if reason else name
            for name, reason in said.get("waiting", {}).items()
        )
        degraded = ", ".join(said.get("degraded", []))
    except (ValueError, AttributeError):
        return body.strip()
    return "; ".join(
        part
        for part in (waiting and f"waits for {waiting}", degraded and f"degraded: {degraded}")
        if part
    )


def lacking(replicas: list[Replica]) -> list[str]:
    """The names of those that are not ready, or have lost something."""
    return [it.name for it in replicas if probe(it.admin) != (True, "")]


def wait_all(replicas: list[Replica], supervision: Supervision, seconds: float) -> None:
    """Returns when every replica is ready; explains what is wrong when one is not in time, or keeps
    dying.
    """
    before = {name: child["restarts"] for name, child in supervision.status().items()}
    waiting = list(replicas)

    def are_ready() -> bool:
        waiting[:] = [replica for replica in waiting if not probe(replica.admin)[0]]
        children = supervision.status()
        for replica in waiting:
            child = children[replica.name]
            if child["restarts"] - before[replica.name] >= _DEATHS_THAT_ARE_NO_ACCIDENT:
                fail(
                    f"{replica.name} keeps ending ({child['last_exit']}):\n"
                    f"{last_lines(child['log'])}"
                )
        return not waiting

    try:
        wait_until(are_ready, time.monotonic() + seconds, "every replica is ready")
    except TimeoutError:
        children = supervision.status()
        reasons = "\n".join(
            f"  {it.name}: {probe(it.admin)[1]}\n{last_lines(children[it.name]['log'], 5)}"
            for it in waiting
        )
        fail(f"not ready after {seconds:.0f} s:\n{reasons}")


def last_lines(log: str, count: int = 20) -> str:
    """The end of a log."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            return "".join("    " + line for line in file.readlines()[-count:]).rstrip()
    except OSError as problem:
        return f"    ({problem})"
