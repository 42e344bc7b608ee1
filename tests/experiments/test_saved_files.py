"""Every kind of file that is saved and loaded: damage of any sort is named, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import games
from engine_ext.errors import QuandaryError, SavedStateError, TooLargeError
from experiments import gametext
from experiments.play import saving
from experiments.play.session import Session
from solvers.cfr import CFRSolver
from solvers.extraction import extract
from solvers.linear_program import SequenceFormSolver
from solvers.mccfr import NativeMCCFR, TreeMCCFR
from solvers.policies import KeyedPolicy, TabularPolicy
from solvers.tree import FlatTree

TREE = extract("kuhn_poker")
KUHN = games.spec("kuhn").make_rules()
FAVOR = games.spec("quarz").make_rules({"scenario": "favor_duel"})


def keyed() -> NativeMCCFR:
    return NativeMCCFR(KUHN, max_bytes=1 << 20)


def half_walked(walk_nodes: int = 60) -> NativeMCCFR:
    return NativeMCCFR(FAVOR, max_bytes=1 << 20, walk_nodes=walk_nodes)


def run(solver: Any) -> Any:
    """The solver after some iterations."""
    try:
        solver.run(5)
    except TooLargeError:  # half_walked: left within a walk
        assert solver.visited
    return solver


# {kind: (writes a file, loads one)}
KINDS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "cfr": (run(CFRSolver(TREE)).save, lambda path: CFRSolver(TREE).load(path)),
    "node pass": (run(CFRSolver(TREE, form="tree")).save, lambda path: CFRSolver(TREE, form="tree").load(path)),
    "dcfr": (
        run(CFRSolver(TREE, variant="dcfr", alpha=1.2)).save,
        lambda path: CFRSolver(TREE, variant="dcfr", alpha=1.2).load(path),
    ),
    "mccfr": (run(TreeMCCFR(TREE)).save, lambda path: TreeMCCFR(TREE).load(path)),
    "mccfr without a tree": (run(keyed()).save, lambda path: keyed().load(path)),
    "mccfr within a walk": (run(half_walked()).save, lambda path: half_walked().load(path)),
    "sequence form": (run(SequenceFormSolver(TREE)).save, lambda path: SequenceFormSolver(TREE).load(path)),
    "policy": (TabularPolicy.first_action(TREE).save, lambda path: TabularPolicy.load(path, TREE)),
    "keyed policy": (run(keyed()).average_policy().save, lambda path: KeyedPolicy.load(path, KUHN)),
    "tree": (TREE.save, FlatTree.load),
    "native tree": (extract(KUHN).save, FlatTree.load),
    "game": (lambda path: saving.save(Session(gametext.load("kuhn"), 0, ["random"], 7), path), saving.load),
}
# Kinds whose files the other may load: two trees, and an equilibrium, which is a policy.
RELATED = {("tree", "native tree"), ("native tree", "tree"), ("policy", "sequence form")}


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_named_with_its_file(tmp_path, kind):
    """300 bits flipped, 130 cuts, an empty file, something appended: each is refused by name."""
    write, load = KINDS[kind]
    path = tmp_path / "saved"
    write(path)
    load(path)
    whole = path.read_bytes()
    chance = random.Random(kind)
    damaged = [b"", whole + b"\0", whole + whole]
    for _ in range(300):
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        damaged.append(bytes(changed))
    # What a saved game ends in is a line break, which nobody would miss.
    ends = [*range(40), *(len(whole) - k for k in range(2, 42)), *(chance.randrange(len(whole) - 1) for _ in range(50))]
    damaged += [whole[:end] for end in ends]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(SavedStateError, match=r"saved"):
            load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_other_kinds_folders_and_missing_files_are_refused(tmp_path, kind):
    load = KINDS[kind][1]
    for other, (write, _) in KINDS.items():
        path = tmp_path / other.replace(" ", "_")
        write(path)
        if other != kind and (kind, other) not in RELATED:
            with pytest.raises(SavedStateError, match=path.name):
                load(path)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(SavedStateError, match=path.name):
            load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_written_is_named_and_the_old_file_stays(tmp_path, kind, monkeypatch):
    write, load = KINDS[kind]
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "none" / "saved"):
        with pytest.raises(QuandaryError, match=path.name):
            write(path)
    path = tmp_path / "saved"
    write(path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    if kind != "game":  # which is not written over
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(SavedStateError, match=r"saved: .*No space left on device"):
            write(path)
    assert path.read_bytes() == before
    load(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "saved"]
