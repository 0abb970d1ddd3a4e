"""A mailbox with millions of inboxes and emails, and how PostgreSQL then finds what the services
ask for.
"""

import itertools
import os
import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_INBOXES_AN_ACCOUNT = 500
_FEW_PAGES_COST = 100.0
_BIG = r"(?:inboxes|emails\w*|addresses|bodies\w*)"
_INBOX_COLUMNS = (
    "account_id, inbox_id, email_address, last_sequence, email_count, last_email_at, created_at, "
    "expires_at"
)
_EMAIL_COLUMNS = (
    "account_id, email_id, inbox_id, sequence, received_at, from_address, from_name, subject, "
    "preview, rcpt_to, to_header, mail_from, "
    "remote_address, helo, size_bytes, attachment_count, codes, links, defects, content_sha256, "
    "body_hour, body_id, is_body_shared"
)


def psql(dsn: str, sql: str) -> str:
    """Runs it; what it printed."""
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", dsn, "-c", sql],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"psql: {done.stderr}")
    return done.stdout


def _copy(dsn: str, table: str, columns: str, lines: Iterator[str]) -> None:
    command = [
        "psql",
        "-X",
        "-q",
        "-v",
        "ON_ERROR_STOP=1",
        dsn,
        "-c",
        f"COPY mailbox.{table} ({columns}) FROM STDIN",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin
        while chunk := "".join(itertools.islice(lines, 10_000)):
            process.stdin.write(chunk)
        process.stdin.close()
        if process.wait() != 0:
            raise SystemExit(f"COPY into {table} failed")


def _uuid7(millis: int) -> str:
    tail = os.urandom(10)
    return str(
        uuid.UUID(
            bytes=millis.to_bytes(6, "big")
            + bytes([0x70 | (tail[0] & 15), tail[1], 0x80 | (tail[2] & 63)])
            + tail[3:]
        )
    )


def load(dsn: str, rows: int) -> None:
    """So many live inboxes of strangers, with one email each, made over the last hours of today."""
    now = time.time()
    since_midnight = now % 86_400

    def moments() -> Iterator[float]:
        return (now - since_midnight * (1 - number / rows) for number in range(rows))

    def stamp(moment: float) -> str:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment)) + "+00"

    accounts = [_uuid7(int(now * 1000)) for _ in range(max(1, rows // _INBOXES_AN_ACCOUNT))]
    ids = [_uuid7(int(moment * 1000)) for moment in moments()]
    expires = stamp(now + 86_400)
    hour = stamp(now + 86_400 - now % 3600)

    def inboxes() -> Iterator[str]:
        for number, (inbox, moment) in enumerate(zip(ids, moments(), strict=True)):
            at = stamp(moment)
            yield (
                f"{accounts[number % len(accounts)]}\t{inbox}\t"
                f"bench{number}.{inbox[-8:]}@bench.invalid\t1\t1\t{at}\t{at}\t{expires}\n"
            )

    def addresses() -> Iterator[str]:
        for number, inbox in enumerate(ids):
            yield (
                f"bench{number}.{inbox[-8:]}@bench.invalid\t{accounts[number % len(accounts)]}\t"
                f"{inbox}\tlive\t{expires}\n"
            )

    def emails() -> Iterator[str]:
        for number, (inbox, moment) in enumerate(zip(ids, moments(), strict=True)):
            head = (
                f"{accounts[number % len(accounts)]}\t{_uuid7(int(moment * 1000))}\t{inbox}\t1\t"
                f"{stamp(moment)}\tann@sender.example\tAnn\tMail {number}\tHello"
            )
            tail = (
                "{box@bench.invalid}\t{box@bench.invalid}\tann@sender.example\t192.0.2.1\t"
                f"mx.example\t2000\t0\t[]\t[]\t{{}}\t\\\\x00\t{hour}\t{inbox}\tf"
            )
            yield f"{head}\t{tail}\n"

    _copy(dsn, "inboxes", _INBOX_COLUMNS, inboxes())
    _copy(dsn, "addresses", "address, account_id, inbox_id, state, until", addresses())
    _copy(dsn, "emails", _EMAIL_COLUMNS, emails())
    for table in ("inboxes", "addresses", "emails"):
        psql(dsn, f"ANALYZE mailbox.{table}")


@dataclass(frozen=True)
class Plan:
    """How a statement was run."""

    statement: str
    millis: float
    lines: list[str]

    @property
    def scans(self) -> list[str]:
        """Its reads of tables, without the lines about them."""
        return [line.strip(" ->\t") for line in self.lines if re.search(r"\bScan\b", line)]

    @property
    def is_indexed(self) -> bool:
        """No large table is read from one end to the other; partitions of a few pages may be."""
        whole = (
            re.search(rf"Seq Scan on {_BIG}\b.*cost=[\d.]+\.\.([\d.]+)", line)
            for line in self.scans
        )
        return not any(found and float(found[1]) > _FEW_PAGES_COST for found in whole)


def plans_of(
    dsn: str, log: Path, restart: Callable[[], None], exercise: Callable[[], None]
) -> list[Plan]:
    """The plan of each statement that the services send meanwhile, as auto_explain logs it when it
    is run.
    """
    name = psql(dsn, "SELECT current_database()").strip()
    wanted = {
        "session_preload_libraries": "auto_explain",
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_analyze": "on",
        "auto_explain.log_nested_statements": "on",
    }  # those of functions too
    for setting, value in wanted.items():
        psql(dsn, f"LOAD 'auto_explain'; ALTER DATABASE \"{name}\" SET {setting} = '{value}'")
    try:
        restart()
        start = log.stat().st_size
        exercise()
        with log.open("rb") as text:
            text.seek(start)
            return read(text.read().decode("utf-8", "replace"))
    finally:
        for setting in wanted:
            psql(dsn, f"LOAD 'auto_explain'; ALTER DATABASE \"{name}\" RESET {setting}")
        restart()


def read(log: str) -> list[Plan]:
    """Each statement on the large tables once: its last plan."""
    found: dict[str, Plan] = {}
    for block in re.split(r"(?m)^(?=\S)", log):
        head, _, rest = block.partition("\n")
        duration = re.search(r"duration: ([\d.]+) ms  plan:$", head)
        text = re.match(r"\tQuery Text:\s*(.*?)\n(\t(?=\S).*)", rest, re.DOTALL)
        if not duration or not text or not re.search(rf"\bmailbox\.{_BIG}\b", text[1]):
            continue
        statement = " ".join(text[1].split())
        found[statement] = Plan(statement, float(duration[1]), text[2].splitlines())
    return list(found.values())
