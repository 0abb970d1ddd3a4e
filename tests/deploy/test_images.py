"""The files that images and Compose are made of, without Docker: `./dev image --check` has it."""

import re
import subprocess
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from settings_table import settings

_ROOT = Path(__file__).resolve().parents[2]
_DOCKER = _ROOT / "deploy" / "docker"
_DOCKERFILE = (_DOCKER / "Dockerfile").read_text(encoding="utf-8")
_COMPOSE_TEXT = (_ROOT / "deploy" / "compose" / "compose.yaml").read_text(encoding="utf-8")
_COMPOSE: dict[str, Any] = yaml.safe_load(_COMPOSE_TEXT)
_SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]


def _variables() -> dict[str, set[str]]:
    """The environment variables of each program."""
    return {
        program: {"TEMPINBOX_" + name.upper().replace("-", "_") for name in names}
        for program, names in settings().items()
    }


def _stages() -> dict[str, str]:
    """The text of each named stage of the Dockerfile."""
    parts = re.split(r"^FROM \S+ AS (\S+)$", _DOCKERFILE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_dockerfile_has_no_syntax_of_buildkit() -> None:
    refused = re.findall(
        r"^# syntax=.*|^(?:RUN|COPY|ADD) --(?:mount|link|chmod|parents|exclude|checksum|security"
        r"|network)\b.*|^(?:RUN|COPY) .*<<.*",
        _DOCKERFILE,
        flags=re.MULTILINE,
    )
    assert refused == []


def test_every_image_has_a_target_and_none_names_a_registry() -> None:
    targets = set(_stages())
    assert targets >= {*_SERVICES, "tools", "all-in-one", "postgres", "kafka"}
    assert set(re.findall(r"^FROM (\S+)", _DOCKERFILE, flags=re.MULTILINE)) <= {
        "${BASE}",
        "scratch",
        *targets,
    }


def test_service_images_hold_what_was_collected_and_run_as_nobody() -> None:
    stages = _stages()
    assert "FROM scratch AS service" in _DOCKERFILE
    assert "USER 10001:10001" in stages["service"]
    for name in [*_SERVICES, "tools"]:
        assert f"FROM service AS {name}" in _DOCKERFILE
        assert f"COPY --from=roots /roots/{name} /" in stages[name]
        assert "RUN " not in stages[name]


def test_settings_of_images_exist() -> None:
    known, stages = _variables(), _stages()
    for name in _SERVICES:
        given = set(re.findall(r"\b(TEMPINBOX_[A-Z_]+)=", stages["service"] + stages[name]))
        assert given
        assert given <= known[name], name


def test_settings_of_compose_exist() -> None:
    known = _variables()
    services = _COMPOSE["services"]
    for name in _SERVICES:
        given = {key for key in services[name]["environment"] if key.startswith("TEMPINBOX_")}
        assert given
        assert given <= known[name], name
    every = set().union(*known.values())
    for name in ("migrate", "topics", "bootstrap"):
        assert set(services[name]["environment"]) <= every, name


def test_settings_of_the_all_in_one_image_exist() -> None:
    script = (_DOCKER / "all-in-one.sh").read_text(encoding="utf-8")
    own = {"TEMPINBOX_DOMAIN", "TEMPINBOX_EMAIL", "TEMPINBOX_PASSWORD"}
    given = set(re.findall(r"\b(TEMPINBOX_[A-Z_]+)=", script)) - own
    assert given <= set().union(*_variables().values())
    documented = (_ROOT / "docs" / "operations" / "images.md").read_text(encoding="utf-8")
    for name in own:
        assert f"`{name}`" in documented


def test_the_all_in_one_image_takes_logins_in_the_clear_from_private_networks_alone() -> None:
    script = (_DOCKER / "all-in-one.sh").read_text(encoding="utf-8")
    given = dict(re.findall(r"\b(TEMPINBOX_[A-Z_]+)=([^\s\\]*)", script))
    (private,) = re.findall(r"^private=(.*)$", script, flags=re.MULTILINE)
    exposed = re.findall(r"^EXPOSE (.*)$", _stages()["all-in-one"], flags=re.MULTILINE)
    port = given["TEMPINBOX_CAPTURE_CLEAR_PORTS"]

    assert given["TEMPINBOX_SUBMISSION_CLEAR_LISTEN"] == f"0.0.0.0:{port}"
    assert port in exposed[-1].split()
    assert given["TEMPINBOX_SUBMISSION_CLEAR_NETWORKS"] == "$private"
    for network in map(ip_network, private.split(",")):
        assert network.is_private, network
        assert network.prefixlen >= 7, network  # 0.0.0.0/0 counts as private, too


def test_the_all_in_one_image_takes_subdomains_of_its_domain() -> None:
    script = (_DOCKER / "all-in-one.sh").read_text(encoding="utf-8")

    bootstrap = script.index('ctl bootstrap --domain "$domain"')
    subdomains = script.index('ctl domain set "$domain" --subdomains on')
    assert bootstrap < subdomains < script.index("touch /tmp/ready")


def test_the_all_in_one_image_takes_logins_with_tls_by_settings_alone() -> None:
    page = (_ROOT / "docs" / "operations" / "images.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^# docker run (.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    given = dict(re.findall(r"-e (TEMPINBOX_[A-Z_]+)=(\S+)", command))
    listens = [value for name, value in given.items() if name.endswith("_LISTEN")]
    reported = [value for name, value in given.items() if name.endswith("_PORTS")]

    assert set(given) <= _variables()["mail-ingest"] | _variables()["gateway"]
    exposed = re.findall(r"^EXPOSE (.*)$", _stages()["all-in-one"], flags=re.MULTILINE)
    for outside, inside in zip(reported, listens, strict=True):
        port = inside.removeprefix("0.0.0.0:")
        assert f"-p {outside}:{port} " in command
        assert port in exposed[-1].split()


def test_compose_runs_every_service_hardened() -> None:
    services = _COMPOSE["services"]
    for name in [*_SERVICES, "migrate", "topics", "bootstrap", "smoke"]:
        service = services[name]
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_compose_gives_each_service_the_secrets_that_it_reads_and_no_others() -> None:
    services = _COMPOSE["services"]
    settings_of = {"rpc": "TEMPINBOX_RPC_TOKEN_FILE", "keys": "TEMPINBOX_MASTER_KEY_FILE"}
    for name in [*_SERVICES, "migrate", "topics", "bootstrap", "smoke"]:
        variables = services[name].get("environment", {})
        mounts = {mount.split(":")[0]: mount for mount in services[name].get("volumes", [])}
        for volume, variable in settings_of.items():
            path = variables.get(variable)
            assert (path is not None) == (volume in mounts), (name, volume)
            if path:
                assert mounts[volume] == f"{volume}:{Path(path).parent}:ro", name
    sealing = [name for name in _SERVICES if settings_of["keys"] in services[name]["environment"]]
    assert sealing == ["gateway", "webhook-dispatcher"]


def test_every_variable_of_compose_is_in_its_env_file() -> None:
    written = (_ROOT / "deploy" / "compose" / ".env").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([A-Z_]+)=", written, flags=re.MULTILINE))
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)\}", _COMPOSE_TEXT))
    assert used | {"COMPOSE_PROJECT_NAME"} == listed
    version = (_ROOT / "VERSION").read_text(encoding="ascii").strip()
    assert f"TEMPINBOX_VERSION={version}\n" in written


