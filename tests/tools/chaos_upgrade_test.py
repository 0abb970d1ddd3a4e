"""Tests how an upgrade is rehearsed, and what of it is a violation."""

import http.server
import json
import tempfile
import threading
import unittest
from pathlib import Path

from chaos.load import Inbox, Mail
from chaos.strict_calls import StrictCalls
from chaos.upgrade import CALLERS_FIRST, baseline, mail_violations, plan, stopping_migrations
from dev import ports, services
from dev.releases import Release, with_known_settings


def _mail(email_id: str | None, dot_was_sent: bool, refused: str = "") -> Mail:
    inboxes = [Inbox("first", "first@inbox.example")]
    return Mail("mail", inboxes, b"", email_id, dot_was_sent, refused=refused)


class Plan(unittest.TestCase):
    def test_every_replica_gets_the_new_programs_the_old_ones_and_the_new_ones_again(self) -> None:
        went: dict[str, list[bool]] = {}
        for _, steps in plan(replicas=2):
            for step in steps:
                went.setdefault(step.replica, []).append(step.is_upgrade)

        names = {f"{service}-{number}" for service in services.SERVICES for number in (1, 2)}
        self.assertEqual(went.keys(), names)
        self.assertEqual({tuple(each) for each in went.values()}, {(True, False, True)})

    def test_both_orders_are_gone_through(self) -> None:
        orders = [[step.service for step in steps] for _, steps in plan(replicas=1)]

        self.assertEqual(orders, [CALLERS_FIRST, CALLERS_FIRST, CALLERS_FIRST[::-1]])
        self.assertEqual(set(CALLERS_FIRST), set(services.SERVICES))

    def test_the_baseline_is_a_commit(self) -> None:
        self.assertRegex(baseline(), r"^[0-9a-f]{40}$")


class Stopping(unittest.TestCase):
    def test_services_are_stopped_for_a_migration_that_takes_away_what_they_use(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            old, new = Path(folder) / "old", Path(folder) / "new"
            for root in (old, new):
                (root / "libs" / "mail" / "schema").mkdir(parents=True)
            (old / "VERSION").write_text("0.1.0\n")
            texts = {
                "0001_first.sql": "-- contract of v0.2.0\n",  # applied before
                "0002_adds.sql": "CREATE TABLE t ();\n",
                "0003_unused.sql": "-- contract of v0.1\n",
                "0004_used.sql": "-- contract of v0.2.0\n",
            }
            for name, text in texts.items():
                (new / "libs" / "mail" / "schema" / name).write_text(text)
            (old / "libs" / "mail" / "schema" / "0001_first.sql").write_text("")

            self.assertEqual(stopping_migrations(old, new), ["libs/mail/schema/0004_used.sql"])


class Mails(unittest.TestCase):
    def test_one_that_was_accepted_or_put_off_is_fine(self) -> None:
        mails = [
            _mail("1", dot_was_sent=True),
            _mail(None, dot_was_sent=False, refused="421 4.3.2 closing"),
            _mail(None, dot_was_sent=True, refused="451 4.3.0 try again"),
            _mail(None, dot_was_sent=False),
        ]
        self.assertEqual(mail_violations(mails), [])

    def test_one_that_was_refused_or_never_answered_is_a_violation(self) -> None:
        mails = [
            _mail(None, dot_was_sent=False, refused="550 5.1.1 no such address"),
            _mail(None, dot_was_sent=True),
        ]
        self.assertEqual(len(mail_violations(mails)), 2)


class _Gateway(http.server.BaseHTTPRequestHandler):
    """Answers with the status that the path names; 0 cuts the connection off."""

    def do_GET(self) -> None:
        status = int(self.path.strip("/"))
        if status == 0:
            self.connection.close()
            return
        body = b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Calls(unittest.TestCase):
    def test_only_a_gateway_that_takes_no_connection_is_passed_over(self) -> None:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Gateway)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        gateways = [f"127.0.0.1:{ports.free_port()}", f"127.0.0.1:{server.server_port}"]
        calls = StrictCalls(gateways, "key", 1, list)

        statuses = [calls._call("GET", f"/{status}")[0] for status in (200, 404, 503, 429, 0)]
        server.shutdown()
        server.server_close()

        self.assertEqual(statuses, [200, 404, 503, 429, 0])
        self.assertEqual(len(calls.violations), 3)
        self.assertGreaterEqual(calls.passed_over, 4)
        self.assertEqual(calls.answers.total(), 5)


class Settings(unittest.TestCase):
    def test_a_program_is_not_given_what_it_does_not_know(self) -> None:
        known = [{"environment": "TEMPINBOX_LISTEN"}]
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "build" / "release" / "bin" / "tempinbox-gateway"
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\necho '{json.dumps({'settings': known})}'\n")
            program.chmod(0o755)
            release = with_known_settings(Release(Path(folder), "release"), ["tempinbox-gateway"])

        expected = {"TEMPINBOX_LISTEN": "127.0.0.1:1", "TEMPINBOX_NEWER": "yes"}
        self.assertEqual(
            release.environment("tempinbox-gateway", expected), {"TEMPINBOX_LISTEN": "127.0.0.1:1"}
        )
        self.assertEqual(release.environment("tempinbox-inbox", expected), expected)


if __name__ == "__main__":
    unittest.main()
