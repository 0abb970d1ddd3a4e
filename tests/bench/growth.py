#!/usr/bin/env python3
"""Measures whether a request costs the same in a suite that has grown: the figures of `./dev bench
api` beside 1,000 inboxes, emails and quarantined addresses of strangers, and beside millions of
them.

The strangers are made by SQL, so many a statement, within --minutes; what is there by then is what
is measured. CPU of a request may grow by a fifth. Then the plan of every statement on the large
tables is shown as it was run; one that reads a table from end to end is a failure. Remove the suite
afterwards: ./dev down --wipe.

Usage: ./dev bench growth [--scale 0.1] [--quick] [--seconds 5] [--minutes 30]
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import api
from api import Measured
from measuring import figures, many_rows, targets

ROWS, QUARANTINED = 5_000_000, 10_000_000
FEW_ROWS = 1_000
_RUNS = 8 * 8  # each connection of a pool comes to its lasting plan after five
MAX_GROWTH = 1.2  # design target: of a request's cost, from few rows to many


def fill(rows: int, quarantined: int, minutes: float) -> str:
    """Adds rows of strangers, as far as the time allows; returns how many there are now."""
    began = time.monotonic()
    dsn = os.environ["TEMPINBOX_DATABASE"]
    end = began + 60 * minutes
    loaded = many_rows.load(dsn, rows, quarantined, lambda: time.monotonic() > end)
    is_short = "" if loaded == (rows, quarantined) else ", then the time was over"
    what = f"{loaded[0]:,} inboxes and emails, {loaded[1]:,} quarantined addresses"
    print(f"\n{what} made in {time.monotonic() - began:.0f} s{is_short}", flush=True)
    return what


def judge(few: dict[str, Measured], many: dict[str, Measured], what: str) -> bool:
    """Compares a request's cost beside many rows with its cost beside few."""
    outcomes = []
    for name, before in few.items():
        cpu = sum(many[name].cpu.values()) / sum(before.cpu.values())
        rate = many[name].rate.per_second / before.rate.per_second
        case = f"{name}: CPU a request beside {what}, of that beside {FEW_ROWS:,} (rate {rate:.2f})"
        outcomes.append(targets.at_most(case, cpu, MAX_GROWTH))
        figures.note("CPU of a request after growth", "times that before", name, cpu)
        figures.note("Rate after growth", "times that before", name, rate)
    return all(outcomes)


def exercise(inbox: dict[str, Any]) -> Callable[[], None]:
    """Every operation that reads or writes the mailbox, often enough that prepared statements have
    their lasting plan.
    """

    def run() -> None:
        email = api.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"][0]["emailId"]
        for _ in range(_RUNS):
            api.call("GET", f"/v1/inboxes/{inbox['inboxId']}")
            api.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails")
            api.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails?limit=5&after=3")
            api.call(
                "GET",
                f"/v1/inboxes/{inbox['inboxId']}/emails/wait?subject=nothing&timeoutSeconds=1"
                f"&after={api.FIRST_SEQUENCE + api.EMAILS - 1}",
            )
            api.call("GET", f"/v1/emails/{email}")
            api.call("GET", f"/v1/emails/{email}/timeline")
            for query in (
                "",
                "?status=all",
                "?status=expired",
                "?tag=none",
                f"?address={inbox['emailAddress']}",
            ):
                api.call("GET", "/v1/inboxes" + query)
            for query in (
                "?limit=1",
                "?subject=code",
                "?from=ann",
                "?to=nobody",
                "?limit=5&include=text,codes",
            ):
                api.call("GET", "/v1/emails" + query)
                api.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails{query}")
            api.call("GET", f"/v1/emails/{email}/raw")
            api.call("PATCH", f"/v1/emails/{email}", {"isRead": True})
            api.call("PATCH", f"/v1/inboxes/{inbox['inboxId']}", {"name": "bench"})
            api.call("GET", "/v1/account")
            api.call("GET", "/v1/account/usage")
            made = api.call("POST", "/v1/inboxes", {"ttlSeconds": 60})
            api.send(os.environ["TEMPINBOX_SMTP"], made["emailAddress"], 2)
            api.call(
                "DELETE",
                "/v1/emails/"
                + api.call("GET", f"/v1/inboxes/{made['inboxId']}/emails")["emails"][0]["emailId"],
            )
            api.call("DELETE", f"/v1/inboxes/{made['inboxId']}/emails")
            api.call("DELETE", "/v1/inboxes/" + made["inboxId"])
            api.call("POST", "/v1/inboxes", {"ttlSeconds": 60, "tags": ["bench end"]})
            api.call("DELETE", "/v1/inboxes?tag=bench%20end")

    return run


def restart_services() -> None:
    """Restarts the services, so that their connections begin anew."""
    for part in ("inbox", "mail-ingest", "gateway"):
        api.operate("restart", part)


def show_plans(inbox: dict[str, Any]) -> int:
    """Each statement with its scans; how many read a large table from end to end."""
    log = Path(os.environ["TEMPINBOX_DEV_SUITE"], "logs", "postgres.log")
    shown = many_rows.plans_of(
        os.environ["TEMPINBOX_DATABASE"], log, restart_services, exercise(inbox)
    )
    for plan in sorted(shown, key=lambda it: it.is_indexed):
        print(
            f"\n{'' if plan.is_indexed else 'READS A WHOLE TABLE: '}{plan.statement[:150]}  "
            f"({plan.millis:.2f} ms)"
        )
        for scan in plan.scans:
            print("    " + scan)
    whole = sum(not plan.is_indexed for plan in shown)
    print(
        f"\n{len(shown)} statements on large tables, {whole} of them read one from end to end",
        flush=True,
    )
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        help=f"so many times {ROWS:,} inboxes and emails and {QUARANTINED:,} quarantined "
        "addresses, 0.001 to 4 (default 1)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 seconds each, at 16 and 64 connections"
    )
    parser.add_argument("--seconds", type=float, default=5, help="for each load (default 5)")
    parser.add_argument(
        "--minutes", type=float, default=30, help="for making the strangers, at most (default 30)"
    )
    options = parser.parse_args()
    if not 0.001 <= options.scale <= 4:
        parser.error("--scale must be 0.001 to 4")
    seconds = 2.0 if options.quick else options.seconds
    connections = api.CONNECTIONS[1:] if options.quick else api.CONNECTIONS

    inbox = api.prepare()
    fill(FEW_ROWS, FEW_ROWS, options.minutes)
    few, is_met_with_few = api.bench(inbox, seconds, connections, None)
    rows, quarantined = (round(options.scale * count) for count in (ROWS, QUARANTINED))
    what = fill(rows - FEW_ROWS, quarantined - FEW_ROWS, options.minutes)
    many, is_met_with_many = api.bench(inbox, seconds, connections, None)
    is_flat = judge(few, many, what)
    whole_reads = show_plans(inbox)
    return 0 if is_met_with_few and is_met_with_many and is_flat and whole_reads == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
