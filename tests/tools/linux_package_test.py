"""Tests what the package for Linux has, and that systemd takes its units."""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from dev import archives, linux_package, paths, services, version
from dev.terminal import Failure


def _write(folder: Path) -> Path:
    """A package of programs that are no programs of ours, but can be stripped."""
    programs, page, offered = folder / "programs", folder / "page", folder / "offered"
    for made in (programs, page / "assets", offered):
        made.mkdir(parents=True)
    for name in services.PROGRAMS:
        shutil.copy("/bin/true", programs / name)
    (page / "assets" / "page.js").write_text("1")
    (offered / "client.tgz").write_bytes(b"2")
    return linux_package.write(folder, programs, page, offered)


class Content(unittest.TestCase):
    def test_it_is_one_folder_with_programs_that_run(self) -> None:
        with tempfile.TemporaryDirectory() as made, tarfile.open(_write(Path(made))) as packed:
            modes = {member.name: member.mode for member in packed.getmembers()}

        top = f"tempinbox-{version.current()}"
        self.assertEqual({name.split("/")[0] for name in modes}, {top})
        for name in services.PROGRAMS:
            self.assertEqual(modes[f"{top}/bin/{name}"], 0o755)
        for name in (
            "README.md",
            "packages.txt",
            "share/dashboard/assets/page.js",
            "share/downloads/client.tgz",
            "share/compose/.env",
            "share/compose/compose.yaml",
            "share/compose/production.env",
            "share/kafka/topics.json",
            "systemd/tempinbox-.service.d/common.conf",
            "systemd/tempinbox-gateway.service",
        ):
            self.assertEqual(modes[f"{top}/{name}"], 0o644)

    def test_it_is_the_same_each_time(self) -> None:
        digests = set()
        for _ in range(2):
            with tempfile.TemporaryDirectory() as made:
                digests.add(archives.sha256(_write(Path(made))))
        self.assertEqual(len(digests), 1)

    def test_a_missing_program_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            with self.assertRaisesRegex(Failure, services.PROGRAMS[0]):
                linux_package.write(folder, folder, folder, folder)

    def test_it_needs_the_libraries_of_the_images(self) -> None:
        needed = linux_package.needed_packages()
        self.assertIn("librdkafka1", needed)
        self.assertIn("ca-certificates", needed)
        self.assertNotIn("binutils", needed)
        self.assertEqual([name for name in needed if not re.fullmatch(r"[a-z0-9.+-]+", name)], [])


class Units(unittest.TestCase):
    def _verify(self, folder: Path, added: str = "") -> str:
        """What systemd says of the units, with programs that exist and a line more in what they
        share.
        """
        shutil.copytree(linux_package.UNITS, folder / "units")
        programs = folder / "bin"
        programs.mkdir()
        for name in services.PROGRAMS:
            shutil.copy("/bin/true", programs / name)
        units = sorted((folder / "units").glob("*.service"))
        for unit in units:
            text = unit.read_text(encoding="utf-8").replace("/opt/tempinbox/bin", str(programs))
            unit.write_text(text, encoding="utf-8")
        with (folder / "units/tempinbox-.service.d/common.conf").open("a") as shared:
            shared.write(added)
        command = ["systemd-analyze", "verify", "--man=no", *map(str, units)]
        done = subprocess.run(
            command,
            env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder / 'units'}:"},
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    @unittest.skipUnless(shutil.which("systemd-analyze"), "this machine has no systemd")
    def test_systemd_has_nothing_to_say_of_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self._verify(Path(folder)), "")
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("NoSuchKey", self._verify(Path(folder), "NoSuchKey=yes\n"))

    def test_every_service_has_one_with_an_admin_port_of_its_own(self) -> None:
        ports = set()
        for service in services.SERVICES:
            unit = linux_package.UNITS / f"tempinbox-{service}.service"
            text = unit.read_text(encoding="utf-8")
            self.assertIn(f"ExecStart=/opt/tempinbox/bin/tempinbox-{service}\n", text)
            self.assertIn("WantedBy=tempinbox.target\n", text)
            ports |= set(re.findall(r"ADMIN_LISTEN=127\.0\.0\.1:(\d+)\n", text))
        self.assertEqual(len(ports), len(services.SERVICES))

    def test_what_units_set_are_settings(self) -> None:
        listed = (paths.ROOT / "docs/settings.md").read_text(encoding="utf-8")
        for unit in linux_package.UNITS.rglob("*"):
            text = unit.read_text(encoding="utf-8") if unit.is_file() else ""
            for variable in re.findall(r"^Environment=TEMPINBOX_(\w+)=", text, re.MULTILINE):
                with self.subTest(unit.name, variable=variable):
                    self.assertIn(f"`{variable.lower().replace('_', '-')}`", listed)

    def test_only_mail_has_a_capability(self) -> None:
        for unit in linux_package.UNITS.glob("*.service"):
            found = re.findall(r"^CapabilityBoundingSet=(.*)$", unit.read_text(), re.MULTILINE)
            is_mail = unit.stem == "tempinbox-mail-ingest"
            self.assertEqual(found, ["CAP_NET_BIND_SERVICE" if is_mail else ""], unit.name)


if __name__ == "__main__":
    unittest.main()
