import json
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Also in a list of arguments. What it brings is chosen on the day, not by a lock file.
_UNLOCKED = re.compile(r"\bnpm[\s\"',\[]+(?:install|i|add|update)\b|\bnpx\b")


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in sorted(set(listed.stdout.split("\0"))) if name]
    return [path for path in paths if path.is_file()]


class LockFiles(unittest.TestCase):
    def test_there_is_one_beside_every_package_json(self) -> None:
        for package in tracked("*package.json"):
            with self.subTest(package.relative_to(ROOT)):
                self.assertTrue(package.with_name("package-lock.json").exists())

    def test_each_package_has_its_digest_and_no_host(self) -> None:
        locks = tracked("*package-lock.json")
        self.assertGreaterEqual(len(locks), 3)
        for lock in locks:
            packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
            for name, package in packages.items():
                if name == "":  # the folder itself
                    continue
                with self.subTest(f"{lock.relative_to(ROOT)}: {name}"):
                    self.assertRegex(package.get("integrity", ""), r"^sha512-")
                    self.assertNotIn("resolved", package)

    def test_npm_leaves_hosts_out_when_it_writes_one(self) -> None:
        for lock in tracked("*package-lock.json"):
            with self.subTest(lock.relative_to(ROOT)):
                settings = lock.with_name(".npmrc").read_text(encoding="ascii").splitlines()
                self.assertIn("omit-lockfile-registry-resolved=true", settings)


class Tools(unittest.TestCase):
    def test_nothing_is_installed_without_a_lock_file(self) -> None:
        for path in tracked("dev", "tools"):
            if path.name != "package-lock.json":
                with self.subTest(path.relative_to(ROOT)):
                    self.assertNotRegex(path.read_text(encoding="utf-8"), _UNLOCKED)

    def test_that_is_noticed_in_a_list_of_arguments_too(self) -> None:
        self.assertRegex('"npm",\n        "install",', _UNLOCKED)
        self.assertRegex("npm install node", _UNLOCKED)
        self.assertNotRegex('"npm", "ci", "--ignore-scripts"', _UNLOCKED)


if __name__ == "__main__":
    unittest.main()
