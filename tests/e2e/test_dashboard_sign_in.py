"""Accounts with a password, and the sessions that it opens."""

import concurrent.futures
import secrets
import time
import uuid

import pytest
import requests
from harness import Api, Dashboard, Gateway, Suite, User, outcome
from harness.dashboard import ROOT


@pytest.fixture
def user(suite: Suite) -> User:
    """Somebody on Free, signed in."""
    return User.make(suite, plan="free")


def _email() -> str:
    return f"{uuid.uuid4().hex[:12]}@example.com"


def test_a_new_account_is_on_free_and_signed_in(suite: Suite) -> None:
    dashboard, email = Dashboard(suite["API"]), _email()

    answer = dashboard.enter("POST", "/accounts", {"email": email, "password": "a good password"})

    assert answer.status_code == 201
    session = answer.json()
    assert set(session) == {
        "accountId",
        "emailAddress",
        "plan",
        "planEndsAt",
        "limits",
        "csrfToken",
    }
    assert (session["emailAddress"], session["plan"], session["planEndsAt"]) == (
        email,
        "free",
        None,
    )
    assert session["limits"]["liveInboxes"] == 1
    assert dashboard.get("/session") == session
    assert dashboard.get("/settings") == {"signUp": "open", "mailRelay": False}


def test_the_cookie_is_kept_from_scripts_and_other_sites(user: User) -> None:
    answer = Dashboard(user.dashboard.base).sign_in(user.email, user.password)

    cookie = answer.headers["Set-Cookie"]
    name, *attributes = (part.strip() for part in cookie.split(";"))
    assert name.startswith("tempinbox_session=")
    assert len(name.partition("=")[2]) == 43  # 256 bits in base64url
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    assert answer.headers["Cache-Control"] == "no-store"


def test_behind_tls_the_cookie_is_for_tls_alone(suite: Suite, user: User) -> None:
    with Gateway(suite, trusted_proxies="127.0.0.0/8") as gateway:
        answer = requests.post(
            f"http://{gateway.address}{ROOT}/session",
            json={"email": user.email, "password": user.password},
            headers={
                "Sec-Fetch-Site": "same-origin",
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": user.dashboard.address,
            },
            timeout=30,
        )

    assert answer.status_code == 200
    assert answer.headers["Set-Cookie"].startswith("__Host-tempinbox_session=")
    assert "; Secure" in answer.headers["Set-Cookie"]


def test_a_taken_address_is_a_conflict_however_it_is_written(suite: Suite, user: User) -> None:
    answer = Dashboard(suite["API"]).enter(
        "POST", "/accounts", {"email": user.email.upper(), "password": "a good password"}
    )

    assert outcome(answer) == (409, "email_taken")
    assert "Set-Cookie" not in answer.headers


def test_sign_up_can_be_closed(suite: Suite) -> None:
    with Gateway(suite, signup="closed") as gateway:
        dashboard = Dashboard(f"http://{gateway.address}")
        answer = dashboard.enter(
            "POST", "/accounts", {"email": _email(), "password": "a good password"}
        )

        assert answer.status_code == 403
        assert "closed" in answer.json()["message"]
        assert dashboard.get("/settings")["signUp"] == "closed"


def test_an_unknown_address_and_a_wrong_password_are_answered_alike(
    suite: Suite, user: User
) -> None:
    dashboard = Dashboard(suite["API"])
    unknown = dashboard.sign_in(_email(), user.password)
    wrong = dashboard.sign_in(user.email, "not the password")

    assert unknown.status_code == wrong.status_code == 401
    assert unknown.json() == wrong.json()
    assert "Set-Cookie" not in wrong.headers


def test_an_unknown_address_takes_as_long_as_a_wrong_password(suite: Suite, user: User) -> None:
    def took(email: str) -> float:
        began = time.monotonic()
        assert Dashboard(suite["API"]).sign_in(email, "not the password").status_code == 401
        return time.monotonic() - began

    # They run by turns, so that what the machine does meanwhile falls on both.
    pairs = [(took(_email()), took(user.email)) for _ in range(8)]
    unknown, known = (min(times) for times in zip(*pairs, strict=True))

    assert unknown > known / 2
    assert known > unknown / 2


