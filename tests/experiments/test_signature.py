"""Signatures: nothing that is played, searched or solved changes unnoticed.

The table in tests/signatures.json is what the code did when it was last meant to change; it holds
refactorings to their word, and proves nothing else. After a change that is meant,
`quandary signature --json > tests/signatures.json` writes it anew, and the commit says why.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from engine_ext.errors import ParameterError, ResultsError
from experiments import gametext, signature
from tests.experiments.command import command_line, quandary

KEPT = Path(__file__).resolve().parents[1] / "signatures.json"
comparable = pytest.mark.skipif(
    platform.machine() != "x86_64" or "QUANDARY_NATIVE" in os.environ,
    reason="the last bits of values are those of x86-64 without -march=native",
)


RECORDED = list(dict.fromkeys(each.game for each in signature.read(KEPT)))
ANEW = "if that is meant: quandary signature --json > tests/signatures.json"


@comparable
@pytest.mark.parametrize("game", RECORDED)
def test_nothing_has_changed_unnoticed(game):
    assert signature.compare(list(signature.signatures(game)), signature.read(KEPT)).changed == [], ANEW


@comparable
def test_the_kept_table_has_all_variants_and_scenarios_of_its_games():
    """A game that has only just been added may be missing as a whole."""
    names = {gametext.split(text)[0] for text in RECORDED}
    assert {text for text in signature.games_signed() if gametext.split(text)[0] in names} == set(RECORDED), ANEW


def test_another_seed_has_other_signatures(monkeypatch):
    before = list(signature.signatures("quandary_pig"))
    monkeypatch.setattr(signature, "SEED", 2)
    after = list(signature.signatures("quandary_pig"))
    assert all(a.digest != b.digest for a, b in zip(before, after, strict=True))


def test_the_command_compares_with_a_file(tmp_path):
    made = quandary("signature", "quandary_kuhn", "--json")
    assert made.returncode == 0, made.stderr
    path = tmp_path / "kept.json"
    path.write_text(made.stdout)
    same = quandary("signature", "quandary_kuhn", "--compare", path)
    assert same.returncode == 0, same.stderr
    assert "are as they were" in same.stdout
    content = json.loads(made.stdout)
    content["signatures"]["quandary_kuhn"][0]["digest"] = "0" * 12
    path.write_text(json.dumps(content))
    changed = quandary("signature", "quandary_kuhn", "--compare", path)
    assert changed.returncode == 1
    assert changed.stdout.startswith("quandary_kuhn: random: 000000000000")


ROW = '{"signatures": {"pig": [{"solver": %s, "nodes": %s, "digest": "y"}]}}'


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"signatures": {}}',
        '{"signatures": 3}',
        '{"signatures": {"pig": [{"x": 1}]}}',
        ROW % ('"random"', '"x"'),
        ROW % ('["random"]', "1"),
    ],
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "kept.json"
    path.write_text(content)
    with pytest.raises(ResultsError, match=r"kept\.json"):
        signature.read(path)


def test_only_our_games_are_signed():
    with pytest.raises(ParameterError):
        list(signature.signatures("leduc_poker"))


def test_a_game_may_be_spelled_in_any_way_and_must_be_in_the_file():
    assert list(signature.signatures("kuhn()")) == list(signature.signatures("quandary_kuhn"))
    with pytest.raises(ResultsError, match="no signatures of quandary_pig"):
        signature.compare(list(signature.signatures("pig")), list(signature.signatures("kuhn")))


def test_games_that_are_new_are_listed_beside_those_that_are_compared(tmp_path, capsys):
    kuhn = list(signature.signatures("kuhn"))
    (tmp_path / "kept.json").write_text(json.dumps(signature.to_json(kuhn)))
    words = "signature", "pig(goal=6)", "kuhn", "--compare", tmp_path / "kept.json"
    code, output, _ = command_line(capsys, *words)
    assert code == 0
    assert output == (
        f"all {len(kuhn)} signatures are as they were\nquandary_pig(goal=6): new, there is nothing to compare it with\n"
    )
    (tmp_path / "kept.json").write_text(json.dumps(signature.to_json(kuhn[1:])))
    code, output, _ = command_line(capsys, *words)
    assert code == 1
    assert output.startswith("quandary_kuhn: random: none before, ")
    assert "quandary_pig(goal=6): new" in output
