"""The completion scripts, in the shells they are for."""

import os
import pty
import re
import select
import shutil
import subprocess
from pathlib import Path

import pytest
from cli import Cli

_COMMANDS = [
    *("create", "list", "rm", "open", "capture", "wait", "code", "link", "read", "listen"),
    "completion",
]


def _need(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


@pytest.fixture
def script(cli: Cli, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The script for the shell that the parameter names."""
    user = cli.without("TEMPINBOX_BASE_URL", "TEMPINBOX_API_KEY")
    file = tmp_path / f"tempinbox.{request.param}"
    file.write_text(user.text("completion", request.param), encoding="utf-8")
    return file


def _bash(script: Path, line: str) -> list[str]:
    """Returns what bash offers at the end of the line."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    typed = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}"
    shown = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [_need("bash"), "--norc", "-c", f"source '{script}'; {typed}; _tempinbox; {shown}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash(script: Path, tmp_path: Path) -> None:
    (tmp_path / "my.key").touch()

    assert set(_COMMANDS) <= set(_bash(script, "tempinbox "))
    assert _bash(script, "tempinbox cr") == ["create"]
    assert _bash(script, "tempinbox --json li") == ["list", "link", "listen"]
    assert _bash(script, "tempinbox create --t") == ["--ttl", "--tag"]
    assert _bash(script, "tempinbox capture a@b --env l") == ["laravel"]
    assert _bash(script, "tempinbox list --status ") == ["active", "expired", "all"]
    assert _bash(script, "tempinbox link a@b --kind re") == ["reset"]
    assert _bash(script, "tempinbox list a@b --link-kind v") == ["verify"]
    assert _bash(script, "tempinbox wait a@b --has-") == [
        "--has-code",
        "--has-link",
        "--has-attachment",
    ]
    assert _bash(script, "tempinbox completion ") == ["bash", "zsh", "fish"]
    assert _bash(script, f"tempinbox list --key-file {tmp_path}/my.") == [f"{tmp_path}/my.key"]


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish(cli: Cli, script: Path) -> None:
    shell = _need("fish")

    def offered(line: str) -> list[str]:
        done = subprocess.run(
            [shell, "--no-config", "-c", f"source '{script}'; complete -C '{line}'"],
            env=cli.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stderr == ""
        words = [each.split("\t")[0] for each in done.stdout.splitlines()]
        # From version 4 on, fish adds what has the typed letters elsewhere.
        return [word for word in words if word.startswith(line.rpartition(" ")[2])]

    assert sorted(offered("tempinbox ")) == sorted(_COMMANDS)
    assert offered("tempinbox cr") == ["create"]
    assert sorted(offered("tempinbox create --t")) == ["--tag", "--ttl"]
    assert offered("tempinbox list --status ") == ["active", "all", "expired"]
    assert sorted(offered("tempinbox completion ")) == ["bash", "fish", "zsh"]


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh(cli: Cli, script: Path, tmp_path: Path) -> None:
    shell = _need("zsh")

    def typed(line: str) -> str:
        """Returns the line as it is after a tab."""
        master, terminal = pty.openpty()
        with subprocess.Popen(
            [shell, "-f", "-i"],
            env=cli.environment(ZDOTDIR=str(tmp_path)),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        ) as running:
            os.close(terminal)
            os.write(
                master,
                (
                    "PROMPT=; unsetopt prompt_sp; autoload -Uz compinit; compinit -u -D; "
                    f"source '{script}'; show() {{ print -r -- \"<$BUFFER>\"; }}; "
                    "zle -N show; bindkey '^X' show; print rea''dy\n"
                ).encode(),
            )
            _until(master, rb"ready\r\n")
            os.write(master, f"{line}\t\x18".encode())
            shown = _until(master, rb"<([^>]*)>")
            running.kill()
        os.close(master)
        return shown.decode()

    assert typed("tempinbox cr") == "tempinbox create "
    assert typed("tempinbox create --tt") == "tempinbox create --ttl "
    assert typed("tempinbox list --status exp") == "tempinbox list --status expired "
    assert typed("tempinbox completion f") == "tempinbox completion fish "


def _until(descriptor: int, pattern: bytes) -> bytes:
    seen = b""
    while not (found := re.search(pattern, seen)):
        ready, _, _ = select.select([descriptor], [], [], 60)
        assert ready, seen
        seen += os.read(descriptor, 4096)
    return found[1] if found.groups() else found[0]
