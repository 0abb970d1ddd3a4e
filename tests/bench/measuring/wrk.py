"""Load on HTTP by wrk: one thread, so many kept connections."""

import itertools
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = itertools.count(1, 100_000_000)  # where each run begins to count
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


@dataclass(frozen=True)
class Target:
    """A request, sent again and again."""

    name: str
    url: str
    headers: dict[str, str]
    body: str = ""  # of JSON
    method: str = ""  # GET, or POST with a body, unless it is given; PATCH is a merge patch
    counts: bool = False  # the URL ends with a number that was never sent before


@dataclass(frozen=True)
class Rate:
    """The result of a run."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    failed: int

    @property
    def per_second(self) -> float:
        """Requests answered."""
        return self.requests / self.seconds


def run(target: Target, connections: int, seconds: float) -> Rate:
    """Loads for that long."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency", "--timeout", "10s"]
    for name, value in target.headers.items():
        command += ["-H", f"{name}: {value}"]
    with tempfile.TemporaryDirectory() as folder:
        if target.body:
            script = Path(folder, "post.lua")
            method = target.method or "POST"
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            script.write_text(
                f'wrk.method = "{method}"\nwrk.body = [[{target.body}]]\n'
                f'wrk.headers["Content-Type"] = "{kind}"\n',
                encoding="utf-8",
            )
            command += ["-s", str(script)]
        if target.counts:
            script = Path(folder, "count.lua")
            path = target.url.split("/", 3)[3]
            script.write_text(
                f"local number = {next(_NUMBERS)}\nfunction request()\n  number = number + 1\n"
                f'  return wrk.format("GET", "/{path}" .. string.format("%d", number))\nend\n',
                encoding="utf-8",
            )
            command += ["-s", str(script)]
        done = subprocess.run(
            [*command, target.url], capture_output=True, text=True, timeout=seconds + 60
        )
    if done.returncode != 0:
        raise SystemExit(f"wrk on {target.url}: {done.stdout}{done.stderr}")
    return read(done.stdout)


def read(text: str) -> Rate:
    """wrk's report."""
    total = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)", text)
    if not total:
        raise SystemExit(f"wrk said: {text}")
    failed = sum(int(found) for found in re.findall(r"Non-2xx or 3xx responses: (\d+)", text))
    failed += sum(int(found) for found in re.findall(r"(?:connect|read|write|timeout) (\d+)", text))
    return Rate(
        int(total[1]),
        float(total[2]) * _UNITS[total[3]] / 1000,
        _percentile(text, "50"),
        _percentile(text, "99"),
        failed,
    )


def _percentile(text: str, share: str) -> float:
    found = re.search(rf"^\s+{share}%\s+([\d.]+)(us|ms|s|m)$", text, re.MULTILINE)
    return float(found[1]) * _UNITS[found[2]] if found else 0.0
