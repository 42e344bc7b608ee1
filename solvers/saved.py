"""Files of arrays that notice damage: trees, policies and checkpoints are kept in them.

Layout, little-endian: the 8 bytes `QNDYFILE`, the header's length as uint64, the header as JSON,
the arrays one after another, each padded to a multiple of 8 bytes, and a 32-byte BLAKE2b digest
of everything before it. The header
holds `kind` and `version` (of that kind), `meta` (any JSON) and the name, dtype and shape of every
array. A file is written beside its place and moved there, so an interrupted write leaves the old
file whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine_ext.errors import SavedStateError, reason
from engine_ext.files import read_file, whole_file

_MAGIC = b"QNDYFILE"
_DIGEST_BYTES = 32
_CHUNK_BYTES = 1 << 24
_ALIGN = 8


def write_saved(
    path: str | Path, kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a file of arrays, replacing what is there only once it is complete.

    Args:
        path: where to; its folder must exist.
        kind: what the file holds, e.g. `flat tree`.
        version: of that kind's contents.
        meta: anything JSON can hold.
        arrays: by name; any shape and plain dtype.

    Raises:
        SavedStateError: it cannot be written; what was there is as it was.
    """
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in ((name, np.asarray(array)) for name, array in arrays.items())
    }
    header = json.dumps(
        {
            "kind": kind,
            "version": version,
            "meta": dict(meta),
            "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()],
        }
    ).encode()
    header += b" " * (-len(header) % _ALIGN)
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    try:
        with whole_file(path) as file:
            for block in (_MAGIC, len(header).to_bytes(8, "little"), header):
                file.write(block)
                digest.update(block)
            for array in plain.values():
                view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
                for start in range(0, len(view), _CHUNK_BYTES):
                    file.write(view[start : start + _CHUNK_BYTES])
                    digest.update(view[start : start + _CHUNK_BYTES])
                padding = bytes(-len(view) % _ALIGN)
                file.write(padding)
                digest.update(padding)
            file.write(digest.digest())
    except OSError as error:
        raise SavedStateError(f"{path}: the {kind} cannot be written: {reason(error)}") from error


def read_saved(path: str | Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file that `write_saved` wrote.

    Returns:
        (meta, arrays by name; read-only views of the file's contents)

    Raises:
        SavedStateError: missing, damaged, of another kind or of another version.
    """
    header, body, at = _read(path, kind)
    found, found_version, meta, listed = header
    if found != kind:
        raise SavedStateError(f"{path}: holds a {found}, a {kind} was expected")
    if found_version != version:
        raise SavedStateError(f"{path}: {kind} of version {found_version}, this release reads version {version}")
    return meta, _arrays_of(body, at, listed)


def kind_of(path: str | Path, expected: str) -> tuple[str, dict[str, Any]]:
    """What a file that `write_saved` wrote holds: its kind and its meta.

    Args:
        expected: what it should hold, for messages.

    Raises:
        SavedStateError: missing or damaged.
    """
    (kind, _, meta, _), _, _ = _read(path, expected)
    return kind, meta


def _read(path: str | Path, expected: str) -> tuple[tuple[Any, ...], memoryview, int]:
    """The header of a file (kind, version, meta, the list of its arrays), all but its checksum, and where its arrays
    begin there."""
    try:
        data = read_file(path)
    except OSError as error:
        raise SavedStateError(f"{path}: cannot be read: {reason(error)}") from error
    if data[: len(_MAGIC)] != _MAGIC:
        raise SavedStateError(f"{path}: not a file of saved arrays; a {expected} was expected")
    body = memoryview(data)[: max(0, len(data) - _DIGEST_BYTES)]
    if hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest() != data[len(body) :]:
        raise SavedStateError(f"{path}: damaged or cut short: its checksum does not match")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    try:
        header = json.loads(data[start:end])
        return tuple(header[key] for key in ("kind", "version", "meta", "arrays")), body, end
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SavedStateError(f"{path}: its header cannot be read: {error}") from error


def _arrays_of(body: memoryview, at: int, listed: list[tuple[str, str, list[int]]]) -> dict[str, np.ndarray]:
    """The arrays of a file by name, from that place on."""
    arrays = {}
    for name, dtype, shape in listed:
        count = int(np.prod(shape, dtype=np.int64))
        if count:
            arrays[name] = np.frombuffer(body, dtype=dtype, count=count, offset=at).reshape(shape)
        else:
            arrays[name] = np.zeros(shape, dtype=dtype)
        size = count * np.dtype(dtype).itemsize
        at += size + -size % _ALIGN
    return arrays


def read_checkpoint(
    path: str | Path, kind: str, version: int, setting: dict[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a checkpoint of a run with this very setting.

    Args:
        path: what `write_saved` wrote; its meta has `setting`, and `name` of the game.
        kind: as for `read_saved`.
        version: likewise.
        setting: of the run that wants to continue; `game` is the game's digest.
        name: of its game, for messages.

    Returns:
        As for `read_saved`.

    Raises:
        SavedStateError: as for `read_saved`, or of another game, solver or setting.
    """
    meta, arrays = read_saved(path, kind, version)
    for key, value in setting.items():
        found = meta["setting"].get(key)
        if found != value:
            what = f"another game ({meta['name']})" if key == "game" else f"{key}={found}"
            here = name if key == "game" else f"{key}={value}"
            raise SavedStateError(f"{path}: this checkpoint is of {what}; here it is {here}")
    return meta, arrays
