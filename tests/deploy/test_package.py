"""The chart's package is what helm would make of the folder, and installs as the folder does."""

import subprocess
import tarfile
from pathlib import Path

import pytest
from chart import CHART, values_file
from dev import client_packages, kubernetes_tools


@pytest.fixture(name="package", scope="module")
def _package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return client_packages.chart(tmp_path_factory.mktemp("chart"))


def _helm(*arguments: str) -> str:
    command = [str(kubernetes_tools.helm()), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _contents(package: Path) -> dict[str, bytes]:
    with tarfile.open(package) as archive:
        contents = {member.name: archive.extractfile(member) for member in archive}
        return {name: content.read() for name, content in contents.items() if content}


def test_package_holds_what_helm_packs(package: Path, tmp_path: Path) -> None:
    _helm("package", str(CHART), "--destination", str(tmp_path))
    (expected,) = (_contents(path) for path in tmp_path.iterdir())
    found = _contents(package)

    assert set(found) == set(expected)
    # helm writes the chart's description anew, in its own order.
    del found["tempinbox/Chart.yaml"], expected["tempinbox/Chart.yaml"]
    assert found == expected


def test_package_renders_as_the_folder_does(package: Path) -> None:
    values = str(values_file("minimal"))

    assert _helm("template", "x", str(package), "--values", values) == _helm(
        "template", "x", str(CHART), "--values", values
    )