def test_the_session_changes_at_sign_in_and_the_one_before_is_no_more(
    suite: Suite, user: User
) -> None:
    before, csrf_before = user.dashboard.cookie, user.dashboard.csrf

    assert user.dashboard.sign_in(user.email, user.password).status_code == 200

    assert user.dashboard.cookie != before
    assert user.dashboard.csrf != csrf_before
    old = requests.get(
        suite["API"] + ROOT + "/session", cookies={"tempinbox_session": before}, timeout=30
    )
    assert old.status_code == 401


def test_a_session_id_of_somebody_s_choice_is_never_taken_over(suite: Suite, user: User) -> None:
    chosen = secrets.token_urlsafe(32)
    dashboard = Dashboard(suite["API"])
    dashboard.browser.cookies.set("tempinbox_session", chosen, domain="127.0.0.1", path="/")

    answer = dashboard.sign_in(user.email, user.password)

    assert answer.status_code == 200
    assert chosen not in answer.headers["Set-Cookie"]
    assert (
        requests.get(
            suite["API"] + ROOT + "/session", cookies={"tempinbox_session": chosen}, timeout=30
        ).status_code
        == 401
    )


def test_signing_out_ends_the_session_and_forgets_the_cookie(suite: Suite, user: User) -> None:
    cookie = user.dashboard.cookie

    answer = user.dashboard.call("DELETE", "/session")

    assert answer.json() == {"signedOut": True}
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert (
        requests.get(
            suite["API"] + ROOT + "/session", cookies={"tempinbox_session": cookie}, timeout=30
        ).status_code
        == 401
    )


def test_signing_out_everywhere_ends_every_session_of_the_account_alone(
    suite: Suite, user: User
) -> None:
    elsewhere = Dashboard(suite["API"])
    elsewhere.sign_in(user.email, user.password)
    other = User.make(suite, plan="free")

    assert user.dashboard.delete("/sessions") == {"signedOut": True, "sessions": 2}

    assert user.dashboard.call("GET", "/session").status_code == 401
    assert elsewhere.call("GET", "/session").status_code == 401
    assert other.dashboard.call("GET", "/session").status_code == 200


def test_a_changed_password_ends_all_other_sessions(suite: Suite, user: User) -> None:
    elsewhere = Dashboard(suite["API"])
    elsewhere.sign_in(user.email, user.password)

    wrong = user.dashboard.call(
        "POST",
        "/account/password",
        json={"currentPassword": "not the password", "newPassword": "a new password"},
    )
    assert wrong.status_code == 403
    answer = user.dashboard.enter(
        "POST",
        "/account/password",
        {"currentPassword": user.password, "newPassword": "a new password"},
    )

    assert answer.status_code == 200
    assert user.dashboard.get("/session")["emailAddress"] == user.email
    assert elsewhere.call("GET", "/session").status_code == 401
    assert elsewhere.sign_in(user.email, user.password).status_code == 401
    assert elsewhere.sign_in(user.email, "a new password").status_code == 200


def test_a_change_of_the_password_is_not_repeated_by_an_idempotency_key(user: User) -> None:
    body = {"currentPassword": user.password, "newPassword": "a new password"}
    headers: dict[str, str | None] = {"Idempotency-Key": uuid.uuid4().hex}

    first = user.dashboard.call("POST", "/account/password", headers=headers, json=body)
    user.dashboard.csrf = first.json()["csrfToken"]
    again = user.dashboard.call("POST", "/account/password", headers=headers, json=body)

    assert (first.status_code, again.status_code) == (200, 403)
    assert "Idempotency-Replayed" not in again.headers


def test_a_link_from_the_operator_sets_a_password_once(suite: Suite, user: User) -> None:
    made = suite.operate(
        "account", "reset-password", user.email, "--dashboard", "https://mail.example/dashboard/"
    )
    assert made["link"] == f"https://mail.example/dashboard/reset-password#{made['token']}"
    visitor = Dashboard(suite["API"])

    wrong = visitor.call(
        "POST",
        "/password-resets/confirm",
        json={"token": secrets.token_urlsafe(32), "newPassword": "a new password"},
    )
    first = visitor.call(
        "POST",
        "/password-resets/confirm",
        json={"token": made["token"], "newPassword": "a new password"},
    )
    second = visitor.call(
        "POST",
        "/password-resets/confirm",
        json={"token": made["token"], "newPassword": "another password"},
    )

    assert (wrong.status_code, first.status_code, second.status_code) == (400, 200, 400)
    assert first.json() == {"email": user.email, "passwordReset": True}
    assert user.dashboard.call("GET", "/session").status_code == 401
    assert visitor.sign_in(user.email, "a new password").status_code == 200


