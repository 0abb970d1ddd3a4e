"""production.yaml of Compose, for one machine that keeps its data: what it adds, what it refuses,
and its backups, without Docker. `./dev image --check` runs it.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from settings_table import settings

_COMPOSE = Path(__file__).resolve().parents[2] / "deploy" / "compose"
_TEXT = (_COMPOSE / "production.yaml").read_text(encoding="utf-8")
_PRODUCTION: dict[str, Any] = yaml.safe_load(_TEXT)
_BASE: dict[str, Any] = yaml.safe_load((_COMPOSE / "compose.yaml").read_text(encoding="utf-8"))
_ENV = (_COMPOSE / "production.env").read_text(encoding="utf-8")
_SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]
_KEPT = ["postgres", "kafka", *_SERVICES]
_GOOD = {
    "MAIL_DOMAIN": "inbox.corp.test",
    "ACCOUNT_EMAIL": "ops@corp.test",
    "ACCOUNT_PASSWORD": "correct horse battery",
    "POSTGRES_PASSWORD": "0123456789abcdefABCDEF",
    "BACKUPS_KEPT": "7",
    "SIGNUP": "closed",
}


def _gibibytes(size: str) -> float:
    number, unit = int(size[:-1]), size[-1]
    return number / {"m": 1024, "g": 1}[unit]


# What it adds.


@pytest.mark.parametrize("name", _KEPT)
def test_what_keeps_running_has_limits_and_comes_back(name: str) -> None:
    service = _PRODUCTION["services"][name]

    assert service["restart"] == "always"
    assert service["stop_grace_period"] == "60s"
    assert 0 < _gibibytes(service["mem_limit"]) <= 1
    assert 0 < service["cpus"] <= 2
    assert 0 < service["pids_limit"] <= 512


def test_all_of_it_fits_into_the_machine_that_the_page_names() -> None:
    limits = [_gibibytes(_PRODUCTION["services"][name]["mem_limit"]) for name in _KEPT]

    assert sum(limits) <= 3.75
    assert "2 cores and 4 GB" in _TEXT


def test_every_service_rotates_its_log() -> None:
    for name in {*_BASE["services"], *_PRODUCTION["services"]}:
        logging = _PRODUCTION["services"][name]["logging"]
        assert logging == {"driver": "json-file", "options": {"max-size": "20m", "max-file": "5"}}


def test_what_is_acknowledged_is_on_the_disk() -> None:
    postgres = _PRODUCTION["services"]["postgres"]["command"]
    kafka = _PRODUCTION["services"]["kafka"]["environment"]

    assert {"fsync=on", "synchronous_commit=on", "full_page_writes=on"} <= set(postgres)
    assert kafka["KAFKA_LOG_FLUSH_INTERVAL_MESSAGES"] == "1"


def test_the_api_and_mail_have_tls_from_files() -> None:
    for name in ("gateway", "mail-ingest"):
        service = _PRODUCTION["services"][name]
        mounts = [mount for mount in service["volumes"] if isinstance(mount, dict)]
        assert [(mount["target"], mount["read_only"]) for mount in mounts] == [
            ("/certificates", True)
        ]
        assert service["environment"]["TEMPINBOX_TLS_CERTIFICATE_FILE"].startswith("/certificates/")
        assert service["environment"]["TEMPINBOX_TLS_KEY_FILE"].startswith("/certificates/")
    assert re.findall(r"^(?:API|SMTP)_PORT=(\d+)$", _ENV, flags=re.MULTILINE) == ["443", "25"]


def test_mail_by_login_is_taken_where_users_are_sent() -> None:
    gateway = _PRODUCTION["services"]["gateway"]["environment"]
    mail_ingest = _PRODUCTION["services"]["mail-ingest"]
    published = dict(one.split(":", 1)[1].rsplit(":", 1) for one in mail_ingest["ports"])

    # `mx.` is in the certificate, and is an alias of mail-ingest.
    assert gateway["TEMPINBOX_CAPTURE_HOST"] in mail_ingest["networks"]["default"]["aliases"]
    # Verified for the name that clients have.
    assert mail_ingest["environment"]["TEMPINBOX_CAPTURE_HOST"] == gateway["TEMPINBOX_CAPTURE_HOST"]
    for reported, listener in (
        ("TEMPINBOX_CAPTURE_STARTTLS_PORTS", "TEMPINBOX_SUBMISSION_LISTEN"),
        ("TEMPINBOX_CAPTURE_TLS_PORTS", "TEMPINBOX_SUBMISSIONS_LISTEN"),
    ):
        assert mail_ingest["environment"][listener] == f"0.0.0.0:{published[gateway[reported]]}"
    assert "TEMPINBOX_SUBMISSION_CLEAR_LISTEN" not in mail_ingest["environment"]
    assert re.findall(r"^SUBMISSIONS?_PORT=(\d+)$", _ENV, flags=re.MULTILINE) == ["587", "465"]


def test_doctor_sees_the_certificates_by_the_names_of_the_page() -> None:
    page = _COMPOSE.parents[1] / "docs" / "operations" / "one-vm.md"
    named = re.findall(r"--submission-ca (\S+?)/\w+\.pem", page.read_text(encoding="utf-8"))
    mounts = _PRODUCTION["services"]["ctl"]["volumes"]

    assert named == [mount["target"] for mount in mounts]
    assert mounts == [
        mount
        for mount in _PRODUCTION["services"]["mail-ingest"]["volumes"]
        if isinstance(mount, dict)
    ]


def test_webhooks_reach_public_addresses_by_tls_alone() -> None:
    environment = _PRODUCTION["services"]["webhook-dispatcher"]["environment"]

    assert environment["TEMPINBOX_WEBHOOK_ALLOW_HTTP"] == "false"
    assert environment["TEMPINBOX_WEBHOOK_ALLOW_NETWORKS"] == ""


def test_its_settings_exist() -> None:
    for name in _SERVICES:
        known = {"TEMPINBOX_" + setting.upper().replace("-", "_") for setting in settings()[name]}
        assert set(_PRODUCTION["services"][name].get("environment", {})) <= known, name


def test_everything_waits_for_the_check() -> None:
    for name in ("folders", "kafka", "keys"):
        assert "check" in _PRODUCTION["services"][name]["depends_on"]
    assert "folders" in _PRODUCTION["services"]["postgres"]["depends_on"]


def test_every_variable_is_in_the_file_to_copy_and_no_password_is() -> None:
    values = dict(re.findall(r"^([A-Z_]+)=(.*)$", _ENV, flags=re.MULTILINE))
    base = (_COMPOSE / "compose.yaml").read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)(?::\?[^}]*)?\}", _TEXT + base))

    assert used | {"COMPOSE_FILE", "COMPOSE_PROJECT_NAME"} == set(values)
    for name in ("MAIL_DOMAIN", "ACCOUNT_EMAIL", "ACCOUNT_PASSWORD", "POSTGRES_PASSWORD"):
        assert values[name] == ""
        assert f"${{{name}:?" in _TEXT
    version = (_COMPOSE.parents[1] / "VERSION").read_text(encoding="ascii").strip()
    assert values["TEMPINBOX_VERSION"] == version


def _port(published: str | dict[str, Any]) -> str:
    """A port as Compose 1 of Debian 12 lists it; Compose 2 of Debian 13 says it in parts."""
    if isinstance(published, str):
        return published
    return "{host_ip}:{published}:{target}/{protocol}".format(**published)


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not here")
def test_compose_merges_it_and_refuses_what_is_not_set(tmp_path: Path) -> None:
    for name in ("compose.yaml", "production.yaml"):
        shutil.copy(_COMPOSE / name, tmp_path)
    (tmp_path / ".env").write_text(_ENV, encoding="utf-8")
    config = ["docker-compose", "--profile", "ctl", "config"]
    path = {"PATH": "/usr/bin:/bin"}

    refused = subprocess.run(config, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert refused.returncode != 0
    assert re.search(r"set [A-Z_]+ in .env", refused.stderr)

    done = subprocess.run(
        config, cwd=tmp_path, env=path | _GOOD, capture_output=True, text=True, check=True
    )
    merged = yaml.safe_load(done.stdout)["services"]
    published = {
        name: sorted(map(_port, service["ports"]))
        for name, service in merged.items()
        if "ports" in service
    }
    assert published == {
        "gateway": ["0.0.0.0:443:8080/tcp"],
        "mail-ingest": ["0.0.0.0:25:2525/tcp", "0.0.0.0:465:2465/tcp", "0.0.0.0:587:2587/tcp"],
    }
    assert merged["gateway"]["environment"]["TEMPINBOX_SIGNUP"] == "closed"
    assert merged["gateway"]["read_only"] is True
    # What the base has, and the certificates.
    mounts = merged["ctl"]["volumes"]
    targets = [it["target"] if isinstance(it, dict) else it.split(":")[1] for it in mounts]
    assert sorted(targets) == ["/account", "/certificates", "/rpc"]


# What it refuses.


def _check(folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(_COMPOSE / "check.sh"), str(folder)],
        env={"PATH": "/usr/bin:/bin"} | _GOOD | changed,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder with files that begin as certificate and key do."""
    (tmp_path / "fullchain.pem").write_text("-----BEGIN CERTIFICATE-----\n", encoding="ascii")
    (tmp_path / "privkey.pem").write_text("-----BEGIN EC PRIVATE KEY-----\n", encoding="ascii")
    return tmp_path


