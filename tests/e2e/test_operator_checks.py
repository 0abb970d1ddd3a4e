"""Tests bootstrap, smoke and doctor on a new suite, and on one that misbehaves."""

import contextlib
import json
import socket
import stat
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import (
    Account,
    Api,
    Dashboard,
    Gateway,
    NameServer,
    Suite,
    WebhookDispatcher,
    eventually,
)
from harness.suite import ROOT

_LOOPBACK = "127.0.0.1"
_PHRASE = "correct horse battery"


def _ctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Whatever its exit code is."""
    return subprocess.run(
        [str(ROOT / "dev"), "ctl", "--", *arguments], capture_output=True, text=True, timeout=120
    )


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((_LOOPBACK, 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.fixture
def smoke(suite: Suite, account: Account, tmp_path: Path) -> list[str]:
    """The command with what it needs of this suite, for an account of the test's own."""
    key = tmp_path / "api-key"
    key.write_text(account.key + "\n")
    return ["smoke", "--api", suite["API"], "--smtp", suite["SMTP"], "--api-key-file", str(key)]


def _statuses(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {step["step"]: step["status"] for step in json.loads(done.stdout)["steps"]}


def _left(account: Account) -> list[Any]:
    inboxes = account.api.get("/v1/inboxes")["inboxes"]
    webhooks: list[Any] = account.api.get("/v1/webhooks")["webhooks"]
    return webhooks + [one for one in inboxes if one["status"] == "active"]


def test_a_smoke_test_goes_through_the_whole_suite_and_leaves_nothing(
    smoke: list[str], account: Account
) -> None:
    done = _ctl(*smoke, "--receiver", f"{_LOOPBACK}:{_free_port()}")

    assert done.returncode == 0, done.stdout + done.stderr
    *steps, summary = done.stdout.splitlines()
    assert [step.split()[:2] for step in steps] == [
        ["ok", name] for name in ("inbox", "endpoint", "mail", "wait", "code", "webhook", "clean")
    ]
    assert summary == "smoke test passed"
    assert _left(account) == []


def test_a_smoke_test_without_a_receiver_skips_webhooks(smoke: list[str]) -> None:
    done = _ctl(*smoke, "--json")

    assert done.returncode == 0, done.stdout + done.stderr
    assert _statuses(done) == {
        "inbox": "ok",
        "endpoint": "skipped",
        "mail": "ok",
        "wait": "ok",
        "code": "ok",
        "clean up": "ok",
    }


def test_a_private_receiver_is_skipped_where_the_operator_does_not_let_it_through(
    suite: Suite, smoke: list[str]
) -> None:
    with (
        WebhookDispatcher(suite, webhook_allow_networks="") as dispatcher,
        Gateway(suite, webhook_dispatcher_rpc=dispatcher.address) as gateway,
    ):
        smoke[smoke.index("--api") + 1] = f"http://{gateway.address}"
        done = _ctl(*smoke, "--receiver", f"{_LOOPBACK}:{_free_port()}")

    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if " endpoint " in line)
    assert line.startswith("skipped")
    assert line.endswith("receiver is private")


def test_a_smoke_test_names_the_smtp_server_that_is_away_and_cleans_up(
    smoke: list[str], account: Account
) -> None:
    away = f"{_LOOPBACK}:{_free_port()}"
    smoke[smoke.index("--smtp") + 1] = away

    done = _ctl(*smoke)

    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("failed"))
    assert line.split()[1] == "mail"
    assert f"SMTP server {away}: " in line
    assert _left(account) == []


def test_a_smoke_test_says_that_its_key_is_wrong_and_never_shows_it(
    suite: Suite, smoke: list[str], account: Account, tmp_path: Path
) -> None:
    wrong = account.key[:-1] + ("a" if account.key[-1] != "a" else "b")
    (tmp_path / "api-key").write_text(wrong)

    done = _ctl(*smoke)

    assert done.returncode == 1
    (line, _summary) = done.stdout.splitlines()
    assert line.startswith("failed   inbox")
    assert f"POST {suite['API']}/v1/inboxes: 401 Unauthorized" in line
    assert wrong not in done.stdout + done.stderr


