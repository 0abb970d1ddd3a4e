"""A service whose times and PostgreSQL's must agree does not start with another time."""

import json
import subprocess
from urllib.parse import quote

import pytest
from dev.ports import free_port
from harness import Inbox, MailIngest, Replica, Suite

_SCHEMA = "another_time"
# Found before PostgreSQL's own by whoever has the schema on its search path.
_CLOCK = f"""
    CREATE SCHEMA IF NOT EXISTS {_SCHEMA};
    CREATE OR REPLACE FUNCTION {_SCHEMA}.clock_timestamp() RETURNS timestamptz
        LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + interval '5 min' $$;
"""


@pytest.mark.parametrize("kind", [Inbox, MailIngest], ids=lambda kind: kind.service)
def test_a_process_whose_clock_is_minutes_off_ends_and_says_both_times(
    suite: Suite, kind: type[Replica]
) -> None:
    subprocess.run(["psql", "-XAtq", "-d", suite["DATABASE"], "-c", _CLOCK], check=True, timeout=30)
    settings = kind.settings_of(suite)
    search_path = quote(f"-csearch_path={_SCHEMA},pg_catalog,public")
    dsn = settings["TEMPINBOX_DATABASE"]
    environment = settings | {
        "TEMPINBOX_DATABASE": f"{dsn}{'&' if '?' in dsn else '?'}options={search_path}",
        "TEMPINBOX_ADMIN_LISTEN": f"127.0.0.1:{free_port()}",
        f"TEMPINBOX_{kind.listener.upper()}": f"127.0.0.1:{free_port()}",
    }

    ended = subprocess.run(
        [str(suite.program(f"tempinbox-{kind.service}"))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ended.returncode == 1
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    [failed] = [line for line in lines if line["msg"] == "failed"]
    here, there = failed["reason"].partition(": ")[0].split(", PostgreSQL's ")
    assert here.startswith("this clock says 20")
    assert there > here.removeprefix("this clock says ")
