"""Values, their schema, the page about them and the programs say the same."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chart import CASES, CHART, ROOT, SCHEMA, SERVICES, SETTINGS, VALUES, environment, find, render
from dev import paths
from generate import chart_files, kafka_acls

# Kubernetes' own objects, which the API server checks.
_OPEN = {"kubernetesObject"}


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _objects(schema: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if "object" in (schema.get("type") or []) and where:
            yield where, schema
        for key, value in schema.items():
            yield from _objects(value, f"{where}/{key}")
    elif isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from _objects(value, f"{where}/{number}")


def test_the_schema_is_closed_at_every_level() -> None:
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert SCHEMA["additionalProperties"] is False
    for where, schema in _objects(SCHEMA):
        if where.rsplit("/", maxsplit=1)[-1] not in _OPEN:
            # Closed, or a map of values of one form, such as labels.
            assert "additionalProperties" in schema, where


def _paths(values: dict[str, Any], at: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield f"{at}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{at}{key}.")


def _schema_at(path: str) -> dict[str, Any]:
    schema: dict[str, Any] = SCHEMA
    for key in path.split("."):
        schema = _resolve(schema)
        if schema is SCHEMA["definitions"]["kubernetesObject"]:
            break
        schema = schema.get("properties", {}).get(key) or schema["additionalProperties"]
        assert isinstance(schema, dict), f"{path} is not in the schema"
    return _resolve(schema)


def test_every_value_is_in_the_schema() -> None:
    for path in _paths(VALUES):
        assert _schema_at(path)


def _schema_paths(schema: dict[str, Any], at: str = "") -> Iterator[str]:
    for key, below in _resolve(schema).get("properties", {}).items():
        yield f"{at}{key}"
        yield from _schema_paths(below, f"{at}{key}.")


def test_every_property_of_the_schema_is_a_value() -> None:
    known = set(_paths(VALUES))
    # Values that need no comment: Helm's own, settings, and parts of resources.
    own = re.compile(
        r"global|.*\.settings\..*|.*resources\.(requests|limits)\.(cpu|memory|ephemeral-storage)"
        r"|.*\.existingSecretKeys"
    )
    defaults = set(_paths(VALUES["defaults"]))
    for path in _schema_paths(SCHEMA):
        is_of_defaults = path.startswith("services.") and path.split(".", 2)[-1] in defaults
        assert path in known or own.fullmatch(path) or is_of_defaults, path


def test_each_service_can_say_otherwise_in_everything() -> None:
    every = set(SCHEMA["properties"]["defaults"]["properties"])
    for service in SERVICES:
        of_service = SCHEMA["properties"]["services"]["properties"][service]["properties"]

        assert every <= set(of_service)


def test_generated_files_are_up_to_date() -> None:
    for path, text in chart_files.made(None).items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.relative_to(ROOT)}: python3 tools/generate/chart_files.py writes it anew"
        )


def test_the_settings_are_those_of_the_programs() -> None:
    programs = paths.build_folder("release") / "bin"
    if not (programs / "tempinbox-gateway").exists():
        pytest.fail("./dev build --preset release builds the programs that are asked")

    assert chart_files.settings_of(programs) == (CHART / "files" / "settings.json").read_text(
        encoding="utf-8"
    ), "python3 tools/generate/chart_files.py --bin build/release/bin writes them anew"


def _variables(names: dict[str, Any]) -> set[str]:
    return {f"TEMPINBOX_{name.upper().replace('-', '_')}" for name in names}


@pytest.mark.parametrize("case", CASES)
def test_no_pod_has_a_variable_that_its_program_does_not_know(case: str) -> None:
    objects = render(case)
    for service in SERVICES:
        pod = find(objects, "Deployment", f"tempinbox-{service}")["spec"]["template"]
        given = {name for name in environment(pod) if name.startswith("TEMPINBOX_")}

        assert given <= _variables(SETTINGS[service])


@pytest.mark.parametrize("service", SERVICES)
def test_the_program_takes_the_settings_of_its_pod(service: str, tmp_path: Path) -> None:
    program = paths.build_folder("release") / "bin" / f"tempinbox-{service}"
    objects = render("minimal", {"defaults": {"settings": {"drain-timeout": "20s"}}})
    pod = find(objects, "Deployment", f"tempinbox-{service}")["spec"]["template"]
    given = {
        name: value
        for name, value in environment(pod).items()
        if isinstance(value, str) and name.startswith("TEMPINBOX_")
    }
    contents = {
        "DATABASE": "postgresql://tempinbox@db.example.com/tempinbox",
        "RPC_TOKEN": "0123456789abcdef0123456789abcdef",
        "MASTER_KEY": "1:" + "A" * 43 + "=",
    }
    for name, content in contents.items():
        if f"TEMPINBOX_{name}_FILE" in given:
            path = tmp_path / name
            path.write_text(content + "\n", encoding="ascii")
            given[f"TEMPINBOX_{name}_FILE"] = str(path)
    if "TEMPINBOX_RPC_ADVERTISE" in given:
        given["TEMPINBOX_RPC_ADVERTISE"] = "10.244.1.7:9101"
    if "TEMPINBOX_SPOOL_DIRECTORY" in given:
        given["TEMPINBOX_SPOOL_DIRECTORY"] = str(tmp_path / "spool")
    checked = subprocess.run(
        [str(program), "--check-config"], env=given, capture_output=True, text=True
    )

    assert checked.returncode == 0, checked.stderr
    assert "is no setting" not in checked.stdout + checked.stderr


def test_numbers_arrive_as_they_were_written() -> None:
    objects = render(
        "minimal",
        {
            "services": {
                "mail-ingest": {"settings": {"cached-addresses": 2000000}},
                "gateway": {"settings": {"otel-traces-sampler-arg": 0.05}},
            }
        },
    )
    mail = find(objects, "Deployment", "tempinbox-mail-ingest")["spec"]["template"]
    gateway = find(objects, "Deployment", "tempinbox-gateway")["spec"]["template"]

    assert environment(mail)["TEMPINBOX_CACHED_ADDRESSES"] == "2000000"
    assert environment(gateway)["TEMPINBOX_OTEL_TRACES_SAMPLER_ARG"] == "0.05"


def test_false_and_nothing_win_over_defaults() -> None:
    objects = render(
        "minimal",
        {
            "defaults": {"priorityClassName": "high"},
            "services": {"inbox": {"priorityClassName": "", "enabled": True}},
        },
    )
    inbox = find(objects, "Deployment", "tempinbox-inbox")["spec"]["template"]["spec"]
    gateway = find(objects, "Deployment", "tempinbox-gateway")["spec"]["template"]["spec"]

    assert "priorityClassName" not in inbox
    assert gateway["priorityClassName"] == "high"


def test_topics_and_rights_are_those_of_the_code() -> None:
    access = json.loads((ROOT / "deploy" / "kafka" / "access.json").read_text(encoding="utf-8"))
    topics = json.loads((ROOT / "deploy" / "kafka" / "topics.json").read_text(encoding="utf-8"))
    names = {topic["name"] for topic in topics["topics"]}
    sources = {
        path: path.read_text(encoding="utf-8")
        for folder in ("libs", "services")
        for path in (ROOT / folder).rglob("*.[ch]pp")
    }
    whole = "\n".join(sources.values())

    assert f'"{access["broadcastGroups"]}"' in whole
    assert set(access["services"]) == set(SERVICES) - {"rate-limit"}
    for group in access["tools"]["groups"]:
        assert f'"{group}"' in whole
    used = set()
    for service, rights in access["services"].items():
        own = "\n".join(
            text for path, text in sources.items() if f"/services/{service}/" in str(path)
        )
        for group, read in rights["groups"].items():
            assert f'"{group}"' in whole
            used |= set(read)
        for topic in rights["broadcasts"]:
            assert f"topics::{topic.replace('.', '_')}" in own, (service, topic)
        used |= set(rights["writes"]) | set(rights["broadcasts"])
    assert used == names


def test_a_consumer_reads_the_public_topics_and_no_others() -> None:
    consumer = _schema_at("strimzi.users.consumers")["additionalProperties"]

    public = kafka_acls.Access.read().public_topics
    assert consumer["properties"]["reads"]["items"]["enum"] == public