def test_good_settings_pass(certificates: Path) -> None:
    done = _check(certificates)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("MAIL_DOMAIN", "inbox.example", "is that of the example"),
        ("MAIL_DOMAIN", "Inbox.corp.test", "in small letters"),
        ("MAIL_DOMAIN", "localhost", "must be a name such as"),
        ("MAIL_DOMAIN", "a..test", "must be a name such as"),
        ("ACCOUNT_EMAIL", "me@example.com", "is that of the example"),
        ("ACCOUNT_EMAIL", "ops", "must be an address"),
        ("ACCOUNT_PASSWORD", "change-me-please", "is that of the example"),
        ("ACCOUNT_PASSWORD", "short", "at least 12 characters"),
        ("POSTGRES_PASSWORD", "tempinbox", "16 to 128 letters and digits"),
        ("POSTGRES_PASSWORD", "p@ssword/with:signs", "16 to 128 letters and digits"),
        ("BACKUPS_KEPT", "0", "a number from 1 to 999"),
        ("SIGNUP", "yes", "open or closed"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(
    certificates: Path, variable: str, value: str, reason: str
) -> None:
    done = _check(certificates, **{variable: value})

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"refused: {variable} ")
    assert reason in line


def test_missing_and_wrong_certificate_files_are_refused_together(tmp_path: Path) -> None:
    (tmp_path / "privkey.pem").write_text("not a key", encoding="ascii")

    done = _check(tmp_path)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "refused: CERTIFICATES has no fullchain.pem",
        "refused: CERTIFICATES: privkey.pem has no PRIVATE KEY in PEM",
    ]


