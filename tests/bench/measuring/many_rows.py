"""A mailbox with millions of inboxes and emails, and how PostgreSQL then finds what the services
ask for.
"""

import re
import subprocess
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_INBOXES_AN_ACCOUNT = 500
_ROWS_A_STEP = 100_000
_FEW_PAGES_COST = 100.0
_BIG = r"(?:inboxes|emails\w*|addresses|bodies\w*)"
_INBOX_COLUMNS = (
    "account_id, inbox_id, email_address, last_sequence, email_count, last_email_at, created_at, "
    "expires_at"
)
_EMAIL_COLUMNS = (
    "account_id, email_id, inbox_id, sequence, received_at, from_address, from_name, subject, "
    "preview, rcpt_to, header_addresses, mail_from, "
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


def _uuid7(at: str, salt: str) -> str:
    """An expression: made at that moment, the same for the same number `n` and salt."""
    digest = f"md5('{salt}' || n)"
    millis = f"lpad(to_hex((extract(epoch FROM {at}) * 1000)::bigint), 12, '0')"
    return f"({millis} || '7' || substr({digest}, 1, 3) || '8' || substr({digest}, 4, 15))::uuid"


def _strangers(begin: int, end: int, rows: int) -> str:
    """Live inboxes of numbers [begin, end) with one email each, all rows made over the hours of
    today, of accounts in turn.
    """
    accounts = max(1, rows // _INBOXES_AN_ACCOUNT)
    salt = uuid.uuid4().hex[:8]
    day = "date_trunc('day', now(), 'UTC')"
    return f"""
        SET synchronous_commit = off;
        CREATE TEMPORARY TABLE stranger AS
        SELECT n, at, md5('bench account' || n % {accounts})::uuid AS account_id,
            {_uuid7("at", f"{salt} inbox")} AS inbox_id,
            {_uuid7("at", f"{salt} email")} AS email_id,
            'bench' || n || '.{salt}@bench.invalid' AS address,
            now() + interval '1 day' AS expires_at
        FROM (SELECT n, {day} + (now() - {day}) * n / {rows} AS at
            FROM generate_series({begin}, {end} - 1) AS n) AS numbers;
        INSERT INTO mailbox.inboxes ({_INBOX_COLUMNS})
        SELECT account_id, inbox_id, address, 1, 1, at, at, expires_at FROM stranger;
        INSERT INTO mailbox.live_inbox_counts AS known (account_id, live_inboxes)
        SELECT account_id, count(*) FROM stranger GROUP BY account_id
        ON CONFLICT (account_id)
        DO UPDATE SET live_inboxes = known.live_inboxes + excluded.live_inboxes;
        INSERT INTO mailbox.addresses (address, account_id, inbox_id, state, until)
        SELECT address, account_id, inbox_id, 'live', expires_at FROM stranger;
        INSERT INTO mailbox.emails ({_EMAIL_COLUMNS})
        SELECT account_id, email_id, inbox_id, 1, at, 'ann@sender.example', 'Ann', 'Mail ' || n,
            'Hello', ARRAY[address], jsonb_build_object('to', jsonb_build_array(jsonb_build_object(
                'address', address, 'name', '')), 'cc', '[]'::jsonb, 'replyTo', '[]'::jsonb),
            'ann@sender.example', '192.0.2.1',
            'mx.example', 2000, 0, '[]', '[]', '{{}}', '\\x00',
            date_trunc('hour', expires_at, 'UTC'), inbox_id, false
        FROM stranger"""


def _quarantined(begin: int, end: int, rows: int) -> str:
    """Addresses of numbers [begin, end), the inboxes of all rows having ended within 30 days."""
    salt = uuid.uuid4().hex[:8]
    return f"""
        SET synchronous_commit = off;
        INSERT INTO mailbox.addresses (address, account_id, inbox_id, state, until)
        SELECT 'ended' || n || '.{salt}@bench.invalid',
            md5('bench account' || n)::uuid, {_uuid7("now()", f"{salt} ended")}, 'quarantined',
            now() + interval '30 days' * (n + 1) / {rows}
        FROM generate_series({begin}, {end} - 1) AS n"""


def load(dsn: str, rows: int, quarantined: int, is_late: Callable[[], bool]) -> tuple[int, int]:
    """Adds so many live inboxes of strangers, with one email each, and quarantined addresses, until
    it is late; returns how many of both were made.
    """
    steps = max(1, -(-rows // _ROWS_A_STEP))
    made = [0, 0]
    for step in range(steps):
        if is_late():
            break
        for which, (total, make) in enumerate(((rows, _strangers), (quarantined, _quarantined))):
            end = total * (step + 1) // steps
            psql(dsn, make(made[which], end, total))
            made[which] = end
    for table in ("inboxes", "addresses", "emails", "live_inbox_counts"):
        psql(dsn, f"ANALYZE mailbox.{table}")
    psql(dsn, "CHECKPOINT")
    return made[0], made[1]


@dataclass(frozen=True)
class Plan:
    """The plan by which a statement was run."""

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
    expected = {
        "session_preload_libraries": "auto_explain",
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_analyze": "on",
        "auto_explain.log_nested_statements": "on",
    }  # those of functions too
    for setting, value in expected.items():
        psql(dsn, f"LOAD 'auto_explain'; ALTER DATABASE \"{name}\" SET {setting} = '{value}'")
    try:
        restart()
        start = log.stat().st_size
        exercise()
        with log.open("rb") as text:
            text.seek(start)
            return read(text.read().decode("utf-8", "replace"))
    finally:
        for setting in expected:
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
