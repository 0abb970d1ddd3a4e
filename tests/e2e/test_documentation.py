"""The contract that the API serves of itself is the one it is held against, and everybody may read
it.
"""

import re
from typing import Any

import pytest
import requests
from harness import Api, Suite
from harness.contract import contract
from harness.suite import ROOT

_FILES = ["/openapi.json", "/docs", "/docs/style.css"]


def test_the_contract_is_served_without_a_key(suite: Suite) -> None:
    answer = requests.get(suite["API"] + "/openapi.json", timeout=10)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == contract().content


def test_the_page_names_every_operation(suite: Suite) -> None:
    page = requests.get(suite["API"] + "/docs", timeout=10)

    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith(
        "default-src 'none'; style-src 'self';"
    )
    for item in contract().content["paths"].values():
        for operation in item.values():
            if "operationId" in operation:
                assert f'id="{operation["operationId"]}"' in page.text


@pytest.mark.parametrize("path", _FILES)
def test_who_has_it_already_gets_304(suite: Suite, path: str) -> None:
    first = requests.head(suite["API"] + path, timeout=10)
    assert (first.status_code, first.content) == (200, b"")

    again = requests.get(
        suite["API"] + path, headers={"If-None-Match": first.headers["ETag"]}, timeout=10
    )

    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", _FILES)
def test_nobody_writes_it(suite: Suite, path: str) -> None:
    answer = requests.post(suite["API"] + path, timeout=10)

    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", list(contract().content["paths"]))
def test_a_path_allows_the_methods_of_the_contract(api: Api, path: str) -> None:
    documented = {method for method, known in contract().operations() if known == path}

    answer = api.call("OPTIONS", path.replace("{", "").replace("}", ""))

    assert answer.status_code == 204
    assert set(answer.headers["Allow"].split(", ")) - {"HEAD", "OPTIONS"} == documented


def _request_headers(node: Any) -> set[str]:
    """Names of the header parameters anywhere in a part of the file."""
    if isinstance(node, list):
        return {name for inner in node for name in _request_headers(inner)}
    if not isinstance(node, dict):
        return set()
    named = {str(node["name"]).lower()} if node.get("in") == "header" and "name" in node else set()
    return named | {name for inner in node.values() for name in _request_headers(inner)}


def test_browsers_may_send_every_header_of_the_contract(suite: Suite) -> None:
    content = contract().content
    documented = _request_headers(content["components"]) | _request_headers(content["paths"])
    of_webhooks = {"webhook-id", "webhook-timestamp", "webhook-signature"}
    preflight = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}

    answer = requests.options(suite["API"] + "/v1/inboxes", headers=preflight, timeout=10)

    allowed = {
        name.strip().lower() for name in answer.headers["Access-Control-Allow-Headers"].split(",")
    }
    assert {"x-api-key", "if-none-match"} <= documented
    assert documented - of_webhooks <= allowed
    assert {"accept", "content-type"} <= allowed


def test_the_gateway_has_no_operation_beyond_the_contract() -> None:
    """A path nobody documented would not be asked for above, so the gateway's own table of routes
    is read.
    """
    source = (ROOT / "services" / "gateway" / "api" / "operations.cpp").read_text(encoding="utf-8")
    routes = [
        (method, "/v1" + path)
        for method, path in re.findall(r'emplace_back\(\s*"([A-Z]+)",\s*root \+ "(/[^"]*)"', source)
    ]

    assert len(routes) == len(set(routes))
    assert set(routes) == set(contract().operations())
