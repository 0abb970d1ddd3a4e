"""Tests how the gateway sends its mail through a relay that wants TLS and a sign-in."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from harness import Dashboard, Gateway, Postbox, Suite, eventually, make_certificate
from harness.postbox import Protection

_USER, _PASSWORD = "tempinbox", "a relay's password"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Makes a folder with the relay's certificate and the password."""
    make_certificate(tmp_path, "relay.test")
    (tmp_path / "password").write_text(_PASSWORD + "\n")
    return tmp_path


@contextmanager
def _gateway(suite: Suite, postbox: Postbox, tls: Protection, folder: Path) -> Iterator[Dashboard]:
    settings = {
        "mail_relay": postbox.address,
        "mail_relay_tls": tls,
        "mail_relay_from": "noreply@mail.example",
        "dashboard_url": "https://mail.example/dashboard",
    }
    settings |= {
        "mail_relay_ca_file": str(folder / "certificate.pem"),
        "mail_relay_user": _USER,
        "mail_relay_password_file": str(folder / "password"),
    }
    with Gateway(suite, **settings) as running:
        yield Dashboard(f"http://{running.address}")


def _ask_for_a_letter(visitor: Dashboard, address: str | None = None) -> str:
    address = address or f"{uuid.uuid4().hex[:12]}@example.com"
    answer = visitor.call(
        "POST", "/accounts", json={"email": address, "password": "a good password"}
    )
    assert answer.status_code == 202, answer.text
    return address


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_relay_gets_letters_over_tls_after_a_sign_in(
    suite: Suite, folder: Path, tls: Protection
) -> None:
    with (
        Postbox(folder, _USER, _PASSWORD, tls) as postbox,
        _gateway(suite, postbox, tls, folder) as visitor,
    ):
        address = _ask_for_a_letter(visitor)

        letter = postbox.next()

    assert (letter["To"], letter["From"], letter["Subject"]) == (
        address,
        "noreply@mail.example",
        "Your sign-up code",
    )
    assert postbox.refused == []


def test_recipients_that_the_relay_refuses_keep_nobody_waiting(suite: Suite, folder: Path) -> None:
    with (
        Postbox(folder, _USER, _PASSWORD, "starttls") as postbox,
        _gateway(suite, postbox, "starttls", folder) as visitor,
    ):
        unknown, busy = (
            f"{name}-{uuid.uuid4().hex[:12]}@example.com" for name in ("unknown", "busy")
        )
        postbox.replies = {unknown: "550 5.1.1 nobody", busy: "451 4.3.0 later"}
        for address in (unknown, busy):
            _ask_for_a_letter(visitor, address)
            eventually(partial(postbox.was_attempted, address), "the relay is asked")

        known = _ask_for_a_letter(visitor)
        assert postbox.next()["To"] == known
        assert postbox.recipients[: postbox.recipients.index(known)] == [unknown, busy]

        del postbox.replies[busy]
        assert postbox.next()["To"] == busy
        assert postbox.recipients.count(unknown) == 1


def test_a_relay_with_another_certificate_gets_nothing(
    suite: Suite, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    make_certificate(other, "relay.test")
    with (
        Postbox(other, _USER, _PASSWORD, "starttls") as postbox,
        _gateway(suite, postbox, "starttls", folder) as visitor,
    ):
        _ask_for_a_letter(visitor)
        eventually(lambda: postbox.greeted >= 2, "the letter is tried again", seconds=30)
        assert postbox.is_empty
        assert postbox.refused == [], "no password was told"


def test_no_letter_goes_out_in_the_clear_to_a_relay_without_starttls(
    suite: Suite, folder: Path
) -> None:
    with (
        Postbox(folder, _USER, _PASSWORD, "none") as postbox,
        _gateway(suite, postbox, "starttls", folder) as visitor,
    ):
        _ask_for_a_letter(visitor)
        eventually(lambda: postbox.greeted >= 2, "the letter is tried again", seconds=30)
        assert postbox.is_empty


def test_a_wrong_password_is_tried_again_and_nothing_is_lost_but_the_letter(
    suite: Suite, folder: Path
) -> None:
    with (
        Postbox(folder, _USER, "another password", "starttls") as postbox,
        _gateway(suite, postbox, "starttls", folder) as visitor,
    ):
        _ask_for_a_letter(visitor)
        eventually(lambda: len(postbox.refused) >= 2, "the letter is tried again", seconds=30)
        assert set(postbox.refused) == {_USER}
        assert postbox.is_empty
        assert visitor.get("/settings")["mailRelay"] is True
