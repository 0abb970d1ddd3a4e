"""Tests that a machine with nothing but a gateway's address and a key gets the clients from it, by
npm and pip themselves, and that what it gets is what the list says.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from dev import node_packages, python_packages
from harness import Account, Gateway, Suite
from harness.suite import ROOT

_NODE = ROOT / "tests" / "e2e" / "node"


@pytest.fixture(name="offered", scope="module")
def _offered(suite: Suite) -> dict[str, Any]:
    """The list that programs read."""
    answer = requests.get(suite["API"] + "/downloads/index.json", timeout=30)
    assert answer.status_code == 200
    listed: dict[str, Any] = answer.json()
    return listed


@pytest.fixture(name="machine")
def _machine(suite: Suite, tmp_path: Path) -> dict[str, str]:
    """The variables of a user on another machine: no clone, no home, no registry."""
    return {
        "PATH": node_packages.ensure(_NODE)["PATH"],
        "HOME": str(tmp_path / "home"),
        "TEMPINBOX_BASE_URL": suite["API"],
        "TEMPINBOX_API_KEY": Account.make(suite).key,
        "npm_config_registry": "http://127.0.0.1:9/",  # nobody listens there
        "npm_config_audit": "false",
        "npm_config_fetch_retries": "0",
        "npm_config_update_notifier": "false",
        "PIP_NO_INDEX": "1",
    }


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _only(offered: dict[str, Any], kind: str) -> str:
    (name,) = (file["name"] for file in offered["files"] if file["kind"] == kind)
    return str(name)


def test_every_file_is_what_the_list_says(suite: Suite, offered: dict[str, Any]) -> None:
    assert offered["version"] == (ROOT / "VERSION").read_text(encoding="ascii").strip()
    assert {file["kind"] for file in offered["files"]} == {"npm", "python", "chart", "file"}
    page = requests.get(suite["API"] + "/downloads/", timeout=30)
    for file in offered["files"]:
        answer = requests.get(suite["API"] + "/downloads/" + file["name"], timeout=30)
        assert answer.status_code == 200
        assert len(answer.content) == file["size"]
        assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
        assert file["sha256"] in page.text


def test_npm_installs_the_client_and_its_command_line(
    suite: Suite, machine: dict[str, str], tmp_path: Path
) -> None:
    _run(["npm", "init", "--yes"], tmp_path, machine)
    _run(["npm", "install", suite["API"] + "/downloads/tempinbox.tgz"], tmp_path, machine)

    made = json.loads(_run(["npx", "tempinbox", "create", "--json"], tmp_path, machine))
    script = """
      import { Tempinbox } from 'tempinbox';
      console.log((await new Tempinbox().getInbox(process.argv[1])).emailAddress);
    """
    command = ["node", "--input-type=module", "-e", script, made["inboxId"]]
    assert _run(command, tmp_path, machine).strip() == made["emailAddress"]


def test_npx_runs_the_command_line_without_installing_it(
    suite: Suite, offered: dict[str, Any], machine: dict[str, str], tmp_path: Path
) -> None:
    address = f"{suite['API']}/downloads/{_only(offered, 'npm')}"

    printed = _run(["npx", "--yes", address, "--version"], tmp_path, machine)

    assert printed == f"tempinbox {offered['version']}\n"


def test_pip_installs_the_client(
    suite: Suite, offered: dict[str, Any], machine: dict[str, str], tmp_path: Path
) -> None:
    """What it needs is there already, of the packages that tests are pinned to."""
    address = f"{suite['API']}/downloads/{_only(offered, 'python')}"
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target)]
    _run([*install, address], tmp_path, machine)

    interpreter = python_packages.python(python_packages.CLIENTS)
    script = """
import tempinbox
with tempinbox.Tempinbox() as client:
    print(tempinbox.__file__, client.create_inbox().email_address)
"""
    known = machine | {"PYTHONPATH": str(target)}
    module, address = _run([str(interpreter), "-c", script], tmp_path, known).split()
    assert Path(module).is_relative_to(target)
    assert address.endswith("@" + suite["DOMAIN"])


def test_a_gateway_without_files_has_no_page(suite: Suite) -> None:
    with Gateway(suite, download_files="/nowhere") as gateway:
        answer = requests.get(f"http://{gateway.address}/downloads/", timeout=30)

    assert answer.status_code == 404


def test_below_a_path_the_links_lead_to_the_files(suite: Suite, offered: dict[str, Any]) -> None:
    with Gateway(suite, base_path="/mail") as gateway:
        site = f"http://{gateway.address}/mail/downloads"
        page = requests.get(site, timeout=30)
        links = re.findall(r'<h2><a href="([^"]+)">', page.text)

        assert page.url == site + "/"
        assert links == [file["name"] for file in offered["files"]]
        assert requests.get(page.url + os.path.basename(links[0]), timeout=30).status_code == 200
