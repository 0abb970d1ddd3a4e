"""The gateway below a path of a host that others share, behind nginx that ends TLS: `base-path`."""

import re
import secrets
import uuid
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
import requests
from harness import Account, Dashboard, Gateway, Proxy, Suite, make_certificate

_PATH = "/some/path"
_ADDRESS = re.compile(r'(?:src|href)="([^"#]+)"')


@pytest.fixture(scope="module", params=[False, True], ids=["passed on", "taken off"])
def proxy(
    suite: Suite, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Proxy]:
    """Starts a proxy in front of a gateway that knows its path."""
    folder = tmp_path_factory.mktemp("proxy")
    make_certificate(folder, "first.test")
    with (
        Gateway(suite, base_path=_PATH + "/", trusted_proxies="127.0.0.0/8") as gateway,
        Proxy(folder, gateway.address, _PATH, takes_off=request.param) as running,
    ):
        yield running


def _client() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.verify = False  # the certificate is nobody's; that it is checked is for others to test
    return session


@pytest.fixture
def client(account: Account) -> requests.Session:
    """Makes a client with the account's key."""
    session = _client()
    session.headers["X-API-Key"] = account.key
    return session


pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")


def test_location_leads_to_what_was_made(proxy: Proxy, client: requests.Session) -> None:
    key = {"Idempotency-Key": str(uuid.uuid4())}
    made = client.post(proxy.base + "/v1/inboxes", headers=key, timeout=30)
    again = client.post(proxy.base + "/v1/inboxes", headers=key, timeout=30)

    assert made.status_code == 201
    assert made.headers["Location"] == f"{_PATH}/v1/inboxes/{made.json()['inboxId']}"
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Location"] == made.headers["Location"]
    read = client.get(urljoin(made.url, made.headers["Location"]), timeout=30)
    assert (read.status_code, read.json()) == (200, made.json())


def test_what_a_request_says_of_the_path_counts_for_nothing(
    proxy: Proxy, client: requests.Session
) -> None:
    forged = {"X-Forwarded-Prefix": "/evil", "X-Forwarded-Path": "/evil"}

    made = client.post(proxy.base + "/v1/inboxes", headers=forged, timeout=30)

    assert made.headers["Location"].startswith(f"{_PATH}/v1/inboxes/")


def test_the_contract_s_server_is_where_the_api_is(proxy: Proxy, client: requests.Session) -> None:
    address = proxy.base + "/openapi.json"

    contract = client.get(address, timeout=30).json()

    server = urljoin(address, contract["servers"][0]["url"])
    assert server == proxy.base
    assert client.get(server + "/v1/domains", timeout=30).status_code == 200


def test_the_documentation_finds_its_files(proxy: Proxy) -> None:
    page = _client().get(proxy.base + "/docs", timeout=30)

    addresses = [urljoin(page.url, it) for it in _ADDRESS.findall(page.text) if ":" not in it]
    assert proxy.base + "/docs/style.css" in addresses
    assert proxy.base + "/openapi.json" in addresses
    for address in addresses:
        assert _client().get(address, timeout=30).status_code == 200


def test_llms_txt_and_its_pages_are_below_the_path(proxy: Proxy) -> None:
    listed = _client().get(proxy.base + "/llms.txt", timeout=30)
    page = urljoin(listed.url, re.findall(r"\]\((docs/api\.md)\)", listed.text)[0])
    contract = urljoin(page, "openapi.yaml")

    assert page == proxy.base + "/docs/api.md"
    assert _client().get(page, timeout=30).text.startswith("# The HTTP API\n")
    assert f"\n  - url: {_PATH}\n" in _client().get(contract, timeout=30).text


def test_the_dashboard_finds_its_files_at_each_of_its_addresses(proxy: Proxy) -> None:
    page = _client().get(proxy.base + "/dashboard", timeout=30)
    if page.status_code == 503:
        pytest.skip("the page is not built")
    addresses = _ADDRESS.findall(page.text)

    assert f'<meta name="base-path" content="{_PATH}/" />' in page.text
    assert len([it for it in addresses if it.startswith(f"{_PATH}/dashboard/assets/")]) >= 3
    for address in addresses:
        file = _client().get(urljoin(page.url, address), timeout=30)
        assert file.status_code == 200
        assert '"/dashboard/assets' not in file.text, "files name each other relative to themselves"
    deep = _client().get(proxy.base + "/dashboard/settings/webhooks", timeout=30)
    assert deep.text == page.text


def test_a_session_lives_in_a_cookie_of_the_whole_host(proxy: Proxy) -> None:
    dashboard = Dashboard(proxy.base)
    dashboard.browser.verify = False
    dashboard.browser.trust_env = False
    person = {
        "email": f"{uuid.uuid4().hex[:12]}@example.com",
        "password": secrets.token_urlsafe(12),
    }

    answer = dashboard.enter("POST", "/accounts", person)

    assert answer.status_code == 201, answer.text
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-tempinbox_session=")
    assert {"Path=/", "Secure", "HttpOnly"} <= set(cookie.split("; "))
    assert dashboard.get("/session")["emailAddress"] == person["email"]
    made = dashboard.call("POST", "/inboxes")
    assert made.headers["Location"] == f"{_PATH}/dashboard/api/inboxes/{made.json()['inboxId']}"
    with dashboard.events() as events:
        assert next(events).name == "ready"


@pytest.mark.parametrize("path", ["some/path", "/some//path", "/some/../path", "/v1", "/a\tb"])
def test_a_path_that_is_none_stops_the_gateway(suite: Suite, path: str) -> None:
    gateway = Gateway(suite, base_path=path)
    gateway.start()

    assert gateway.wait() == 2
