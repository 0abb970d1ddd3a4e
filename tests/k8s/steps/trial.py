"""The chart's trial, as somebody who sees the suite for the first time installs it."""

import json
import re
import smtplib
import subprocess
import time
import urllib.error
import urllib.request
from email.message import EmailMessage
from typing import Any

from dev.terminal import fail

from k8s import installation, layout
from k8s.course import Course
from k8s.installation import CHART, RELEASE, attempt, kubectl

_NAMESPACE = "trial"
_MAX_SECONDS = 300
_CODE = "482913"


def trial(_: Course) -> str:
    """From `helm install` to a code that came by mail, with the values file alone."""
    installation.make_namespace(_NAMESPACE)
    began = time.monotonic()
    command = ["helm", "-n", _NAMESPACE, "install", RELEASE, str(CHART)]
    command += ["--values", str(CHART / "values.trial.yaml"), f"--timeout={_MAX_SECONDS}s"]
    done = attempt(*command)
    if done.returncode != 0:
        fail(f"helm install failed: {done.stderr[-1500:]}{_pods()}")
    installed = time.monotonic() - began
    key = _key(done.stdout)
    kubectl("rollout", "status", "deployment", f"--timeout={_MAX_SECONDS}s", namespace=_NAMESPACE)
    inbox = _call("POST", "/v1/inboxes", key)
    _mail(inbox["emailAddress"])
    found = _call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails/wait?hasCode=true", key)
    codes = [it["value"] for it in (found["email"] or {}).get("codes", [])]
    seconds = time.monotonic() - began
    if codes != [_CODE]:
        fail(f"the wait answered {json.dumps(found)[:500]}")
    if seconds > _MAX_SECONDS:
        fail(f"a code after {seconds:.0f} s, {_MAX_SECONDS} at most")
    _upgrade(key)
    attempt("helm", "-n", _NAMESPACE, "uninstall", RELEASE, "--wait")
    kubectl("delete", "namespace", _NAMESPACE, "--wait=false", namespace="default")
    return f"helm install {installed:.0f} s, a code after {seconds:.0f} s"


def _key(notes: str) -> str:
    """What the line of the notes prints, run as it is."""
    (line,) = re.findall(r"^ *(KEY=.*)$", notes, re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", f'{line}; echo "$KEY"'],
        env=layout.environment(),
        capture_output=True,
        text=True,
    )
    key = done.stdout.strip()
    if not key:
        fail(f"the notes' line for the key printed nothing: {done.stderr[-500:]}")
    return key


def _address(name: str) -> tuple[str, int]:
    spec = installation.get("service", name, namespace=_NAMESPACE)["spec"]
    return spec["clusterIP"], spec["ports"][0]["port"]


def _call(method: str, path: str, key: str) -> Any:
    host, port = _address(f"{RELEASE}-gateway")
    request = urllib.request.Request(
        f"http://{host}:{port}{path}", method=method, headers={"X-API-Key": key}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - of this package
            return json.load(response)
    except urllib.error.HTTPError as refused:
        fail(f"{method} {path} is answered {refused.code}: {refused.read().decode()[:500]}")


def _mail(to: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "robot@sender.example", to, "Sign in"
    mail.set_content(f"Your code is {_CODE}.\n")
    host, port = _address(f"{RELEASE}-mail")
    with smtplib.SMTP(host, port, local_hostname="sender.example", timeout=30) as server:
        server.send_message(mail)


def _upgrade(key: str) -> None:
    """Keeps the generated secrets: the pods go on, and so does the key."""
    before = installation.get("secret", f"{RELEASE}-dev", namespace=_NAMESPACE)["data"]
    command = ["helm", "-n", _NAMESPACE, "upgrade", RELEASE, str(CHART), "--reuse-values"]
    done = attempt(*command, f"--timeout={_MAX_SECONDS}s")
    if done.returncode != 0:
        fail(f"helm upgrade failed: {done.stderr[-1500:]}")
    if installation.get("secret", f"{RELEASE}-dev", namespace=_NAMESPACE)["data"] != before:
        fail("an upgrade made other secrets")
    _call("GET", "/v1/inboxes", key)


def _pods() -> str:
    return "\n" + attempt("kubectl", "-n", _NAMESPACE, "get", "pods").stdout
