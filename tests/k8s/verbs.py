"""`./dev k8s`: what each action does."""

import os
import subprocess

from dev import packages, paths, python_packages
from dev.running import stop_on_signals
from dev.terminal import paint, say

from k8s import cluster, layout, namespaces

LACKING = 3  # the exit code where this machine cannot


def run(action: str, arguments: list[str]) -> int:
    """The exit code of the action."""
    if action == "down":
        cluster.down()
        return 0
    if lacks_something():
        return LACKING
    if action == "run":
        return _rehearse(arguments)
    if action == "up":
        stop_on_signals()
        cluster.up()
        say(f"\n./dev k8s kubectl get pods -A; logs are in {layout.LOGS}")
        return 0
    if not namespaces.is_running():
        say("no cluster runs: ./dev k8s up")
        return LACKING
    command = arguments if action == "exec" else [action, *arguments]
    return subprocess.run([*namespaces.entrance(), *command], env=_environment()).returncode


def _rehearse(arguments: list[str]) -> int:
    """Runs the rehearsal with the packages of the end-to-end tests."""
    packages.ensure("test")
    command = [str(python_packages.python()), "-B", "-m", "k8s.rehearsal", *arguments]
    environment = paths.clean_environment() | {"PYTHONPATH": paths.HARNESS_PYTHON_PATH}
    try:
        return subprocess.run(command, cwd=paths.ROOT, env=environment).returncode
    except KeyboardInterrupt:  # it got the same signal, and says so
        return 130


def lacks_something() -> bool:
    """Says what is missing, if anything is."""
    found = cluster.missing()
    for each in found:
        say(paint("missing: ", "red") + each)
    return bool(found)


def _environment() -> dict[str, str]:
    return layout.environment() | {"TERM": os.environ.get("TERM", "dumb")}
