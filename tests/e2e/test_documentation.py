"""The contract that the API serves of itself is the one it is held against, and everybody may read
it. The dashboard's API has one as well, which names every one of its routes.
"""

import copy
import functools
import http.client
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import requests
import yaml
from harness import Api, Dashboard, Suite, User
from harness.contract import Answer, Contract, contract, dashboard_contract
from harness.suite import ROOT

_FILES = [
    "/openapi.json",
    "/docs",
    "/docs/style.css",
    "/docs/events",
    "/docs/events/asyncapi.json",
    "/docs/api.md",
    "/docs/openapi.yaml",
    "/llms.txt",
]
# Links of Markdown outside of fenced code; of pictures as well.
_FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_PAGES = sorted(it.relative_to(ROOT).as_posix() for it in (ROOT / "docs").rglob("*.md"))


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


def test_the_contract_of_the_events_is_served_and_shown(suite: Suite) -> None:
    described = requests.get(suite["API"] + "/docs/events/asyncapi.json", timeout=10)
    page = requests.get(suite["API"] + "/docs/events", timeout=10)

    contract_of_events = yaml.safe_load(
        (ROOT / "docs" / "events" / "asyncapi.yaml").read_text(encoding="utf-8")
    )
    assert described.json() == contract_of_events
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert 'id="topic-email.received"' in page.text


def _linked(suite: Suite, path: str) -> set[str]:
    """The addresses at this gateway to which a page leads."""
    page = requests.get(f"{suite['API']}/{path}", timeout=10)
    assert page.status_code == 200, path
    links = _LINK.findall(_FENCED.sub("", page.text))
    return {urljoin(page.url, it) for it in links if not re.match(r"https?:", it)}


@pytest.fixture(scope="module")
def status_of() -> Callable[[str], int]:
    """Returns the status of an address, which is requested once."""
    return functools.cache(lambda address: requests.head(address, timeout=10).status_code)


@pytest.mark.parametrize("page", _PAGES)
def test_every_page_is_served_as_markdown(
    suite: Suite, status_of: Callable[[str], int], page: str
) -> None:
    answer = requests.get(f"{suite['API']}/{page}", timeout=10)

    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.text.splitlines()[0] == (ROOT / page).read_text("utf-8").splitlines()[0]
    dead = {it for it in _linked(suite, page) if status_of(it) != 200}
    assert not dead


def test_llms_txt_leads_to_every_page(suite: Suite, status_of: Callable[[str], int]) -> None:
    linked = _linked(suite, "llms.txt")

    assert {f"{suite['API']}/{it}" for it in _PAGES} <= linked
    assert not {it for it in linked if status_of(it) != 200}


@pytest.mark.parametrize(
    "path", ["/docs/../README.md", "/docs/%2e%2e/README.md", "/docs/..%2fREADME.md", "/docs/x.md"]
)
def test_what_is_no_page_is_not_found(suite: Suite, path: str) -> None:
    # Uses http.client, which leaves the path as it is.
    address = urlsplit(suite["API"])
    connection = http.client.HTTPConnection(address.netloc, timeout=10)
    connection.request("GET", path)

    assert connection.getresponse().status == 404
    connection.close()


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


@pytest.fixture
def outgoing(monkeypatch: pytest.MonkeyPatch) -> Contract:
    """Returns the contract with reading the usage marked as deprecated."""
    content = copy.deepcopy(contract().content)
    content["paths"]["/v1/account/usage"]["get"]["deprecated"] = True
    monkeypatch.setattr("harness.contract._read", lambda _name: content)
    return Contract("openapi.yaml", "/v1")


_SINCE, _LATER = "@1798761600", "Sat, 01 Jan 2028 00:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({}, "header Deprecation must be"),
        ({"sunset": _LATER}, "header Deprecation must be"),
        ({"deprecation": "true", "sunset": _LATER}, "header Deprecation must be"),
        ({"deprecation": _SINCE}, "header Sunset must be"),
        ({"deprecation": _SINCE, "sunset": "2028-01-01"}, "header Sunset must be"),
        (
            {"deprecation": _SINCE, "sunset": "Thu, 30 Dec 2027 00:00:00 GMT"},
            "Sunset is too soon",
        ),
        ({"deprecation": _SINCE, "sunset": _LATER}, None),
    ],
)
def test_a_deprecated_operation_says_when_it_ends(
    api: Api, outgoing: Contract, headers: dict[str, str], problem: str | None
) -> None:
    answer = api.call("GET", "/v1/account/usage")
    sent = {name.lower(): value for name, value in answer.headers.items()} | headers
    shown = Answer("GET", "/v1/account/usage", answer.status_code, sent, answer.content)

    if problem is None:
        outgoing.check(shown)
        return
    with pytest.raises(AssertionError, match=problem):
        outgoing.check(shown)