def test_the_smoke_test_of_dev_ctl_knows_the_suite_and_its_key() -> None:
    done = _ctl("smoke")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "smoke test passed"


def test_a_smoke_test_without_a_key_is_a_wrong_command_line(suite: Suite) -> None:
    done = subprocess.run(
        [str(suite.program("tempinboxctl")), "smoke", "--api", suite["API"]],
        env={},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 2
    assert "--api-key-file or TEMPINBOX_API_KEY" in done.stderr


class _Bootstrap:
    """The command for a domain and an account of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.domain = f"{uuid.uuid4().hex[:12]}.example"
        self.email = f"{uuid.uuid4().hex[:12]}@example.com"
        self.key_file = folder / "api-key"
        self._password_file = folder / "password"
        self._password_file.write_text(_PHRASE + "\n")
        self._arguments = ["--domain", self.domain, "--email", self.email, "--plan", "premium"]
        self._arguments += ["--password-file", str(self._password_file)]

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        return _ctl("bootstrap", *self._arguments, "--json", *more)

    def changes(self, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
        assert done.returncode == 0, done.stdout + done.stderr
        assert _PHRASE not in done.stdout + done.stderr
        if self.key_file.exists():
            assert self.key_file.read_text().strip() not in done.stdout + done.stderr
        parts = json.loads(done.stdout)["parts"]
        return {part["part"]: part["change"] for part in parts if part["part"] != "plan"}


def test_bootstrap_makes_what_is_missing_and_does_no_harm_when_run_again(
    suite: Suite, tmp_path: Path
) -> None:
    bootstrap = _Bootstrap(tmp_path)
    with_key = ("--key-file", str(bootstrap.key_file))

    first = bootstrap.changes(bootstrap.run(*with_key))
    key = bootstrap.key_file.read_text()
    again = bootstrap.changes(bootstrap.run(*with_key))

    assert first == {"account": "made", "domain": "made", "key": "made"}
    assert again == {"account": "none", "domain": "none", "key": "none"}
    assert bootstrap.key_file.read_text() == key
    assert stat.S_IMODE(bootstrap.key_file.stat().st_mode) == 0o600
    assert len(suite.operate("key", "list", bootstrap.email)["keys"]) == 1
    api = Api(suite["API"], key.strip())
    assert api.get("/v1/account")["emailAddress"] == bootstrap.email
    addresses = {inbox["emailAddress"] for inbox in api.get("/v1/inboxes")["inboxes"]}
    assert addresses == {f"postmaster@{bootstrap.domain}", f"abuse@{bootstrap.domain}"}
    visitor = Dashboard(suite["API"])
    assert visitor.sign_in(bootstrap.email, _PHRASE).ok


def test_bootstrap_makes_no_key_unasked_and_leaves_files_of_others_alone(
    suite: Suite, tmp_path: Path
) -> None:
    bootstrap = _Bootstrap(tmp_path)
    assert "key" not in bootstrap.changes(bootstrap.run())
    bootstrap.key_file.write_text("another's\n")

    refused = bootstrap.run("--key-file", str(bootstrap.key_file))

    assert refused.returncode == 1
    assert "it stays as it is" in refused.stderr
    assert bootstrap.key_file.read_text() == "another's\n"
    assert suite.operate("key", "list", bootstrap.email)["keys"] == []


def test_bootstrap_sets_numbers_of_plans_from_a_file_once(tmp_path: Path, suite: Suite) -> None:
    bootstrap = _Bootstrap(tmp_path)
    (before,) = (one for one in suite.operate("plan", "list")["plans"] if one["plan"] == "starter")
    file = tmp_path / "plans.json"

    def change(hooks: int) -> str:
        file.write_text(json.dumps({"plans": [{"plan": "starter", "webhooks": hooks}]}))
        done = bootstrap.run("--plans", str(file))
        assert done.returncode == 0, done.stdout + done.stderr
        (part,) = (one for one in json.loads(done.stdout)["parts"] if one["part"] == "plan")
        changed: str = part["change"]
        return changed

    try:
        assert change(before["webhooks"] + 1) == "set"
        assert change(before["webhooks"] + 1) == "none"
    finally:
        assert change(before["webhooks"]) == "set"


def _findings(done: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(done.stdout)["findings"]
    return found


@pytest.mark.usefixtures("suite")
def test_doctor_finds_nothing_bad_in_a_suite_that_runs() -> None:
    # Partitions are made in the first seconds of a suite.
    def healthy() -> subprocess.CompletedProcess[str] | None:
        done = _ctl("doctor", "--partitions", "12", "--json")
        return done if done.returncode == 0 else None

    found = _findings(eventually(healthy, "a healthy suite", seconds=30))

    checks = {one["check"] for one in found}
    assert checks == {
        *("settings", "schemas", "topics", "events", "clocks", "partitions", "connections", "rpc")
    }
    # The suite of a test may run without fsync.
    assert {one["check"] for one in found if one["level"] == "warn"} <= {"settings"}
    services = {one["message"].split()[0] for one in found if one["check"] == "rpc"}
    assert services == {"inbox", "rate-limit", "webhook-dispatcher"}


@contextlib.contextmanager
def _lagging_database(suite: Suite) -> Iterator[str]:
    """Another database of the same server, as a migration before the last left it."""

    def execute(dsn: str, statement: str) -> None:
        subprocess.run(["psql", "-XAtq", "-d", dsn, "-c", statement], check=True)

    name = f"lagging_{uuid.uuid4().hex[:8]}"
    dsn = f"{suite['DATABASE'].rpartition('/')[0]}/{name}"
    execute(suite["DATABASE"], f"CREATE DATABASE {name}")
    try:
        migrate = [str(suite.program("tempinbox-migrate")), "--database", dsn]
        subprocess.run(migrate, check=True, capture_output=True)
        execute(dsn, "DELETE FROM tempinbox_migrations WHERE schema = 'mailbox' AND version > 1")
        yield dsn
    finally:
        execute(suite["DATABASE"], f"DROP DATABASE {name}")


def test_doctor_names_a_missing_topic_a_lagging_schema_and_a_replica_that_is_away(
    suite: Suite, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.json"
    name = f"missing-{uuid.uuid4().hex[:8]}"
    topics.write_text(json.dumps({"topics": [{"name": name, "partitions": 1}]}))
    away = f"{_LOOPBACK}:{_free_port()}"

    with _lagging_database(suite) as lagging:
        done = _ctl("doctor", "--topics", str(topics), "--database", lagging, "--inbox-rpc", away)

    assert done.returncode == 1
    bad = [line for line in done.stdout.splitlines() if line.startswith("bad")]
    assert f"bad   topics        topic {name} is missing; run tempinboxctl topics apply" in bad
    (schema,) = (line for line in bad if line.split()[1] == "schemas")
    assert schema.startswith("bad   schemas       schema mailbox is at 1, this release needs ")
    assert schema.endswith("; run tempinbox-migrate of this release")
    assert any(line.startswith(f"bad   rpc           inbox at {away}: ") for line in bad)


def test_doctor_verifies_the_ports_for_logins_as_a_client_does(suite: Suite) -> None:
    host = suite["SUBMISSION_HOST"]
    starttls = ["--submission", f"{host}:{suite['SUBMISSION_STARTTLS_PORT']}"]
    tls = ["--submissions", f"{host}:{suite['SUBMISSION_TLS_PORT']}"]

    def levels(*arguments: str) -> list[tuple[str, str]]:
        found = _findings(_ctl("doctor", *arguments, "--json"))
        return [(one["level"], one["message"]) for one in found if one["check"] == "submission"]

    trusting = levels(*starttls, *tls, "--submission-ca", suite["SUBMISSION_CA"])
    stranger = levels(*starttls, *tls)
    away = levels("--submissions", f"{_LOOPBACK}:{_free_port()}")

    assert [level for level, _ in trusting] == ["ok", "ok"]
    assert [level for level, _ in stranger] == ["bad", "bad"]
    assert all("certificate" in message for _, message in stranger)
    assert [level for level, _ in away] == ["bad"]


def test_doctor_looks_up_where_mail_for_domains_and_their_subdomains_goes(
    suite: Suite, account: Account
) -> None:
    domains = [f"{uuid.uuid4().hex[:12]}.example" for _ in range(6)]
    plain, right, lacking, wrong, left, emptied = domains
    for domain in domains:
        suite.operate("domain", "add", domain)
    for domain in (right, lacking, wrong, left, emptied):
        suite.operate("domain", "set", domain, "--subdomains", "on")
    account.api.new_inbox(localPart="*", domain=f"team.{left}")
    ended = account.api.new_inbox(localPart="*", domain=f"team.{emptied}")
    account.api.delete(f"/v1/inboxes/{ended['inboxId']}")
    for domain in (left, emptied):
        suite.operate("domain", "set", domain, "--subdomains", "off")
    exchangers = {domain: ["MX.Example.com"] for domain in domains}
    exchangers |= {f"*.{right}": ["mx.example.com"], f"*.{wrong}": ["mx.elsewhere.example"]}

    with NameServer(exchangers) as names:
        arguments = ["--mx", "mx.example.com", "--name-server", names.address]
        done = _ctl("doctor", *arguments, "--json")
    found = {one["message"]: one for one in _findings(done) if one["check"] == "dns"}

    assert done.returncode == 1
    for name in (*domains, f"*.{right}"):
        assert found[f"mail for {name} goes to mx.example.com"]["level"] == "ok"
    missing = found[f"*.{lacking} has no MX record: its mail does not come"]
    assert missing["level"] == "bad"
    assert missing["remedy"] == f"give it the record: *.{lacking}. MX 10 mx.example.com."
    assert found[f"mail for *.{wrong} goes to mx.elsewhere.example"]["level"] == "bad"
    # It takes no subdomains any more, but has one.
    assert found[f"*.{left} has no MX record: its mail does not come"]["level"] == "bad"
    assert not any(f"*.{name}" in message for message in found for name in (plain, emptied))


@pytest.mark.usefixtures("suite")
def test_doctor_says_that_no_name_server_answers() -> None:
    away = f"{_LOOPBACK}:{_free_port()}"
    arguments = ["--mx", "mx.example.com", "--name-server", away, "--timeout", "3"]
    found = _findings(_ctl("doctor", *arguments, "--json"))

    (unanswered,) = (one for one in found if one["check"] == "dns")
    assert unanswered["level"] == "bad"
    assert "--name-server" in unanswered["remedy"]


@pytest.mark.usefixtures("suite")
def test_doctor_names_what_it_cannot_reach() -> None:
    away = f"{_LOOPBACK}:{_free_port()}"
    done = _ctl("doctor", "--kafka-brokers", away, "--timeout", "3", "--json")

    assert done.returncode == 1
    # Another check may be late, too.
    (bad,) = (one for one in _findings(done) if one["level"] == "bad" and one["check"] == "topics")
    assert bad["message"].startswith("Kafka: ")
    assert "TEMPINBOX_KAFKA_BROKERS" in bad["remedy"]


@pytest.mark.usefixtures("suite")
def test_restore_has_nothing_to_settle_on_a_suite_that_runs() -> None:
    done = _ctl("restore", "check", "--json")

    assert done.returncode == 0, done.stdout + done.stderr
    steps = {one["step"]: one for one in json.loads(done.stdout)["steps"]}
    assert steps["version"]["status"] == "ok"
    assert steps["services"]["status"] == "manual"
    assert "tempinbox-gateway" in steps["services"]["message"]


@pytest.mark.usefixtures("suite")
def test_restore_settle_refuses_while_services_run_and_changes_nothing(account: Account) -> None:
    done = _ctl("restore", "settle", "--moment", "2026-01-01T00:00:00Z")

    assert done.returncode == 1
    assert "services run: tempinbox-gateway" in done.stderr
    assert account.api.get("/v1/inboxes")["inboxes"] == []


@pytest.mark.usefixtures("suite")
def test_restore_names_an_option_that_is_wrong() -> None:
    done = _ctl("restore", "settle", "--moment", "yesterday")

    assert done.returncode == 2
    assert "--moment must be a time such as" in done.stderr
