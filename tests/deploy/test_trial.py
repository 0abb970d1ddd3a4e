"""Tests the two files of values beside the chart's own: the trial, and small installations."""

import re
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped] # it brings no types
import pytest
import yaml
from chart import (
    CHART,
    SERVICES,
    Object,
    Values,
    environment,
    find,
    notes,
    of_kind,
    pod_templates,
    refusal,
    render,
)

_FIXED = {"trial": {"secret": "for tests"}}


def _trial(values: Values | None = None) -> list[Object]:
    return render("trial", {**_FIXED, **(values or {})})


def test_an_operator_fills_in_five_lines_at_most() -> None:
    text = (CHART / "values.trial.yaml").read_text(encoding="utf-8")
    own = re.split(r"\n\n", text)[1].splitlines()

    assert len([line for line in own if not line.startswith("#")]) <= 5


def test_a_trial_brings_all_that_the_services_need() -> None:
    objects = _trial()
    secret = find(objects, "Secret", "tempinbox-dev")["stringData"]
    dsn = secret["uri"]

    assert f"tempinbox:{secret['postgres-password']}@tempinbox-postgres.mail.svc" in dsn
    for name in (*SERVICES, "postgres", "kafka"):
        assert find(objects, "Deployment", f"tempinbox-{name}")["spec"]["replicas"] == 1
    gateway = find(objects, "Deployment", "tempinbox-gateway")["spec"]["template"]
    brokers = environment(gateway)["TEMPINBOX_KAFKA_BROKERS"]
    kafka = environment(find(objects, "Deployment", "tempinbox-kafka")["spec"]["template"])
    assert kafka["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{brokers}"


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_kubernetes_knows_every_field_of_a_trial(version: str) -> None:
    for each in _trial():
        kubernetes_validate.validate(each, version, strict=True)


def test_its_secrets_differ_by_purpose_and_by_trial() -> None:
    one = find(_trial(), "Secret", "tempinbox-dev")["stringData"]
    other = find(render("trial"), "Secret", "tempinbox-dev")["stringData"]

    assert len(set(one.values())) == len(one)
    assert not set(one.values()) & set(other.values())
    assert one == find(_trial(), "Secret", "tempinbox-dev")["stringData"]


def test_its_database_and_broker_are_as_restricted_as_the_services() -> None:
    pods = {where: pod["spec"] for where, pod in pod_templates(_trial())}

    for name in ("postgres", "kafka"):
        spec: dict[str, Any] = pods[f"Deployment/tempinbox-{name}"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["enableServiceLinks"] is False
        (container,) = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]


def test_only_the_release_reaches_its_database_and_broker() -> None:
    for name, port in (("postgres", 5432), ("kafka", 9092)):
        spec = find(_trial(), "NetworkPolicy", f"tempinbox-{name}")["spec"]
        (rule,) = spec["ingress"]
        assert rule["ports"] == [{"port": port}]
        peers = [
            it["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for it in rule["from"]
        ]
        assert set(peers) == {*SERVICES, "tools", "setup"}
        assert spec["egress"] == []


def test_the_first_key_is_made_after_the_account() -> None:
    jobs = {each["metadata"]["name"]: each for each in of_kind(_trial(), "Job")}
    bootstrap, key = jobs["tempinbox-bootstrap"], jobs["tempinbox-trial-key"]

    weights = [
        int(job["metadata"]["annotations"]["helm.sh/hook-weight"]) for job in (bootstrap, key)
    ]
    assert weights == sorted(set(weights))
    # An upgrade makes no second key.
    assert key["metadata"]["annotations"]["helm.sh/hook"] == "post-install"


def test_the_notes_say_how_to_begin_and_what_a_trial_is_not() -> None:
    shown = notes("trial", _FIXED)

    assert "logs job/tempinbox-trial-key" in shown
    assert "curl" in shown
    assert "their data go with it" in shown


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"dev": False}, "trial.enabled keeps generated secrets in Helm's release"),
        ({"setup": {"hook": True, "job": False}}, "before the database of trial.enabled exists"),
        ({"setup": {"bootstrap": {"enabled": False}}}, "trial.enabled makes a key of the first"),
        ({"database": {"existingSecret": "db"}}, "trial.enabled makes a database, but"),
    ],
)
def test_a_trial_beside_something_else_is_refused(values: Values, said: str) -> None:
    assert said in refusal("trial", values)


def test_small_installations_ask_for_a_quarter_and_three_connections() -> None:
    small = yaml.safe_load((CHART / "values.small.yaml").read_text(encoding="utf-8"))
    objects = render("ha", small)

    for name in SERVICES:
        pod = find(objects, "Deployment", f"tempinbox-{name}")["spec"]["template"]
        assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "250m"
        assert environment(pod)["TEMPINBOX_DATABASE_CONNECTIONS"] == "3"
