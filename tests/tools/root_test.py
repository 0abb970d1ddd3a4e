"""A bare root has the mirror and settings of this machine's apt, and nothing else of the caller."""

import os
import tempfile
import unittest
from pathlib import Path

from dev import root
from dev.root import Source

_TARGETS = (
    "http://mirror.test/debian/ bookworm main\n"
    "http://mirror.test/debian/ bookworm contrib\n"
    "http://mirror.test/debian-security/ bookworm-security main\n"
    "http://mirror.test/debian/ bookworm-updates main\n"
    "https://vendor.test/apt/ bookworm stable\n"
    "https://vendor.test/pg/ bookworm-pgdg main\n"
    "https://vendor.test/node/ nodistro main\n"
)


class Sources(unittest.TestCase):
    """What apt's own sources say of a mirror."""

    def test_the_suites_of_this_release_are_those_of_the_other(self) -> None:
        found = root.of_release(root.read_sources(_TARGETS), "trixie")
        self.assertEqual(
            root.sources_list(found),
            "deb http://mirror.test/debian trixie main\n"
            "deb http://mirror.test/debian-security trixie-security main\n"
            "deb http://mirror.test/debian trixie-updates main\n",
        )

    def test_the_mirror_comes_first_and_a_suite_once(self) -> None:
        uri = "http://mirror.test/debian"
        both = [
            Source(uri, "trixie-updates", "main"),
            Source(uri, "bookworm", "main"),
            Source(uri, "trixie", "main"),
        ]
        self.assertEqual(
            root.of_release(both, "bookworm"),
            [Source(uri, "bookworm", "main"), Source(uri, "bookworm-updates", "main")],
        )

    def test_a_system_that_is_not_debian_has_none(self) -> None:
        self.assertEqual(root.read_sources("http://mirror.test/ubuntu/ noble main\n"), [])


class Settings(unittest.TestCase):
    """Which of apt's settings are copied."""

    def test_those_about_fetching_are(self) -> None:
        for text in (
            'Acquire::http::Proxy "http://proxy.test:3128";\n',
            'APT::Color "0";\nacquire {\n  Retries "3";\n};\n',
        ):
            self.assertTrue(root.concerns_fetching(text), text)

    def test_others_are_not(self) -> None:
        for text in (
            'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };\n',
            '// Acquire::http::Proxy "http://proxy.test:3128";\n',
        ):
            self.assertFalse(root.concerns_fetching(text), text)


class Entering(unittest.TestCase):
    """What a command in the root is given."""

    def test_the_caller_s_variables_stay_outside_but_for_terminal_and_proxies(self) -> None:
        caller = {"TERM": "vt100", "HTTPS_PROXY": "http://proxy.test", "TEMPINBOX_API": "x"}
        given = root.environment(caller, own_certificates=False)
        self.assertEqual(set(given), {"HOME", "LANG", "PATH", "TERM", "CCACHE_DIR", "HTTPS_PROXY"})
        self.assertEqual(given["TERM"], "vt100")

    def test_own_certificates_are_named_to_programs_that_bring_others(self) -> None:
        given = root.environment({}, own_certificates=True)
        self.assertEqual(given["NODE_EXTRA_CA_CERTS"], "/etc/ssl/certs/ca-certificates.crt")

    def test_the_command_runs_in_the_clone_and_without_one_a_shell_does(self) -> None:
        for command in (["./dev", "up", "-d"], []):
            entering = root.enter_command(Path("/r"), Path("/c"), {"HOME": "/home"}, command)
            self.assertEqual(entering[:2], ["unshare", "--mount"])
            tail = ["--chdir=/srv/tempinbox", "HOME=/home", *(command or ["bash"])]
            self.assertEqual(entering[-len(tail) :], tail)

    def test_a_process_is_found_by_its_root(self) -> None:
        self.assertIn(os.getpid(), root.processes_in(Path("/proc/self/root").readlink()))
        with tempfile.TemporaryDirectory() as unused:
            self.assertEqual(root.processes_in(Path(unused)), [])


if __name__ == "__main__":
    unittest.main()
