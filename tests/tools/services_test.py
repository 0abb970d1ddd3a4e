"""Tests what ./dev sets of the services, and what it says of them."""

import contextlib
import http.server
import io
import json
import smtplib
import tempfile
import threading
import unittest
from pathlib import Path
from typing import ClassVar
from unittest import mock

from dev import demo_capture, keys, record, running, services, suite_env
from dev.record import Account, Capture, Record
from dev.releases import Release
from dev.services import Replica, ServiceContext
from dev.suite import Suite, SuiteOptions

_CERTIFICATE = "TEMPINBOX_TLS_CERTIFICATE_FILE"


class StartTls(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def _settings(self, starttls: bool) -> dict[str, str]:
        program = self.folder / "build" / "release" / "bin" / "tempinbox-mail-ingest"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch()
        context = ServiceContext(
            Release(self.folder, "release"),
            database="",
            brokers="",
            domain="inbox.localhost",
            keys=keys.prepare(self.folder / "keys", "mx.inbox.localhost"),
            logs="",
            folder="",
            starttls=starttls,
        )
        replica = Replica("mail-ingest", 1, 2525, 9000)
        return services.spec(replica, [replica], context).environment

    def test_starttls_is_not_offered_unless_asked_for(self) -> None:
        self.assertNotIn(_CERTIFICATE, self._settings(starttls=False))
        self.assertNotIn("TEMPINBOX_TLS_KEY_FILE", self._settings(starttls=False))
        self.assertTrue(Path(self._settings(starttls=True)[_CERTIFICATE]).exists())
        self.assertTrue(Path(self._settings(starttls=True)["TEMPINBOX_TLS_KEY_FILE"]).exists())

    def _variables(self, starttls: bool) -> dict[str, str]:
        account = Account("id", "demo@example.com", "key", "password")
        suite = Suite(self.folder)
        with (
            mock.patch.object(
                suite, "_record", Record("d.test", starttls=starttls, account=account)
            ),
            mock.patch.object(suite.supervision, "status", return_value={}),
        ):
            return suite_env.variables(suite)

    def test_the_certificate_to_trust_is_named_where_it_is_offered(self) -> None:
        self.assertNotIn("TEMPINBOX_SMTP_CA", self._variables(starttls=False))
        authority = self._variables(starttls=True)["TEMPINBOX_SMTP_CA"]
        self.assertEqual(authority, self._settings(starttls=True)[_CERTIFICATE])


class Submission(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_where_a_login_can_send_is_named(self) -> None:
        ports = {
            "mail-ingest-1": 2525,
            "mail-ingest-1-admin": 9000,
            "mail-ingest-1-submission": 2526,
            "mail-ingest-1-submissions": 2527,
            "mail-ingest-1-submission-clear": 2528,
        }
        suite = Suite(self.folder)
        known = Record(
            "d.test",
            ports=ports,
            replicas={"mail-ingest": 1},
            account=Account("id", "demo@example.com", "key", "password"),
            capture=Capture("cap_a", "tic_b"),
        )
        with (
            mock.patch.object(suite, "_record", known),
            mock.patch.object(suite.supervision, "status", return_value={}),
        ):
            found = suite_env.variables(suite)

        self.assertEqual(found["TEMPINBOX_SUBMISSION_HOST"], "localhost")
        self.assertEqual(found["TEMPINBOX_SUBMISSION_STARTTLS_PORT"], "2526")
        self.assertEqual(found["TEMPINBOX_SUBMISSION_TLS_PORT"], "2527")
        self.assertEqual(found["TEMPINBOX_SUBMISSION_PORT"], "2528")
        self.assertTrue(Path(found["TEMPINBOX_SUBMISSION_CA"]).exists())
        self.assertEqual(found["TEMPINBOX_SUBMISSION_USER"], "cap_a")
        self.assertEqual(found["TEMPINBOX_SUBMISSION_PASSWORD"], "tic_b")


class _Api(http.server.BaseHTTPRequestHandler):
    """Makes captures, and notes what it was asked for."""

    requests: ClassVar[list[object]] = []

    def do_GET(self) -> None:
        self._answer(200, {"limits": {"maxTtlSeconds": 86400}})

    def do_POST(self) -> None:
        self.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(201, {"capture": {"user": "cap_new", "password": "tic_new"}})

    def _answer(self, status: int, body: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


class DemoCapture(unittest.TestCase):
    """The login that ./dev up keeps."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        _Api.requests.clear()
        self.api = http.server.HTTPServer(("127.0.0.1", 0), _Api)
        threading.Thread(target=self.api.serve_forever, daemon=True).start()
        self.addCleanup(self.api.server_close)
        self.addCleanup(self.api.shutdown)

    def _ensure(
        self, capture: Capture | None, login: Exception | None = None, gateway_port: int = 0
    ) -> Capture | None:
        """Returns what the record has afterwards."""
        suite = Suite(self.folder)
        known = Record(
            "d.test",
            ports={
                "mail-ingest-1": 2525,
                "mail-ingest-1-admin": 9000,
                "gateway-1": gateway_port or self.api.server_port,
                "gateway-1-admin": 9001,
            },
            replicas={"mail-ingest": 1, "gateway": 1},
            account=Account("id", "demo@example.com", "key", "password"),
            capture=capture,
        )
        with (
            mock.patch.object(suite, "_record", known),
            mock.patch("smtplib.SMTP") as server,
            contextlib.redirect_stdout(io.StringIO()),
        ):
            server.return_value.__enter__.return_value.login.side_effect = login
            demo_capture.ensure(suite)
        saved = record.find(self.folder)
        return saved.capture if saved else capture

    def test_up_sees_to_it(self) -> None:
        suite = Suite(self.folder)
        with (
            mock.patch("dev.packages.ensure"),
            mock.patch.multiple(
                running, stop_on_signals=mock.DEFAULT, _start=mock.DEFAULT, _introduce=mock.DEFAULT
            ),
            mock.patch("dev.demo_capture.ensure") as ensure,
        ):
            running.up(suite, SuiteOptions(), detached=True, builds=False)
        ensure.assert_called_once_with(suite)

    def test_it_is_made_once_and_lives_as_long_as_it_may(self) -> None:
        made = self._ensure(None)
        self.assertEqual(made, Capture("cap_new", "tic_new"))
        self.assertEqual(_Api.requests, [{"capture": True, "ttlSeconds": 86400}])
        self.assertEqual(self._ensure(made), made)
        self.assertEqual(len(_Api.requests), 1)

    def test_one_that_ended_is_made_anew(self) -> None:
        ended = smtplib.SMTPAuthenticationError(535, b"5.7.8 Invalid")
        self.assertEqual(
            self._ensure(Capture("cap_a", "tic_b"), ended), Capture("cap_new", "tic_new")
        )

    def test_one_that_cannot_be_tried_is_kept(self) -> None:
        known = Capture("cap_a", "tic_b")
        for problem in (OSError(), smtplib.SMTPAuthenticationError(454, b"4.7.0 Later")):
            self.assertEqual(self._ensure(known, problem), known)
        self.assertEqual(_Api.requests, [])

    def test_an_api_that_nobody_reaches_ends_nothing(self) -> None:
        self.assertIsNone(self._ensure(None, gateway_port=1))


if __name__ == "__main__":
    unittest.main()
