"""examples/signup-app as its users see it: pages, real mail, and what it refuses."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

_PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "signup-app" / "signup_app.py"
_FORM = "application/x-www-form-urlencoded"
_API = httpx.Client(
    base_url=os.environ["TEMPINBOX_BASE_URL"],
    headers={"X-API-Key": os.environ["TEMPINBOX_API_KEY"]},
    timeout=70,
)


def _start(*arguments: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, str(_PROGRAM), "--listen", "127.0.0.1:0", *arguments]
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, process.stdout.readline().removeprefix("listening at ").strip()


@pytest.fixture(scope="module")
def app() -> Iterator[httpx.Client]:
    """A running application."""
    process, url = _start("--smtp", os.environ["TEMPINBOX_TEST_SMTP"])
    with process, httpx.Client(base_url=url, timeout=30) as client:
        yield client
        process.terminate()


@pytest.fixture
def address() -> str:
    """Returns the address of a new inbox."""
    made: dict[str, Any] = _API.post("/v1/inboxes").raise_for_status().json()
    return str(made["emailAddress"])


def _mail(address: str, after: int = 0) -> dict[str, Any]:
    inboxes = _API.get("/v1/inboxes", params={"address": address}).json()["inboxes"]
    path = f"/v1/inboxes/{inboxes[0]['inboxId']}/emails/wait"
    email: dict[str, Any] = (
        _API.get(path, params={"after": after}).raise_for_status().json()["email"]
    )
    return email


def test_the_code_of_the_mail_finishes_a_sign_up(app: httpx.Client, address: str) -> None:
    page = app.post("/signup", data={"email": address, "name": "Zoë"}).raise_for_status()
    assert address in page.text
    code = _mail(address)["codes"][0]["value"]

    welcome = app.post("/verify", data={"email": address, "code": code})

    assert "Welcome, Zoë" in welcome.raise_for_status().text
    assert app.post("/verify", data={"email": address, "code": code}).status_code == 400


def test_the_link_of_the_mail_finishes_a_sign_up(app: httpx.Client, address: str) -> None:
    app.post("/signup", data={"email": address}).raise_for_status()
    links = _mail(address)["links"]

    welcome = httpx.get(links[0]["url"])

    assert [link["kind"] for link in links] == ["verify"]
    assert "Welcome" in welcome.raise_for_status().text


def test_a_second_mail_replaces_the_first(app: httpx.Client, address: str) -> None:
    app.post("/signup", data={"email": address}).raise_for_status()
    first = _mail(address)
    app.post("/signup", data={"email": address}).raise_for_status()
    second = _mail(address, first["sequence"])

    assert "not valid" in httpx.get(first["links"][0]["url"]).text
    assert "Welcome" in httpx.get(second["links"][0]["url"]).text


def test_a_code_can_be_wrong_five_times(app: httpx.Client, address: str) -> None:
    app.post("/signup", data={"email": address}).raise_for_status()
    code = _mail(address)["codes"][0]["value"]
    wrong = "000000" if code != "000000" else "111111"

    pages = [app.post("/verify", data={"email": address, "code": wrong}).text for _ in range(5)]

    assert "4 attempts are left" in pages[0]
    assert 'name="code"' in pages[0], "the page asks again"
    assert "fifth time" in pages[4]
    assert app.post("/verify", data={"email": address, "code": code}).status_code == 400


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_staging_application_mails_anybody_into_one_inbox(tls: str) -> None:
    capture = _API.post("/v1/inboxes", json={"capture": True}).raise_for_status().json()
    login = capture["capture"]
    process, url = _start(
        *("--smtp", f"{login['host']}:{login['ports'][tls][0]}", "--smtp-tls", tls),
        SIGNUP_SMTP_USER=login["user"],
        SIGNUP_SMTP_PASSWORD=login["password"],
        SSL_CERT_FILE=os.environ["TEMPINBOX_TEST_SUBMISSION_CA"],
    )
    anybody = [f"user{number}@shop{number}.example" for number in range(5)]
    with process:
        for address in anybody:
            httpx.post(f"{url}/signup", data={"email": address}, timeout=30).raise_for_status()
        process.terminate()

    path = f"/v1/inboxes/{capture['inboxId']}/emails"
    listed = _API.get(path).raise_for_status().json()["emails"]
    assert [email["recipients"] for email in reversed(listed)] == [[it] for it in anybody]


def test_a_wrong_password_is_told() -> None:
    capture = _API.post("/v1/inboxes", json={"capture": True}).raise_for_status().json()
    login = capture["capture"]
    process, url = _start(
        *("--smtp", f"{login['host']}:{login['ports']['tls'][0]}", "--smtp-tls", "tls"),
        SIGNUP_SMTP_USER=login["user"],
        SIGNUP_SMTP_PASSWORD=login["user"],
        SSL_CERT_FILE=os.environ["TEMPINBOX_TEST_SUBMISSION_CA"],
    )
    with process:
        answer = httpx.post(f"{url}/signup", data={"email": "a@b.example"}, timeout=30)
        process.terminate()

    assert answer.status_code == 502
    assert "did not take the mail: (535" in answer.text


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({}, "email is missing"),
        ({"email": "x"}, "must be an address such as"),
        ({"email": "a@b.example\r\nBcc: c@d.example"}, "no control characters"),
        ({"email": f"{'x' * 300}@b.example"}, "at most 254 characters, not 310"),
        ({"email": ["a@b.example", "c@d.example"]}, "given once"),
        ({"email": "a@b.example", "name": "n" * 101}, "name must have at most 100"),
        ({"email": "a@b.example", "color": "red"}, "unknown field &#x27;color&#x27;"),
        ({"email": "a@elsewhere.example"}, "email is refused by the mail server"),
    ],
)
def test_a_wrong_form_is_told_what_is_wrong(
    app: httpx.Client, form: dict[str, Any], says: str
) -> None:
    answer = app.post("/signup", data=form, headers={"Content-Type": _FORM})

    assert answer.status_code == 400
    assert says in answer.text


def test_other_requests_are_refused(app: httpx.Client) -> None:
    assert app.post("/signup", json={}).status_code == 415
    assert (
        app.post("/signup", content=b"x" * 5000, headers={"Content-Type": _FORM}).status_code == 413
    )
    assert app.post("/verify", data={"email": "a@b.example", "code": "12345"}).status_code == 400
    assert app.get("/confirm?email=a@b.example&token=x").status_code == 400
    assert app.get("/nothing").status_code == 404


def test_a_mail_server_that_is_away_is_named() -> None:
    process, url = _start("--smtp", "127.0.0.1:1")
    with process:
        answer = httpx.post(f"{url}/signup", data={"email": "a@b.example"})
        process.terminate()

    assert answer.status_code == 502
    assert "127.0.0.1:1 did not take the mail" in answer.text
    assert process.returncode == -15


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--listen", "8080"], "must be HOST:PORT"),
        (["--smtp", "host:99999"], "must be HOST:PORT"),
        (["--smtp-tls", "ssl"], "must be one of none, starttls, tls"),
        (["--smtp-user", "cap_x"], "must be given together"),
        (["--sender", "robot"], "must be an address"),
        (["--public-url", "shop.example"], "must be such as https://host/path"),
    ],
)
def test_a_wrong_setting_is_refused_at_the_start(arguments: list[str], says: str) -> None:
    command = [sys.executable, str(_PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)

    assert done.returncode == 2
    assert says in done.stderr
