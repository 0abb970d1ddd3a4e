"""Tests how the dashboard's page is served: its routes, its files, and what keeps it from being
misused.
"""

import re

import pytest
import requests
from harness import Gateway, Suite
from harness.suite import ROOT

_PAGE = ROOT / "web" / "dashboard" / "dist"


@pytest.fixture(scope="module")
def page(suite: Suite) -> requests.Response:
    """The page of the suite, which ./dev builds."""
    answer = requests.get(suite["DASHBOARD"], timeout=30, allow_redirects=False)
    if answer.status_code == 503 and not (_PAGE / "index.html").exists():
        pytest.skip("the page is not built")
    return answer


def test_the_page_s_own_routes_can_be_opened_and_reloaded(
    suite: Suite, page: requests.Response
) -> None:
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for path in (
        "/",
        "/inboxes",
        "/inboxes/01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f",
        "/settings/webhooks",
        "/reset-password",
    ):
        assert (
            requests.get(suite["DASHBOARD"] + path, timeout=30, allow_redirects=False).text
            == page.text
        )


def test_its_files_are_kept_by_browsers_and_come_compressed(
    suite: Suite, page: requests.Response
) -> None:
    files = re.findall(r'(?:src|href)="(/dashboard/assets/[^"]+)"', page.text)
    assert files
    for path in files:
        answer = requests.get(suite["API"] + path, headers={"Accept-Encoding": "gzip"}, timeout=30)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        plain = requests.get(
            suite["API"] + path, headers={"Accept-Encoding": "identity"}, timeout=30
        )
        assert "Content-Encoding" not in plain.headers
        assert plain.content == answer.content
    assert page.headers["Cache-Control"] == "no-cache"


def test_the_page_runs_no_script_but_the_gateway_s_and_stands_in_no_frame(
    page: requests.Response,
) -> None:
    policy = dict(
        part.strip().split(" ", 1) for part in page.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert page.headers["X-Frame-Options"] == "DENY"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(r"<script(?![^>]*\bsrc=)", page.text)
    assert not re.search(r"\son\w+=", page.text)


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "/%2f%2fevil.example",
        "/%5cevil.example",
        "/..%2f..%2fetc%2fpasswd",
        "/?next=https://evil.example",
        "/%0d%0aSet-Cookie:%20a=b",
        "/%00",
    ],
)
def test_no_path_leads_elsewhere(suite: Suite, path: str) -> None:
    answer = requests.get(suite["DASHBOARD"] + path, timeout=30, allow_redirects=False)

    assert answer.status_code in (200, 400, 404, 503)
    assert "Location" not in answer.headers
    assert "Set-Cookie" not in answer.headers
    assert "root:" not in answer.text


def test_a_gateway_without_the_page_says_how_to_get_it(suite: Suite) -> None:
    with Gateway(suite, dashboard_files="/nowhere") as gateway:
        answer = requests.get(f"http://{gateway.address}/dashboard/inboxes", timeout=30)

    assert answer.status_code == 503
    assert "./dev build" in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