# The start of the image of PostgreSQL.


def _start_postgres(folder: Path, cut_at: str = "") -> subprocess.CompletedProcess[str]:
    """Runs postgres.sh on the folder's `data`, with programs that only write down what they would
    do; the one named `cut_at` ends the start.
    """
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, body in {
        "initdb": 'data=${3#--pgdata=}; mkdir "$data" "$data/base"; echo 17 >"$data/PG_VERSION"; '
        'echo local >"$data/pg_hba.conf"',
        "postgres": 'if [[ $1 == --single ]]; then cat >"$3/base/made"; else echo started; fi',
        "mv": '/bin/mv "$@"',
    }.items():
        cut = "; exit 9" if name == cut_at else ""
        (programs / name).write_text(f"#!/bin/bash\n{body}{cut}\n", encoding="ascii")
        (programs / name).chmod(0o755)
    script = (_DOCKER / "postgres.sh").read_text(encoding="utf-8")
    here = script.replace("PATH=/usr/bin", f"PATH={programs}:/usr/bin:/bin")
    environment = {
        "PGDATA": str(folder / "data"),
        "POSTGRES_USER": "tempinbox",
        "POSTGRES_PASSWORD": "secret",
        "POSTGRES_INITDB_ARGS": "--data-checksums --no-sync",
    }
    return subprocess.run(
        ["bash", "-c", here], env=environment, capture_output=True, text=True, check=False
    )


def _database(folder: Path) -> dict[str, str]:
    """The files of the folder's `data` with their content."""
    data = folder / "data"
    return {
        str(path.relative_to(data)): path.read_text(encoding="utf-8").strip()
        for path in data.rglob("*")
        if path.is_file()
    }


_MADE = {
    "PG_VERSION": "17",
    "base/made": 'CREATE DATABASE "tempinbox"',
    "pg_hba.conf": "local\nhost all all all scram-sha-256",
}


@pytest.mark.parametrize("cut_at", ["", "initdb", "postgres", "mv"])
def test_postgres_makes_its_database_however_often_the_first_start_is_cut_off(
    tmp_path: Path, cut_at: str
) -> None:
    if cut_at:
        # Each mv is made and ends the start: four of them are needed.
        for _ in range(4):
            assert _start_postgres(tmp_path, cut_at).returncode == 9

    assert _start_postgres(tmp_path).stdout == "started\n"

    assert _database(tmp_path) == _MADE
    assert [path.name for path in (tmp_path / "data").glob(".ma*")] == []


def test_postgres_keeps_a_database_that_another_image_made(tmp_path: Path) -> None:
    (tmp_path / "data" / "base").mkdir(parents=True)
    (tmp_path / "data" / "PG_VERSION").write_text("16", encoding="ascii")
    (tmp_path / "data" / "base" / "1").write_text("rows", encoding="ascii")

    _start_postgres(tmp_path)

    assert _database(tmp_path) == {"PG_VERSION": "16", "base/1": "rows"}
