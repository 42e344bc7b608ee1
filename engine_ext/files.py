"""Files that are either whole or not there, and such as come to an end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not a Unix: what a kill leaves stays
    fcntl = None  # type: ignore[assignment]

_TOKEN_BYTES = 6
_SUFFIX = ".part"


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to; what is at `path` is replaced at the end, once all has reached the disk.

    A crash, a kill or a full disk leaves the old file or the new one, never half of one. Links are followed.
    After a kill a hidden file with the beginning of the new one stays beside it; the next one who writes to
    the same path removes it. Those that somebody is still writing to are locked, and stay.

    Raises:
        OSError: the folder or the file cannot be written to, or `path` is no ordinary file.
    """
    target = Path(os.path.realpath(path))
    _require_ordinary(target)
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _remove_left_over(target)
    beside, handle = _begun(target)
    try:
        with _kept_locked(handle):
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


def read_file(path: str | Path) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read, or is no ordinary file: devices and pipes may have no end.
    """
    _require_ordinary(Path(path))
    return Path(path).read_bytes()


def read_text(path: str | Path) -> str:
    """The text of a file that a user may have written.

    Raises:
        OSError: as `read_file`.
        ValueError: as `decoded`.
    """
    return decoded(read_file(path))


def decoded(raw: bytes) -> str:
    """The text of UTF-8 bytes, without the byte-order mark that some editors begin it with; every line ends in \\n.

    Raises:
        ValueError: no UTF-8; says where.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        wrong = error.object[error.start]
        raise ValueError(
            f"it must be UTF-8 text, and byte {error.start + 1} (0x{wrong:02x}, in line {line}) is none"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _require_ordinary(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not an ordinary file", str(path))


def _begun(target: Path) -> tuple[Path, int]:
    """A new file beside the target, open and locked until it is closed."""
    while True:
        beside = target.with_name(f"{_prefix(target)}{secrets.token_hex(_TOKEN_BYTES)}{_SUFFIX}")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        # Before it is locked somebody may take it for left over; then another one is begun.
        if _lock(handle) is not False and beside.exists():
            return beside, handle
        os.close(handle)


def _prefix(target: Path) -> str:
    return f".{target.name[:100]}."


def _remove_left_over(target: Path) -> None:
    """Remove what writers to this path have left that are no more."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            token = name.removeprefix(prefix).removesuffix(_SUFFIX)
            if name != f"{prefix}{token}{_SUFFIX}" or not re.fullmatch(f"[0-9a-f]{{{2 * _TOKEN_BYTES}}}", token):
                continue
            with contextlib.suppress(OSError):
                handle = os.open(target.with_name(name), os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    if stat.S_ISREG(os.fstat(handle).st_mode) and _lock(handle):
                        os.unlink(target.with_name(name))
                finally:
                    os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file for as long as it is open: whoever has it ends, however that comes about, the lock ends, too.

    Returns:
        False where somebody else has it locked; None where there are no locks, and so nothing is ever removed.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


@contextlib.contextmanager
def _kept_locked(handle: int) -> Iterator[None]:
    """Keep a file locked that is closed meanwhile."""
    if fcntl is None:
        yield
        return
    second = os.dup(handle)
    try:
        yield
    finally:
        os.close(second)


def _sync_folder(folder: Path) -> None:
    """Have the new name reach the disk, too, where the system can be asked to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
