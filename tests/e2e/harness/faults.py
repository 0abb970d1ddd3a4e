"""Faults on purpose, in force on every mail server."""

from typing import Any

import requests

from harness.api import Api
from harness.suite import Suite
from harness.waiting import eventually


def _known_versions(suite: Suite) -> list[float]:
    """How far each mail server has read what faults inboxes have."""
    name = "tempinbox_mail_ingest_fault_change_version "
    texts = [
        requests.get(f"http://{admin}/metrics", timeout=5).text
        for admin in suite.of_each("mail-ingest", "ADMIN")
    ]
    return [
        float(line.removeprefix(name))
        for text in texts
        for line in text.splitlines()
        if line.startswith(name)
    ]


class Faults:
    """The faults of an inbox, in force on every mail server."""

    def __init__(self, suite: Suite, api: Api, inbox: dict[str, Any]) -> None:
        self._suite = suite
        self._api = api
        self._inbox = f"/v1/inboxes/{inbox['inboxId']}"

    def set(self, *steps: dict[str, Any]) -> None:
        before = max(_known_versions(self._suite))
        self._api.put(f"{self._inbox}/faults", {"steps": list(steps)})
        eventually(
            lambda: min(_known_versions(self._suite)) > before,
            "every mail server knows the faults within a second",
            seconds=1,
        )

    def used(self) -> list[int]:
        return [step["used"] for step in self._api.get(f"{self._inbox}/faults")["steps"]]

    def report(self, attempts: int) -> dict[str, Any]:
        """What senders did with the inbox, once there are so many attempts."""

        def shown() -> dict[str, Any] | None:
            report: dict[str, Any] = self._api.get(f"{self._inbox}/sender-report")
            found = sum(len(message["attempts"]) for message in report["messages"])
            return report if found >= attempts else None

        return eventually(shown, f"{attempts} attempts are reported")

    def refusals(self, attempts: int) -> list[tuple[str, int]]:
        """Replies and how often, once there are so many."""

        def shown() -> list[tuple[str, int]] | None:
            rows = self._api.get(f"{self._inbox}/rejections")["rejections"]
            found = [
                (row["reply"], row["attemptCount"]) for row in rows if row["reason"] == "fault"
            ]
            return found if sum(count for _, count in found) >= attempts else None

        return eventually(shown, f"{attempts} refusals on purpose are shown")
