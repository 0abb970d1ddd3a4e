"""A suite of a test's own, whose every inner connection is TLS."""

import contextlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from dev import paths

from harness.replica import Gateway, Inbox, MailIngest, RateLimit, Replica, WebhookDispatcher
from harness.suite import Suite

# Certificates are for this name only, while services are dialled by the addresses behind it.
HOST = "localhost"
_DOMAIN = "secure.example"
_TOPICS = paths.ROOT / "deploy" / "kafka" / "topics.json"

Settings = dict[str, str]


def rpc_tls_settings(identity: Path) -> Settings:
    """Returns settings with the files of a folder, as Authority.issue makes it for HOST."""
    return {
        "rpc_tls_certificate_file": f"{identity}/certificate.pem",
        "rpc_tls_key_file": f"{identity}/key.pem",
        "rpc_tls_ca_file": f"{identity}/ca.pem",
    }


def by_name(service: Replica) -> str:
    """Returns how callers reach it, so that its name is in its certificate."""
    return f"{HOST}:{service.address.rpartition(':')[2]}"


class SecureSuite:
    """A replica of each service and the operator's command line, with a mail domain.

    `settings_of` gives the settings of each service and of `operator`, by name: PostgreSQL, Kafka,
    the certificates. Use as a context manager.
    """

    def __init__(self, suite: Suite, settings_of: Callable[[str], Settings]) -> None:
        self._suite = suite
        self.rate_limit = RateLimit(suite, **settings_of("rate-limit"), rpc_tls_name=HOST)
        self.inbox = Inbox(suite, **settings_of("inbox"))
        self.dispatcher = WebhookDispatcher(suite, **settings_of("webhook-dispatcher"))
        self.ingest = MailIngest(suite, **settings_of("mail-ingest"))
        # The addresses by which a gateway finds the others.
        self.calls = {
            "inbox_rpc": by_name(self.inbox),
            "rate_limit_rpc": by_name(self.rate_limit),
            "webhook_dispatcher_rpc": by_name(self.dispatcher),
        }
        self.gateway = Gateway(suite, **settings_of("gateway"), **self.calls)
        token_file = Inbox.settings_of(suite)["TEMPINBOX_RPC_TOKEN_FILE"]
        self._operator = {"rpc_token_file": token_file} | self.calls | settings_of("operator")
        self.replicas: list[Replica] = [
            self.rate_limit,
            self.inbox,
            self.dispatcher,
            self.ingest,
            self.gateway,
        ]
        self._running = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as running:
            # Applied before anything looks for its topics.
            applied = self.run_operator(
                *("topics", "apply", str(_TOPICS), "--partitions", "2", "--replication", "1")
            )
            assert applied.returncode == 0, applied.stdout + applied.stderr
            for service in self.replicas:
                running.enter_context(service)
            self.operate("domain", "add", _DOMAIN)
            self._running = running.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def run_operator(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs tempinboxctl, whatever its exit code is."""
        given = {f"TEMPINBOX_{name.upper()}": value for name, value in self._operator.items()}
        return subprocess.run(
            [self._suite.program("tempinboxctl"), *arguments],
            env=paths.clean_environment() | given,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def operate(self, *arguments: str) -> Any:
        """The JSON answer of tempinboxctl."""
        done = self.run_operator(*arguments, "--output", "json")
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def make_key(self, plan: str, requests_per_day: int) -> str:
        """Makes a key of a new account on the plan, which has the limit from now on."""
        limits = ("--requests-per-day", str(requests_per_day), "--burst-per-second", "0")
        self.operate("plan", "set", plan, *limits)
        email = f"{plan}@example.com"
        made = self.operate("account", "create", "--email", email, "--plan", plan)
        key: str = self.operate("key", "create", made["accountId"], "--label", "test")["key"]
        return key
