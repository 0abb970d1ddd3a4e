"""What an alert sees of a run: samples of its counters, and the alert's rules over them."""

import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from dev import paths

_ALERTS = paths.ROOT / "deploy" / "helm" / "tempinbox" / "alerts" / "MailRefused.yaml"
_MIN_MINUTES = 30  # that the samples of a run are taken to last, however short it was
_MIN_INTERVAL_SECONDS = 15
_SERIES = (
    "tempinbox_smtp_transactions_total",
    "tempinbox_mail_ingest_recipients_total",
    "tempinbox_mail_ingest_connections_refused_total",
    "tempinbox_mail_ingest_unstorable_messages_total",
)


class Samples:
    """The counters that MailRefused looks at, of mail servers (host:port of their operator's
    ports).
    """

    def __init__(self, admins: list[str]) -> None:
        self._admins = admins
        self._series: dict[str, list[str]] = {}
        self._taken = 0

    def take(self) -> None:
        """Reads them now."""
        texts = []
        for admin in self._admins:
            with urllib.request.urlopen(f"http://{admin}/metrics", timeout=30) as answer:
                texts.append(answer.read().decode())
        self.add(texts)

    def add(self, texts: list[str]) -> None:
        """What each server has shown at a moment."""
        for number, text in enumerate(texts):
            for line in text.splitlines():
                if line.startswith(_SERIES):
                    name, _, value = line.rpartition(" ")
                    missing = ["_"] * self._taken
                    self._series.setdefault(_of_pod(name, number), missing).append(value)
        self._taken += 1

    def rule_test(self) -> str:
        """A test of promtool: at no minute of these samples MailRefused rings."""
        interval = max(_MIN_INTERVAL_SECONDS, -(-_MIN_MINUTES * 60 // max(1, self._taken)))
        series = "".join(
            f"      - series: '{name}'\n        values: '{' '.join(values)}'\n"
            for name, values in self._series.items()
        )
        checks = "".join(
            f"      - {{ eval_time: {minute}m, alertname: MailRefused, exp_alerts: [] }}\n"
            for minute in range(1, self._taken * interval // 60 + 1)
        )
        return (
            f"rule_files: ['{_ALERTS}']\nevaluation_interval: 1m\ntests:\n"
            f"  - interval: {interval}s\n    input_series:\n{series}    alert_rule_test:\n{checks}"
        )

    def check(self) -> Iterator[str]:
        """What promtool says where the alert rings, or nothing was seen."""
        if not self._series:
            yield "no counter of MailRefused was seen"
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rings.yaml"
            file.write_text(self.rule_test(), encoding="utf-8")
            command = ["promtool", "test", "rules", str(file)]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            yield f"MailRefused rings: {(done.stdout + done.stderr)[-2000:]}"


def _of_pod(name: str, number: int) -> str:
    """A series as Prometheus has it of one of several pods."""
    metric, _, labels = name.rstrip("}").partition("{")
    pod = f'namespace="mail",job="mail-ingest",pod="mail-ingest-{number}"'
    return f"{metric}{{{','.join(filter(None, (pod, labels)))}}}"
