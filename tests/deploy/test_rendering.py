"""Every example renders, the same each time, into objects that Kubernetes takes."""

import json
from pathlib import Path
from typing import Any

import goldens
import jsonschema
import kubernetes_validate  # type: ignore[import-untyped] # it brings no types
import pytest
import yaml
from chart import (
    CASES,
    CHART,
    LONG_RELEASE,
    ROOT,
    Values,
    find,
    lint,
    notes,
    of_kind,
    render,
    text,
)

_CUSTOM = yaml.safe_load(
    Path(__file__).with_name("custom_resources.yaml").read_text(encoding="utf-8")
)
_OLDEST, _NEWEST = "1.31", "1.37"
# The chart does not own what an operator adds by extraObjects.
_OWN_OF_OPERATOR = {"ExternalSecret"}


@pytest.mark.parametrize("case", CASES)
def test_helm_finds_nothing_to_complain_of(case: str) -> None:
    linted = lint(case)

    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("case", CASES)
def test_a_second_rendering_is_the_same_byte_for_byte(case: str) -> None:
    # A value that says nothing, so that the answer is no cached one.
    assert text(case) == text(case, {"dev": case == "proxy"})


@pytest.mark.parametrize("case", CASES)
def test_it_renders_what_it_rendered_before(case: str, updates: bool) -> None:
    rendered, path = goldens.make(case), goldens.path_of(case)
    if updates:
        path.write_text(rendered, encoding="utf-8")

    assert rendered == path.read_text(encoding="utf-8"), (
        f"{case} changed; if that is meant: ./dev test deploy --only=--update"
    )


@pytest.mark.parametrize("version", [_OLDEST, _NEWEST])
@pytest.mark.parametrize("case", CASES)
def test_kubernetes_knows_every_field(case: str, version: str) -> None:
    for each in render(case):
        if each["kind"] not in _CUSTOM and each["kind"] not in _OWN_OF_OPERATOR:
            kubernetes_validate.validate(each, version, strict=True)


def test_the_oldest_version_is_the_one_that_the_chart_asks_for() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))

    assert chart["kubeVersion"] == f">={_OLDEST}.0-0"
    version = (ROOT / "VERSION").read_text(encoding="ascii").strip()
    assert (chart["version"], chart["appVersion"]) == (version, version)


def _closed(schema: Any) -> Any:
    """A schema in which each list of properties is the whole of it."""
    if isinstance(schema, dict):
        closed = {key: _closed(value) for key, value in schema.items()}
        if "properties" in closed:
            closed.setdefault("additionalProperties", False)
        return closed
    return [_closed(each) for each in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("case", CASES)
def test_operators_know_every_field_of_their_objects(case: str) -> None:
    for each in render(case):
        if known := _CUSTOM.get(each["kind"]):
            assert each["apiVersion"] == known["apiVersion"]
            jsonschema.validate(each["spec"], _closed(known["spec"]))


def test_each_kind_of_an_operator_is_rendered_by_some_example() -> None:
    kinds = {each["kind"] for case in CASES for each in render(case)}

    assert set(_CUSTOM) - kinds <= (set() if _alerts() else {"PrometheusRule"})


@pytest.mark.parametrize("case", CASES)
def test_no_name_is_too_long_for_the_longest_release(case: str) -> None:
    objects = render(case, release=LONG_RELEASE)
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]

    assert len(names) == len(set(names))
    for kind, name in names:
        assert len(name) <= 63, f"{kind}/{name}"
    for each in objects:
        for value in each["metadata"].get("labels", {}).values():
            assert len(value) <= 63


def test_two_long_releases_have_different_names() -> None:
    ours = {each["metadata"]["name"] for each in of_kind(render("minimal"), "Deployment")}
    one = {
        each["metadata"]["name"]
        for each in of_kind(render("minimal", release=LONG_RELEASE), "Deployment")
    }
    other = {
        each["metadata"]["name"]
        for each in of_kind(render("minimal", release=LONG_RELEASE[:-1] + "x"), "Deployment")
    }

    assert not one & other
    assert not ours & one


def _alerts() -> list[Path]:
    return [path for path in sorted(CHART.glob("alerts/*.yaml")) if "groups:" in path.read_text()]


def test_the_alerts_come_as_they_are() -> None:
    rendered = of_kind(render("ha", {"prometheusRule": {"runbookBase": ""}}), "PrometheusRule")
    groups = [each["spec"]["groups"] for each in rendered]
    limits = [it for it in groups if it[0]["name"] == "tempinbox-limits"]
    files = [yaml.safe_load(path.read_text(encoding="utf-8"))["groups"] for path in _alerts()]

    assert sorted(groups, key=str) == sorted(files + limits, key=str)


def test_limits_that_no_program_exports_are_recorded() -> None:
    values = {"database": {"maxConnections": 500, "reservedConnections": 20}}
    recorded = {
        rule["record"]: rule["expr"]
        for each in of_kind(render("ha", values), "PrometheusRule")
        for group in each["spec"]["groups"]
        for rule in group["rules"]
        if "record" in rule
    }

    assert recorded == {
        "namespace:tempinbox_db_connections:limit": "vector(480)",
        "namespace:tempinbox_mail_ingest_spool_bytes:limit": f"vector({2 << 30})",
    }


def test_an_alert_can_be_left_out_and_labelled() -> None:
    if not _alerts():
        pytest.skip("there are no alerts")
    chosen = {"exclude": ["DependencyAway"], "ruleLabels": {"team": "mail"}}
    rules = [
        rule
        for each in of_kind(render("ha", {"prometheusRule": chosen}), "PrometheusRule")
        for group in each["spec"]["groups"]
        for rule in group["rules"]
    ]

    assert "DependencyAway" not in {rule.get("alert") for rule in rules}
    assert {rule["labels"]["team"] for rule in rules if "alert" in rule} == {"mail"}
    assert all(
        rule["annotations"]["runbook_url"].startswith("https://runbooks.example.com/docs/")
        for rule in rules
        if "alert" in rule
    )


def test_the_dashboards_come_as_they_are() -> None:
    for path in sorted(CHART.glob("dashboards/*.json")):
        name = f"tempinbox-dashboard-{path.stem[:14]}"
        shown = find(render("ha"), "ConfigMap", name)

        assert json.loads(shown["data"][path.name]) == json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_the_notes_say_what_comes_next(case: str) -> None:
    said = notes(case)

    assert "helm -n mail test tempinbox" in said
    assert "<no value>" not in said


@pytest.mark.parametrize(
    ("case", "published"),
    [("proxy", {"ingress": {"enabled": True}}), ("ha", {"httpRoute": {"enabled": True}})],
)
def test_the_notes_warn_of_a_proxy_that_is_not_trusted(case: str, published: Values) -> None:
    warning = "services.gateway.settings.trusted-proxies is empty"
    untrusted = {"services": {"gateway": {"settings": {"trusted-proxies": ""}}}}

    assert warning in notes(case, {**published, **untrusted})
    assert warning not in notes(case, published)


def test_the_notes_say_what_a_route_to_a_tls_port_needs() -> None:
    tls = {"services": {"gateway": {"tls": {"existingSecret": "api-certificate"}}}}

    assert "BackendTLSPolicy" in notes("ha", tls)
    assert "BackendTLSPolicy" not in notes("ha")
