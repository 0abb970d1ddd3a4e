"""Tests what ./dev sets of the services, and what it says of them."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import keys, services, suite_env
from dev.record import Account, Record
from dev.releases import Release
from dev.services import Replica, ServiceContext
from dev.suite import Suite

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


if __name__ == "__main__":
    unittest.main()
