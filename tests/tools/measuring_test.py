"""Tests what benches measure with: reports of others, waiting, processes."""

import http.server
import subprocess
import sys
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from measuring import login_cost, many_rows, plans, processes, wrk

_REPORT = """Running 2s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.09ms    1.50ms  27.03ms   93.10%
    Req/Sec    75.05k     9.85k   90.91k    60.00%
  Latency Distribution
     50%  633.00us
     75%    1.08ms
     90%    2.11ms
     99%    1.20s
  149401 requests in 2.01s, 700.14MB read
  Socket errors: connect 0, read 3, write 0, timeout 1
  Non-2xx or 3xx responses: 5
Requests/sec:  74329.35
"""

_LOG = """2026-11-21 17:44:01.123 UTC [7] LOG:  duration: 0.012 ms  plan:
\tQuery Text: SELECT 1 FROM mailbox.inboxes
\t    WHERE account_id = $1
\tIndex Scan using inboxes_pkey on inboxes  (cost=0.41..8.45 rows=1 width=16) \
(actual time=0.037..0.038 rows=1 loops=1)
\t  Index Cond: (account_id = '01')
2026-11-21 17:44:01.124 UTC [7] LOG:  something else
2026-11-21 17:44:01.125 UTC [7] LOG:  duration: 90.5 ms  plan:
\tQuery Text: SELECT count(*) FROM mailbox.emails
\tAggregate  (cost=0.00..9000.00 rows=1 width=8) (actual time=90.0..90.0 rows=1 loops=1)
\t  ->  Seq Scan on emails_20261121 emails_1  (cost=0.00..8000.00 rows=1 width=0) \
(actual time=0.1..80.0 rows=90000 loops=1)
\t  ->  Seq Scan on emails_default emails_2  (cost=0.00..0.00 rows=1 width=0) \
(actual time=0.1..0.1 rows=0 loops=1)
2026-11-21 17:44:01.126 UTC [7] LOG:  duration: 0.1 ms  plan:
\tQuery Text: SELECT 1 FROM accounts.plans
\tSeq Scan on plans  (cost=0.00..1.06 rows=6 width=4) (actual time=0.003..0.003 rows=6 loops=1)
"""


class Wrk(unittest.TestCase):
    def test_its_report(self) -> None:
        rate = wrk.read(_REPORT)

        self.assertEqual((rate.requests, rate.seconds, rate.failed), (149401, 2.01, 9))
        self.assertAlmostEqual(rate.p50_ms, 0.633)
        self.assertAlmostEqual(rate.p99_ms, 1200)


class Plans(unittest.TestCase):
    def test_statements_on_large_tables(self) -> None:
        plans = {plan.statement: plan for plan in many_rows.read(_LOG)}

        self.assertEqual(
            set(plans),
            {
                "SELECT 1 FROM mailbox.inboxes WHERE account_id = $1",
                "SELECT count(*) FROM mailbox.emails",
            },
        )
        self.assertTrue(plans["SELECT 1 FROM mailbox.inboxes WHERE account_id = $1"].is_indexed)
        whole = plans["SELECT count(*) FROM mailbox.emails"]
        self.assertFalse(whole.is_indexed)
        self.assertEqual(whole.millis, 90.5)
        self.assertEqual(len(whole.scans), 2)


@contextmanager
def gateway_with(versions: list[int]) -> Iterator[str]:
    """Metrics that name one version after the other, the last one for ever; its address."""

    class Metrics(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            version = versions.pop(0) if len(versions) > 1 else versions[0]
            body = (
                f"# TYPE x gauge\ntempinbox_gateway_key_change_version {version}\nother 9\n"
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Metrics)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class NumbersOfPlans(unittest.TestCase):
    def test_every_gateway_is_waited_for(self) -> None:
        late = [6, 6, 7]
        with gateway_with([7]) as one, gateway_with(late) as other:
            plans.wait_known(7, [one, other])

        self.assertEqual(late, [7])

    def test_a_gateway_that_never_knows_is_named(self) -> None:
        with gateway_with([6]) as gateway, self.assertRaisesRegex(TimeoutError, gateway):
            plans.wait_known(7, [gateway], seconds=0.1)


class LoginLookups(unittest.TestCase):
    def test_they_are_those_of_postgresql_alone(self) -> None:
        refused = "tempinbox_mail_ingest_login_lookups_refused_total 9\n"

        self.assertEqual(login_cost.read_lookups(refused), 0)
        counted = refused + "tempinbox_mail_ingest_login_lookups_total 16\nother 1\n"
        self.assertEqual(login_cost.read_lookups(counted), 16)


class _Measured(login_cost.Measurement):
    """Mail by login at this rate and cost; the other costs 1 ms, at the rate that it should."""

    by_login_rate, by_login_cost = 800.0, 1.0

    def _mail(self, way: login_cost.Way) -> tuple[float, float]:
        return (self.by_login_rate, self.by_login_cost) if way is self.by_login else (800.0, 1.0)

    def _log_in(self) -> float:
        return 4000.0


class LoginCost(unittest.TestCase):
    def _is_met(self, rate: float, cost: float) -> bool:
        class OfOne(_Measured):
            by_login_rate, by_login_cost = rate, cost

        ways = login_cost.Way("to a named inbox", "", []), login_cost.Way("by login", "", [])
        with redirect_stdout(StringIO()):
            return OfOne({}, *ways, seconds=1.0).run(rounds=3)

    def test_the_target_is_a_twentieth_more(self) -> None:
        self.assertTrue(self._is_met(rate=790.0, cost=1.04))
        self.assertFalse(self._is_met(rate=790.0, cost=1.06))

    def test_a_machine_too_busy_for_the_rate_says_nothing(self) -> None:
        self.assertFalse(self._is_met(rate=140.0, cost=0.5))


class Quiet(unittest.TestCase):
    def test_quiet_is_judged_by_two_looks(self) -> None:
        looks = []

        def is_done() -> bool:
            looks.append(True)
            return True

        with subprocess.Popen(["sleep", "60"]) as idle:
            processes.wait_quiet([idle.pid], is_done)
            idle.kill()

        self.assertGreaterEqual(len(looks), 2)


if __name__ == "__main__":
    unittest.main()
