"""The metrics of all five services, as Prometheus reads them."""

import re
import subprocess
import time

import pytest
import requests
from generate import alert_pages
from harness.api import Api
from harness.suite import Suite

_SERVICES = ("gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher")
_PREFIXES = ("tempinbox_", "http_", "messaging_", "process_")
# Their labels' values come from what happens, so a fresh suite may not show them yet.
_FROM_FIRST_USE = {
    "messaging_client_operation_duration_seconds",
    "messaging_process_duration_seconds",
    "tempinbox_mail_ingest_connections_refused_total",
    "tempinbox_mail_ingest_recipients_total",
    "tempinbox_rpc_client_duration_seconds",
    "tempinbox_smtp_transactions_total",
}


def _metrics(suite: Suite, service: str) -> str:
    admin = suite.of_each(service, "ADMIN")[0]
    return requests.get(f"http://{admin}/metrics", timeout=10).text


def _value(text: str, series: str) -> float:
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    assert found, f"{series} is not there"
    return float(found[1])


@pytest.mark.parametrize("service", _SERVICES)
def test_promtool_finds_nothing_to_say_of_the_metrics(suite: Suite, service: str) -> None:
    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        input=_metrics(suite, service),
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.stdout + checked.stderr == ""
    assert checked.returncode == 0


@pytest.mark.parametrize("service", _SERVICES)
def test_names_have_a_known_prefix_and_help_texts_one_form(suite: Suite, service: str) -> None:
    helps = dict(re.findall(r"^# HELP (\w+) (.+)$", _metrics(suite, service), re.MULTILINE))

    assert [name for name in helps if not name.startswith(_PREFIXES)] == []
    assert [text for text in helps.values() if text.endswith(".") or not text[0].isupper()] == []


@pytest.mark.parametrize("service", _SERVICES)
def test_a_service_that_works_shows_its_dependencies_and_tasks(suite: Suite, service: str) -> None:
    text = _metrics(suite, service)

    assert _value(text, "tempinbox_ready") == 1
    assert _value(text, 'tempinbox_dependency_up{dependency="postgresql"}') == 1
    assert _value(text, "tempinbox_event_loop_busy_seconds_total") > 0
    assert _value(text, 'tempinbox_db_pool_job_seconds_count{outcome="ok",pool="main"}') > 0
    succeeded = re.findall(
        r'^tempinbox_task_last_success_timestamp_seconds\{task="\w+"\} (\S+)$', text, re.MULTILINE
    )
    assert any(float(time) > 0 for time in succeeded)


@pytest.mark.parametrize(
    ("service", "table"),
    [
        ("inbox", "mailbox.emails"),
        ("inbox", "mailbox.bodies"),
        ("webhook-dispatcher", "webhooks.deliveries"),
    ],
)
def test_partitions_are_made_hours_ahead(suite: Suite, service: str, table: str) -> None:
    text = _metrics(suite, service)

    hour = 3600
    assert _value(text, f'tempinbox_partitions_ahead_seconds{{table="{table}"}}') > 20 * hour
    assert _value(text, f'tempinbox_default_partition_rows{{table="{table}"}}') == 0


def test_the_certificate_of_the_ports_for_logins_shows_when_it_ends(suite: Suite) -> None:
    file = suite["SUBMISSION_CA"]
    series = (
        f'tempinbox_certificate_expiry_timestamp_seconds{{file="{file}",'
        'setting="submission-tls-certificate-file"}'
    )

    assert _value(_metrics(suite, "mail-ingest"), series) > time.time()


def test_clients_verify_the_certificate_of_the_ports_for_logins(suite: Suite) -> None:
    series = 'tempinbox_certificate_verified{setting="submission-tls-certificate-file"}'

    assert _value(_metrics(suite, "mail-ingest"), series) == 1


def test_calls_between_services_are_measured_by_their_outcome(suite: Suite, api: Api) -> None:
    api.new_inbox()

    text = _metrics(suite, "gateway")

    assert re.search(
        r'^tempinbox_rpc_client_duration_seconds_count\{code="ok",method="\w+",'
        r'service="tempinbox\.\w+\.v1\.\w+"\} [1-9]',
        text,
        re.MULTILINE,
    )


def test_alerts_and_dashboard_ask_for_metrics_that_are_there(suite: Suite) -> None:
    text = "\n".join(_metrics(suite, service) for service in _SERVICES)
    there = set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))

    missing = {
        alert_pages.family(name)
        for _, expression in alert_pages.expressions()
        for name in alert_pages.metrics_of(expression)
    } - there

    assert missing - _FROM_FIRST_USE == set()
