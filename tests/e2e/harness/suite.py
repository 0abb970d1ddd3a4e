"""The suite under test, known only by what `./dev` says of it."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from harness.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]


class Suite:
    """A running suite: TEMPINBOX_DEV_SUITE names its data folder, else it is the one of `./dev
    up`.
    """

    def __init__(self) -> None:
        self._variables = self._read_variables()

    @staticmethod
    def dev(*arguments: str) -> str:
        """Runs ./dev and answers what it printed."""
        done = subprocess.run(
            [str(ROOT / "dev"), *arguments], capture_output=True, text=True, timeout=180
        )
        assert done.returncode == 0, (
            f"./dev {shlex.join(arguments)} answered {done.returncode}:\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def _read_variables(self) -> dict[str, str]:
        lines = (shlex.split(line) for line in self.dev("env").splitlines())
        return dict(parts[1].split("=", 1) for parts in lines if parts[:1] == ["export"])

    def __getitem__(self, name: str) -> str:
        """A variable of `./dev env`, without its prefix."""
        return self._variables["TEMPINBOX_" + name]

    def of_each(self, service: str, kind: str) -> list[str]:
        """A variable of every replica, such as the URL of each gateway."""
        names = (f"{service.upper().replace('-', '_')}_{number}_{kind}" for number in range(1, 100))
        return [self[name] for name in names if "TEMPINBOX_" + name in self._variables]

    def pid(self, service: str, number: int = 1) -> int:
        """The process of a replica as it is now."""
        self._variables = self._read_variables()
        return int(self[f"{service.upper().replace('-', '_')}_{number}_PID"] or 0)

    def operate(self, *arguments: str) -> Any:
        """Runs the operator's command line; its JSON answer."""
        return json.loads(self.dev("ctl", *arguments, "--output", "json"))

    def status(self) -> dict[str, dict[str, Any]]:
        """Every process by name.

        Unready ones make ./dev status exit with 1, which is no failure here.
        """
        return {row["name"]: row for row in self._describe()["processes"]}

    def program(self, name: str) -> Path:
        """A built program of the suite."""
        return Path(self._describe()["programs"]) / name

    @staticmethod
    def _describe() -> dict[str, Any]:
        done = subprocess.run(
            [str(ROOT / "dev"), "status", "--output", "json"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        described: dict[str, Any] = json.loads(done.stdout)
        return described

    def signal(self, service: str, number: int, sent: int) -> None:
        """Sends a signal to one replica, once it runs."""
        process = eventually(lambda: self.pid(service, number), f"{service} {number} runs")
        os.kill(process, sent)