def _ids(node: Any, schemas: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each field that holds ids of ours, in the singular, and what is said of it."""
    if isinstance(node, list):
        for inner in node:
            yield from _ids(inner, schemas)
    if not isinstance(node, dict):
        return
    for name, schema in node.get("properties", {}).items():
        item = schema.get("items", schema)
        item = schemas[item["$ref"].rpartition("/")[2]] if "$ref" in item else item
        if item.get("format") == "uuid":
            yield name.removesuffix("s"), item.get("description", "")
    for inner in node.values():
        yield from _ids(inner, schemas)


def test_an_id_that_an_answer_names_can_be_read_or_says_why_not() -> None:
    readable = {
        name
        for method, path in contract().operations()
        if method == "GET"
        for name in re.findall(r"{(\w+)}$", path)
    }
    schemas = contract().content["components"]["schemas"]

    named = list(_ids(list(schemas.values()), schemas))

    assert {"inboxId", "deliveryId", "ruleId", "eventId"} <= {name for name, _ in named}
    silent = {
        name
        for name, said in named
        if name not in readable and not re.search(r"cannot be read[^.;]* because ", said, re.DOTALL)
    }
    assert not silent


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


_GATEWAY = ROOT / "services" / "gateway"
_DASHBOARD_ROOT = "/dashboard/api"


def _operations_below(root: str) -> list[tuple[str, str]]:
    """Lists the operations of the gateway's own table of routes below a root: a path nobody
    documented would not be requested otherwise.
    """
    source = (_GATEWAY / "resources" / "operations.cpp").read_text(encoding="utf-8")
    found = re.findall(r'emplace_back\(\s*"([A-Z]+)",\s*root \+ "(/[^"]*)"', source)
    assert len(found) == source.count("emplace_back(")
    return [(method, root + path) for method, path in found]


def _operations_of_keys() -> list[tuple[str, str]]:
    """Lists the operations that keys alone have: the dashboard's page has a stream of its own."""
    source = (_GATEWAY / "surfaces" / "api.cpp").read_text(encoding="utf-8")
    return re.findall(r'emplace_back\(\s*"([A-Z]+)",\s*"(/[^"]*)"', source)


def _dashboard_routes() -> list[tuple[str, str]]:
    """Returns the dashboard's own routes, and the API's."""
    found = _operations_below(_DASHBOARD_ROOT)
    for file in sorted((_GATEWAY / "dashboard").glob("*.cpp")):
        source = file.read_text(encoding="utf-8")
        own = re.findall(r'emplace_back\(\s*"([A-Z]+)",\s*(root \+ )?"(/[^"]*)"', source)
        # Names of methods stand nowhere else in quotation marks but where they are compared.
        assert len(own) == len(re.findall(r'emplace_back\(\s*"', source)), file.name
        found += [(method, _DASHBOARD_ROOT + path if root else path) for method, root, path in own]
    return found


def test_the_gateway_has_no_operation_beyond_the_contract() -> None:
    routes = _operations_below("/v1") + _operations_of_keys()

    assert len(routes) == len(set(routes))
    assert set(routes) == set(contract().operations())


def test_the_dashboard_s_api_has_the_routes_of_its_contract_and_no_others() -> None:
    # With a mail relay another handler makes accounts; there is one of them at a time.
    assert set(_dashboard_routes()) == set(dashboard_contract().operations())


@pytest.fixture(scope="module")
def user(suite: Suite) -> User:
    """Somebody signed in."""
    return User.make(suite)


@pytest.mark.parametrize(
    ("method", "path"),
    list(dashboard_contract().operations()),
    ids=[f"{method} {path}" for method, path in dashboard_contract().operations()],
)
def test_the_dashboard_s_api_serves_what_its_contract_names(
    user: User, method: str, path: str
) -> None:
    """Asked wrongly, so that nothing is changed: what is no route would be 404 or 405."""
    is_open = dashboard_contract().operation(method, path)["security"] == []
    below = re.sub(r"\{\w+\}", "x", path.removeprefix(_DASHBOARD_ROOT)) + "?unheard=of"
    browser = Dashboard(user.dashboard.base) if is_open else user.dashboard

    answer = browser.call(method, below, json=None if method == "GET" else {})

    # Operations that need a mail relay are refused before the query is read if there is none.
    assert answer.status_code in ({400, 403} if is_open else {400}), answer.text


@pytest.mark.parametrize(
    ("method", "path"),
    list(contract().operations()),
    ids=[f"{method} {path}" for method, path in contract().operations()],
)
def test_the_dashboard_s_contract_shares_what_the_api_has(method: str, path: str) -> None:
    """One code answers both, so that nothing but headers and refusals may differ."""
    if (method, path) in _operations_of_keys():
        return
    shared = _in_full(contract().operation(method, path))
    of_dashboard = _in_full(
        dashboard_contract().operation(method, path.replace("/v1", _DASHBOARD_ROOT, 1))
    )

    for part in ("operationId", "parameters"):
        assert of_dashboard.get(part) == shared.get(part)
    taken, known_body = of_dashboard.get("requestBody", {}), shared.get("requestBody", {})
    assert taken.get("required") == known_body.get("required")
    assert _schemas(taken.get("content", {})) == _schemas(known_body.get("content", {}))
    has_fullness = shared["operationId"] == "getInbox"
    for status, answer in shared["responses"].items():
        if not status.startswith("2"):
            continue
        content = of_dashboard["responses"][status]["content"]
        if has_fullness:
            schema = content["application/json"]["schema"]
            assert schema["properties"].pop("isFull")["type"] == "boolean"
            known = answer["content"]["application/json"]["schema"]
            assert schema["properties"] == known["properties"]
            assert set(schema["required"]) == {*known["required"], "isFull"}
        else:
            assert _schemas(content) == _schemas(answer["content"])


def _schemas(content: dict[str, Any]) -> dict[str, Any]:
    return {kind: known["schema"] for kind, known in content.items()}


def _in_full(node: Any) -> Any:
    """Returns the node with what its references lead to in their place."""
    if isinstance(node, list):
        return [_in_full(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    return {key: _in_full(inner) for key, inner in contract().resolve(node).items()}
