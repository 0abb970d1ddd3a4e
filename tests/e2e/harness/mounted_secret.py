"""Files of secrets as Kubernetes mounts them."""

import os
from pathlib import Path


class MountedSecret:
    """A folder whose files are links through one link, `..data`, which is replaced as a whole; the
    files may be read by owner and group only.
    """

    def __init__(self, folder: Path, **contents: str) -> None:
        self._folder = folder
        self._versions = 0
        self._contents: dict[str, str] = {}
        self.put(**contents)

    def put(self, **contents: str) -> None:
        """All of them change at once; the others stay. `database` is the file of that name."""
        self._contents |= contents
        self._versions += 1
        version = self._folder / f"..version_{self._versions}"
        version.mkdir(parents=True)
        for name, content in self._contents.items():
            file = version / name
            file.write_text(content)
            file.chmod(0o440)
            link = self._folder / name
            if not link.is_symlink():
                link.symlink_to(f"..data/{name}")
        new_link = self._folder / "..data_new"
        new_link.symlink_to(version.name)
        os.replace(new_link, self._folder / "..data")

    def file(self, name: str) -> str:
        """Its path, the same over all changes."""
        return str(self._folder / name)
