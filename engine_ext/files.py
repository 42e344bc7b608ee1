"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to; what is at `path` is replaced at the end, once all has reached the disk.

    A crash, a kill or a full disk leaves the old file or the new one, never half of one. (After a kill a
    hidden file with the beginning of the new one may stay beside it.) Links are followed.

    Raises:
        OSError: the folder or the file cannot be written to, or `path` is no ordinary file.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Not an ordinary file", str(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Have the new name reach the disk, too, where the system can be asked to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
