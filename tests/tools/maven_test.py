import hashlib
import tempfile
import unittest
from pathlib import Path

from dev import jakarta_mail, kafka, maven
from dev.terminal import Failure


class Verify(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.jars = Path(folder.name) / "jars"
        self.jars.mkdir()
        self.digests = Path(folder.name) / "digests"
        lines = []
        for name in ("one-1.0.jar", "two-2.0.jar"):
            (self.jars / name).write_bytes(name.encode())
            lines.append(f"{hashlib.sha512(name.encode()).hexdigest()}  {name}\n")
        self.digests.write_text("".join(lines), encoding="ascii")

    def refusal(self) -> str:
        with self.assertRaises(Failure) as refused:
            maven.verify(self.jars, self.digests)
        return str(refused.exception)

    def test_exactly_the_listed_ones_pass(self) -> None:
        maven.verify(self.jars, self.digests)

    def test_a_missing_one_is_named(self) -> None:
        (self.jars / "two-2.0.jar").unlink()
        self.assertIn("two-2.0.jar is missing", self.refusal())

    def test_one_too_many_is_named(self) -> None:
        (self.jars / "three-3.0.jar").write_bytes(b"three")
        self.assertIn("three-3.0.jar is not in the list", self.refusal())

    def test_a_different_one_is_named(self) -> None:
        (self.jars / "one-1.0.jar").write_bytes(b"something else")
        self.assertIn("one-1.0.jar is another file", self.refusal())

    def test_a_new_version_is_one_missing_and_one_extra(self) -> None:
        (self.jars / "one-1.0.jar").rename(self.jars / "one-1.1.jar")
        refusal = self.refusal()
        self.assertIn("one-1.0.jar is missing", refusal)
        self.assertIn("one-1.1.jar is not in the list", refusal)
        self.assertNotIn("two-2.0.jar", refusal)

    def test_the_list_of_the_tree_names_kafka(self) -> None:
        for version in (kafka.VERSION, kafka.OLDER_VERSION):
            listed = kafka.digests_of(version).read_text(encoding="ascii")
            self.assertRegex(listed, rf"(?m)^[0-9a-f]{{128}}  kafka_2\.13-{version}\.jar$")

    def test_the_list_of_the_tree_names_jakarta_mail(self) -> None:
        listed = jakarta_mail.digests().read_text(encoding="ascii")
        self.assertRegex(
            listed, rf"(?m)^[0-9a-f]{{128}}  jakarta\.mail-{jakarta_mail.VERSION}\.jar$"
        )


if __name__ == "__main__":
    unittest.main()
