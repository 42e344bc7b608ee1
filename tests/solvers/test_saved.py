"""solvers/saved.py: what is written is read back, and damage is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from engine_ext.errors import SavedStateError
from solvers.saved import read_saved, write_saved


def test_round_trip_keeps_shapes_dtypes_and_meta(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.int8).reshape(2, 3), "empty": np.zeros((0, 2)), "b": np.array([1.5, -2.25])}
    write_saved(tmp_path / "file", "thing", 3, {"name": "ä", "list": [1, 2]}, arrays)
    meta, found = read_saved(tmp_path / "file", "thing", 3)
    assert meta == {"name": "ä", "list": [1, 2]}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize("position", [0, 9, 40, -40, -1])
def test_any_flipped_byte_is_noticed(tmp_path, position):
    path = tmp_path / "file"
    write_saved(path, "thing", 1, {}, {"a": np.arange(10.0)})
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(SavedStateError):
        read_saved(path, "thing", 1)


def test_short_missing_and_foreign_files_are_named(tmp_path):
    path = tmp_path / "file"
    write_saved(path, "thing", 1, {}, {"a": np.arange(10.0)})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SavedStateError, match="damaged or cut short"):
        read_saved(path, "thing", 1)
    with pytest.raises(SavedStateError, match="cannot be read"):
        read_saved(tmp_path / "none", "thing", 1)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(SavedStateError, match="not a file of saved arrays"):
        read_saved(tmp_path / "text", "thing", 1)
    write_saved(path, "thing", 1, {}, {})
    with pytest.raises(SavedStateError, match="holds a thing, a tree was expected"):
        read_saved(path, "tree", 1)
    with pytest.raises(SavedStateError, match="version 1, this release reads version 2"):
        read_saved(path, "thing", 2)
