"""The running suite, for benches that change it: what they were given at first is then old."""

import os
import re
import shlex
import subprocess
from pathlib import Path

_DEV = Path(__file__).resolve().parents[3] / "dev"


def dev(*arguments: str) -> str:
    """Runs ./dev on the suite that is measured."""
    done = subprocess.run([str(_DEV), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"./dev {' '.join(arguments)} failed: {done.stdout}{done.stderr}")
    return done.stdout


def running() -> dict[str, str]:
    """`./dev env` as it is now."""
    lines = (shlex.split(line) for line in dev("env").splitlines())
    return dict(parts[1].split("=", 1) for parts in lines if parts[:1] == ["export"])


def of_replicas(service: str, kind: str) -> list[str]:
    """A variable (PID, ADMIN, URL, RPC) of each replica of a service, as this process has them."""
    pattern = f"TEMPINBOX_{service.upper().replace('-', '_')}_(\\d+)_{kind}"
    found = ((re.fullmatch(pattern, name), value) for name, value in os.environ.items())
    return [value for _, value in sorted((int(it[1]), value) for it, value in found if it)]


def set_replicas(counts: dict[str, int]) -> None:
    """Changes the suite, and the variables of this process."""
    replicas = ",".join(f"{service}={count}" for service, count in counts.items())
    dev("up", "-d", "--no-build", "--replicas", replicas)
    for name in [name for name in os.environ if re.fullmatch(r"TEMPINBOX_\w+_\d+_\w+", name)]:
        del os.environ[name]
    os.environ.update(running())
