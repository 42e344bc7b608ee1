"""What every solver does on every game, as one short number each: `quandary signature`.

A signature says whether a change of the code changed what is played, searched or solved. It is a
digest over everything a solver answers from fixed seeds (actions, values to the last bit, nodes),
so a refactoring leaves all of them as they are, and a change of rules, random numbers or search
shows in exactly the rows that it touches. It says nothing about which of two answers is right.

The last bits of values belong to the machine's arithmetic: signatures compare on one kind of
processor (the table in tests/signatures.json is of x86-64), not across.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

import games
from engine_ext.errors import ResultsError, UnsuitableGameError
from engine_ext.position import Rules
from experiments import files, gametext, players, solve
from experiments.arena import CHANCE, TERMINAL
from experiments.chance import KeyedChance
from experiments.seeds import keyed_seed
from solvers import specs

BOTS = (
    "random",
    "greedy",
    "mcts(simulations=100)",
    "mcts(playout=random,simulations=100)",
    "expectimax(nodes=1000)",
    "expectimax(nodes=1000,pruning=star2)",
    "ismcts(simulations=100)",
    "smooth_uct(simulations=100)",
    "oos(simulations=100)",
)
POLICIES = (
    *(f"{name}(iterations=20)" for name in ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "mccfr_es", "mccfr_os")),
    "cfr+(form=tree,iterations=20)",
)
SMALL = ("quandary_kuhn", "quarz(scenario=favor_duel)")  # games the policy solvers are run on
VARIANTS = {
    "pentaquest": ("", "(players=2)"),
    "quarriors": ("", "(players=4)", "(edition=light_vs_dark)", "(qladiator=True)"),
    "quarz": ("", "(players=3)", "(players=4)"),
}
DECISIONS = 30  # of a game that a searcher plays; players that do not search finish theirs
SEED = 1


@dataclass(frozen=True)
class Signature:
    """One row.

    Attributes:
        game: its text.
        solver: a spec.
        nodes: nodes visited or decisions made; of a policy solver, information sets.
        digest: 12 hexadecimal digits.
    """

    game: str
    solver: str
    nodes: int
    digest: str


def games_signed() -> list[str]:
    """The games that are signed: each with its variants and scenarios."""
    texts = []
    for name, spec in games.SPECS.items():
        texts += [name + variant for variant in VARIANTS.get(name, ("",))]
        texts += [f"{name}(scenario={scenario})" for scenario in spec.scenarios]
    return texts


def signatures(text: str) -> Iterator[Signature]:
    """A row for every solver that applies to a game.

    Args:
        text: one of our games.

    Raises:
        ParameterError: not one of our games.
    """
    game = gametext.load(text, own_only=True)
    text, rules = game.text, game.rules
    assert rules is not None
    for bot in BOTS:
        try:
            player = players.make(bot, rules)
        except UnsuitableGameError:
            continue
        if bot.startswith("oos") and text not in SMALL:
            continue  # it extracts the whole game
        yield _play(text, rules, bot, player)
    if text in SMALL:
        for spec in POLICIES:
            yield _solve(text, rules, spec)


def _play(text: str, rules: Rules, bot: str, player: players.Player) -> Signature:
    """One game in which the bot has every seat."""
    position = rules.initial_position()
    chance = KeyedChance(keyed_seed("signature", SEED))
    digest = hashlib.blake2b(digest_size=6)
    bound = rules.max_game_length() if bot in ("random", "greedy") else DECISIONS
    decisions = nodes = 0
    player.begin()
    while (seat := position.current_player()) != TERMINAL and decisions < bound:
        if seat == CHANCE:
            move = chance.draw(position)
        else:
            found = player.choose(position, keyed_seed("signature", SEED, decisions))
            assert found.action is not None
            move = found.action
            nodes += found.nodes
            decisions += 1
            chance.decided(seat)
            digest.update(struct.pack(f"<{len(found.values)}d", *found.values))
        digest.update(struct.pack("<iq", move, nodes))
        position.apply_action(move)
    digest.update(position.to_bytes())
    return Signature(text, bot, nodes, digest.hexdigest())


def _solve(text: str, rules: Rules, spec_text: str) -> Signature:
    """A policy solver's average policy."""
    spec = specs.parse_spec(spec_text, rules)
    solver = solve.make_offline(spec, solve.tree_or_rules(rules, spec), SEED)
    solve.run_offline(spec, solver)
    policy = solver.average_policy()
    probabilities = np.ascontiguousarray(policy.probabilities)
    return Signature(
        text, spec_text, policy.tree.n_infosets, hashlib.blake2b(probabilities.tobytes(), digest_size=6).hexdigest()
    )


# ---- tables -------------------------------------------------------------------------------------


def to_json(found: list[Signature]) -> dict[str, Any]:
    """What `--json` prints and `--compare` reads: a list of rows for each game."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        row = asdict(each)
        rows.setdefault(row.pop("game"), []).append(row)
    return {"signatures": rows}


def read(path: Path) -> list[Signature]:
    """The signatures that `--json` printed into a file.

    Raises:
        ResultsError: missing, or not such a file.
    """
    content = files.read_json(path, "file of signatures")
    try:
        found = [Signature(game, **row) for game, rows in content["signatures"].items() for row in rows]
    except (KeyError, TypeError, AttributeError):
        found = []
    kinds = {"game": str, "solver": str, "nodes": int, "digest": str}
    if not found or any(type(getattr(each, name)) is not kind for each in found for name, kind in kinds.items()):
        raise ResultsError(f"{path} is not what `quandary signature --json` prints")
    return found


@dataclass(frozen=True)
class Comparison:
    """What has become of kept signatures.

    Attributes:
        changed: a line for each row that is not as it was, among the games that the kept ones have.
        new: games that they do not have yet.
        compared: rows of games that they have.
    """

    changed: list[str]
    new: list[str]
    compared: int

    def lines(self) -> list[str]:
        """The comparison for people."""
        told = self.changed or [f"all {self.compared} signatures are as they were"]
        return told + [f"{game}: new, there is nothing to compare it with" for game in self.new]


def compare(found: list[Signature], kept: list[Signature]) -> Comparison:
    """Signatures beside those of the same games that were kept; games that were not signed now are left out.

    Raises:
        ResultsError: the kept ones have none of the games.
    """
    recorded = {each.game for each in kept}
    signed = dict.fromkeys(each.game for each in found)
    new = [game for game in signed if game not in recorded]
    if len(new) == len(signed):
        raise ResultsError(f"there are no signatures of {', '.join(sorted(new))} to compare with")
    before = {(each.game, each.solver): each for each in kept if each.game in signed}
    after = {(each.game, each.solver): each for each in found if each.game in recorded}
    lines = []
    for key in before.keys() | after.keys():
        old, now = before.get(key), after.get(key)
        if old != now:
            told = [f"{each.digest}, {each.nodes:,} nodes" if each else "none" for each in (old, now)]
            lines.append(f"{key[0]}: {key[1]}: {told[0]} before, {told[1]} now")
    return Comparison(sorted(lines), new, len(after))


def table(found: list[Signature]) -> Table:
    """As a table for the terminal."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("game", "solver"):
        made.add_column(name, overflow="fold")
    made.add_column("nodes", justify="right")
    made.add_column("signature")
    last = None
    for each in found:
        made.add_row(each.game if each.game != last else "", each.solver, f"{each.nodes:,}", each.digest)
        last = each.game
    return made
