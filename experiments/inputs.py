"""Files that the bots and solvers of an experiment read: where they are, and that they stay as they were."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine_ext.errors import SavedStateError, reason
from engine_ext.files import read_file
from solvers.specs import Spec


@dataclass(frozen=True)
class Inputs:
    """What an experiment reads besides its config.

    Attributes:
        folder: what relative names start from: that of the config.
        digests: (name as it is written, SHA-256 in hex) of each file.
    """

    folder: Path = Path()
    digests: tuple[tuple[str, str], ...] = ()

    def joined_by(self, spec: Spec) -> Inputs:
        """The same with the files that a spec names, as they are now.

        Raises:
            SavedStateError: one cannot be read.
        """
        known = dict(self.digests)
        for name in spec.files():
            known.setdefault(name, digest(self.folder / name))
        return Inputs(self.folder, tuple(known.items()))

    def of(self, spec: Spec) -> Inputs:
        """What of these a spec needs; equal for specs that need nothing."""
        names = spec.files()
        return Inputs(self.folder, tuple(pair for pair in self.digests if pair[0] in names)) if names else HERE

    def located(self, spec: Spec) -> Spec:
        """A spec with its files where they are.

        Raises:
            SavedStateError: one of them is not as it was.
        """
        known = dict(self.digests)
        for name in spec.files():
            if name in known and digest(self.folder / name) != known[name]:
                raise SavedStateError(f"{self.folder / name} has changed since the run began")
        return spec.located(self.folder)


HERE = Inputs()  # names of the command line start from the working directory


def digest(path: Path) -> str:
    """SHA-256 of a file's content, in hex.

    Raises:
        SavedStateError: it cannot be read.
    """
    try:
        return hashlib.sha256(read_file(path)).hexdigest()
    except OSError as error:
        raise SavedStateError(f"{path}: cannot be read: {reason(error)}") from error
