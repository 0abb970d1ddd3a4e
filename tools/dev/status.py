"""Shows what runs, as a table or as JSON."""

import json
from typing import Any

from dev import paths, readiness
from dev.suite import Suite
from dev.terminal import paint, say


def gather(suite: Suite) -> dict[str, Any]:
    """Every process of the suite: pid, address, readiness, restarts, how it last ended."""
    addresses = {"postgres": (f"127.0.0.1:{suite.server.port}", "")}
    for number, (listener, _) in enumerate(suite.cluster.ports, start=1):
        addresses[f"kafka-{number}"] = (f"127.0.0.1:{listener}", "")
    for replica in suite.replicas:
        addresses[replica.name] = (replica.listener, replica.admin)
    rows = []
    for name, child in suite.supervision.status().items():
        address, admin = addresses.get(name, ("", ""))
        is_ready, note = readiness.probe(admin) if admin else (child["pid"] is not None, "")
        rows.append(
            {
                "name": name,
                "pid": child["pid"],
                "address": address,
                "admin": admin,
                "ready": is_ready,
                "note": note,
                "restarts": child["restarts"],
                "lastExit": child["last_exit"],
            }
        )
    return {
        "data": str(suite.folder),
        "programs": str(paths.build_folder(suite.record.preset) / "bin"),
        "processes": rows,
    }


def show(suite: Suite, as_json: bool) -> bool:
    """Prints it; says whether everything is ready."""
    found = gather(suite)
    if as_json:
        say(json.dumps(found, indent=2))
    else:
        _print_table(found["processes"])
    return all(row["ready"] for row in found["processes"])


def _print_table(rows: list[dict[str, Any]]) -> None:
    head = (
        f"{'name':<22} {'pid':>7}  {'address':<16} {'admin':<16} {'ready':<6} {'restarts':>8}  note"
    )
    say(paint(head, "bold"))
    for row in rows:
        ready = paint(f"{'yes':<6}", "green") if row["ready"] else paint(f"{'no':<6}", "red")
        note = row["note"] or (
            f"last ended with {row['lastExit']}" if row["lastExit"] is not None else ""
        )
        say(
            f"{row['name']:<22} {row['pid'] or '-':>7}  {row['address']:<16} {row['admin']:<16} "
            f"{ready} {row['restarts']:>8}  {note}"
        )