# Its backups.


def _backup(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = (_COMPOSE / "backup.sh").read_text(encoding="utf-8")
    local = folder / "backup.sh"
    local.write_text(script.replace("exec gosu", "exec false"), encoding="utf-8")
    return subprocess.run(
        ["bash", str(local), *arguments],
        env={
            "PATH": "/usr/bin:/bin",
            "BACKUP_FOLDER": str(folder),
            "PGDATA": str(folder / "data"),
            "BACKUPS_KEPT": "2",
        },
        capture_output=True,
        text=True,
    )


def _segment(number: int, timeline: int = 1) -> str:
    return f"{timeline:08X}{0:08X}{number:08X}"


def _archive(folder: Path, number: int, content: bytes) -> subprocess.CompletedProcess[str]:
    written = folder / "segment"
    written.write_bytes(content)
    return _backup(folder, "archive", str(written), _segment(number))


def test_a_segment_is_archived_once_and_comes_back(tmp_path: Path) -> None:
    assert _archive(tmp_path, 1, b"wal" * 1000).returncode == 0
    assert (
        _archive(tmp_path, 1, b"wal" * 1000).returncode == 0
    )  # PostgreSQL asks again after a crash

    other = _archive(tmp_path, 1, b"others")
    assert other.returncode != 0
    assert "with other content" in other.stderr

    back = tmp_path / "back"
    assert _backup(tmp_path, "fetch", _segment(1), str(back)).returncode == 0
    assert back.read_bytes() == b"wal" * 1000
    assert _backup(tmp_path, "fetch", _segment(2), str(tmp_path / "none")).returncode == 1
    assert not (tmp_path / "none").exists()


def _base(folder: Path, name: str, first: int) -> None:
    base = folder / name
    base.mkdir()
    label = f"START WAL LOCATION: 0/{first}000028 (file {_segment(first)})\n"
    (base / "backup_label").write_text(label, encoding="ascii")
    # As after a restore that went before.
    earlier = "work_mem = '8MB'\nrecovery_target_time = '2020-01-01 00:00:00+00'\n"
    (base / "postgresql.auto.conf").write_text(earlier, encoding="ascii")


def test_old_backups_go_with_the_wal_that_only_they_need(tmp_path: Path) -> None:
    for number in range(1, 8):
        _archive(tmp_path, number, b"x")
    (tmp_path / "wal" / "00000002.history.gz").touch()
    for day, first in ((1, 2), (2, 4), (3, 6)):
        _base(tmp_path, f"base-2026112{day}T000000Z", first)

    done = _backup(tmp_path, "prune")

    assert done.returncode == 0, done.stderr
    assert _backup(tmp_path, "list").stdout.split() == [
        "base-20261122T000000Z",
        "base-20261123T000000Z",
    ]
    left = {path.name for path in (tmp_path / "wal").iterdir()}
    assert left == {"00000002.history.gz", *(f"{_segment(number)}.gz" for number in range(4, 8))}


def test_a_restore_keeps_the_data_before_and_names_the_moment(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("17\n", encoding="ascii")
    (data / "later").touch()
    _base(tmp_path, "base-20261121T000000Z", 2)

    done = _backup(tmp_path, "restore", "base-20261121T000000Z", "2026-11-21 10:30:00+00")

    assert done.returncode == 0, done.stderr
    assert not (data / "later").exists()
    assert (data / "recovery.signal").exists()
    written = (data / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert "work_mem = '8MB'" in written
    assert re.findall("^recovery_target_time.*", written, flags=re.MULTILINE) == [
        "recovery_target_time = '2026-11-21 10:30:00+00'"
    ]
    (before,) = tmp_path.glob("before-*")
    assert (before / "later").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["base-20261120T000000Z"], "there are: base-20261121T000000Z"),
        (["base-20261121T000000Z", "2026-11-21T10:30:00Z"], "in UTC, such as"),
        (["base-20261121T000000Z", "2026-11-21 10:30:00'+00"], "in UTC, such as"),
        (["../data"], "there is no backup"),
    ],
)
def test_a_restore_that_cannot_be_is_refused_and_changes_nothing(
    tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").touch()
    _base(tmp_path, "base-20261121T000000Z", 2)

    done = _backup(tmp_path, "restore", *arguments)

    assert done.returncode == 1
    assert reason in done.stderr
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["PG_VERSION"]


def test_a_restore_under_a_running_server_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "postmaster.pid").touch()
    _base(tmp_path, "base-20261121T000000Z", 2)

    done = _backup(tmp_path, "restore", "base-20261121T000000Z")

    assert "docker-compose stop postgres" in done.stderr