def test_an_account_gets_ten_wrong_passwords_from_wherever_they_come(
    suite: Suite, user: User
) -> None:
    answers = [Dashboard(suite["API"]).sign_in(user.email, "wrong password") for _ in range(11)]

    assert [answer.status_code for answer in answers] == [401] * 10 + [429]
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 600
    assert Dashboard(suite["API"]).sign_in(user.email, user.password).status_code == 429
    assert user.dashboard.call("GET", "/session").status_code == 200  # who is in stays in


def test_an_address_written_in_letters_that_become_others_in_lower_case_is_no_other_account(
    suite: Suite,
) -> None:
    rest = f"{uuid.uuid4().hex[:12]}@example.com"
    assert (
        Dashboard(suite["API"])
        .enter("POST", "/accounts", {"email": "k" + rest, "password": "a good password"})
        .status_code
        == 201
    )
    kelvin = "\N{KELVIN SIGN}" + rest
    assert Dashboard(suite["API"]).sign_in(kelvin, "a good password").status_code == 200

    answers = [
        Dashboard(suite["API"]).sign_in("k" + rest, "wrong password").status_code for _ in range(10)
    ]

    assert answers == [401] * 10
    assert Dashboard(suite["API"]).sign_in(kelvin, "wrong password").status_code == 429


def test_an_address_gets_twenty_failures_on_all_gateways_together(suite: Suite, user: User) -> None:
    with Gateway(suite) as second:
        here = Dashboard(suite["API"])
        there = Dashboard(f"http://{second.address}", here.address)
        answers = [
            (here, there)[turn % 2].sign_in(_email(), "wrong password").status_code
            for turn in range(21)
        ]

        assert answers == [401] * 20 + [429]
        assert there.sign_in(user.email, user.password).status_code == 429
        assert Dashboard(suite["API"]).sign_in(user.email, user.password).status_code == 200


def test_guesses_at_once_do_not_pass_the_limit_together(suite: Suite, user: User) -> None:
    def guess(dashboard: Dashboard) -> int:
        # A gateway with too many sign-ins at once says 503 without counting the attempt.
        answers = (dashboard.sign_in(user.email, "wrong password").status_code for _ in range(20))
        return next(status for status in answers if status != 503)

    dashboards = [Dashboard(suite["API"]) for _ in range(20)]
    with concurrent.futures.ThreadPoolExecutor(len(dashboards)) as pool:
        statuses = list(pool.map(guess, dashboards))

    assert statuses.count(401) == 10
    assert statuses.count(429) == 10


def test_a_deleted_account_is_signed_out(suite: Suite, user: User) -> None:
    suite.operate("account", "delete", user.account_id)

    assert user.dashboard.call("GET", "/session").status_code == 401
    assert Dashboard(suite["API"]).sign_in(user.email, user.password).status_code == 401


def test_the_demo_account_can_sign_in(suite: Suite) -> None:
    answer = Dashboard(suite["API"]).sign_in(suite["DASHBOARD_EMAIL"], suite["DASHBOARD_PASSWORD"])

    assert answer.status_code == 200
    assert answer.json()["accountId"] == suite["ACCOUNT"]


def test_a_password_is_never_repeated_nor_stored(suite: Suite, user: User) -> None:
    short = Dashboard(suite["API"]).call(
        "POST", "/accounts", json={"email": _email(), "password": "hunter2"}
    )

    assert short.status_code == 400
    assert "password must have 10 to 200 characters, not 7" in short.json()["message"]
    assert "hunter2" not in short.text
    assert user.password not in suite.dev("logs", "gateway")


def test_a_session_opens_nothing_under_v1_and_a_key_nothing_here(suite: Suite, user: User) -> None:
    with_session = requests.get(
        suite["API"] + "/v1/inboxes",
        cookies={"tempinbox_session": user.dashboard.cookie},
        timeout=30,
    )
    assert with_session.status_code == 401

    with_key = requests.get(
        suite["API"] + ROOT + "/inboxes", headers={"X-API-Key": suite["API_KEY"]}, timeout=30
    )
    assert with_key.status_code == 401
    assert Api(suite["API"], suite["API_KEY"]).call("GET", "/v1/account").status_code == 200
