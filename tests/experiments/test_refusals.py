"""What a game rules out is refused before any work: no tree is begun, whatever the solver and the parameter."""

from __future__ import annotations

import pytest

from engine_ext.errors import QuandaryError, TooLargeError, UnsuitableGameError
from experiments import solve
from solvers import specs
from solvers.contract import ABILITIES, ANY

SOLVERS = {name: spec for name, spec in specs.solver_specs().items() if not spec.files}
# OpenSpiel's own: nothing hidden and no chance; chance; one player; hidden cards; a stage of secret choices; identical
# interests; three players.
GAMES = (
    "nim(pile_sizes=1;2)",
    "pig(winscore=4,horizon=6)",
    "catch(rows=4,columns=3)",
    "kuhn_poker",
    "matrix_rps",
    "tiny_hanabi",
    "kuhn_poker(players=3)",
)
BUDGETS = {"simulations": 20, "iterations": 2, "nodes": 100}


def values_of(name, key):
    """Some values of a parameter other than its default, as text."""
    parameter = SOLVERS[name].parameters[key]
    if parameter.choices or parameter.solvers:
        found = [*parameter.choices, *parameter.solvers]
    else:
        kind = parameter.kind or type(parameter.default)
        if kind is bool:
            found = ["true", "false"]
        elif key == "seconds":
            found = ["60" if name == "sequence_form" else "0.01"]  # which gives up, rightly, when its time is over
        elif kind is float:
            found = ["0.5"]
        else:
            found = ["2", "20", "64"]
    fits = [
        value
        for value in found
        if value.isalpha() or "(" in value or "+" in value or parameter.low is None or float(value) >= parameter.low
    ]
    return [value for value in fits if value != str(parameter.default).lower()]


def cases():
    for name, solver in SOLVERS.items():
        yield name
        for key in solver.parameters:
            for value in values_of(name, key):
                budget = [f"{k}={v}" for k, v in BUDGETS.items() if k in solver.parameters and k != key]
                yield f"{name}({','.join([f'{key}={value}', *budget[:1]])})"


@pytest.fixture
def begun(monkeypatch):
    """The games whose extraction was begun."""
    games = []
    extract = solve.extraction.extract

    def watched(source, **options):
        games.append(str(source))
        return extract(source, **options)

    monkeypatch.setattr(solve.extraction, "extract", watched)
    return games


@pytest.mark.parametrize("game", GAMES)
def test_whatever_is_refused_is_refused_before_the_tree(game, begun):
    """Every parameter of every solver, some values of each. A refusal names the game, is one line, and
    comes before anything is extracted."""
    refused = solved = 0
    for spec in cases():
        begun.clear()
        refusal = None
        try:
            found = solve.solve(game, spec)
        except QuandaryError as error:
            refusal = str(error)
        if refusal is None:
            assert begun
            assert found.tree_nodes > 1
            solved += 1
        else:
            assert not begun, f"{spec} was refused after the tree was made: {refusal}"
            assert "\n" not in refusal
            refused += 1
    assert refused
    assert solved


def test_each_need_is_of_a_value_that_there_is_and_of_an_ability_that_has_a_name():
    needs = [
        (parameter, value, abilities)
        for solver in SOLVERS.values()
        for parameter in solver.parameters.values()
        for value, abilities in parameter.needs.items()
    ]
    assert needs
    for parameter, value, abilities in needs:
        assert value == ANY or value in parameter.choices
        assert set(abilities) <= set(ABILITIES)
        assert parameter.needed(parameter.default) == ()


@pytest.mark.parametrize(
    ("game", "spec", "says"),
    [
        ("kuhn_poker", "ismcts(playout=greedy)", "playout=greedy needs a game with a rule of thumb"),
        ("kuhn_poker", "ismcts(playout_depth=3)", "playout_depth=3 needs a game with an estimate"),
        ("kuhn_poker", "ismcts(favor=cfr+)", "needs a game with stages of simultaneous hidden choices"),
        ("go", "mcts(prior=0.3)", "prior=0.3 needs a game with a rule of thumb"),
        ("go", "mcts(playout_turns=1)", "playout_turns=1 needs a game with an estimate.*no other .* about .* nodes"),
        ("pig(winscore=4,horizon=6)", "mcts(playout_turns=1)", "a game with an estimate.*leave playout_turns out"),
        ("goofspiel", "mcts", "simultaneous moves.*OutcomeSamplingMCCFRSolver"),
        ("laser_tag", "mcts", "simultaneous moves.*no information-state strings"),
        ("go", "mcts(playout=none)", "playout=none needs a game with an estimate"),
        ("go", "expectimax(depth=4)", "depth=4 needs a game with an estimate"),
        ("go", "greedy", "greedy needs a game with a rule of thumb"),
        ("chess", "ismcts(favor=cfr+)", "needs a game with stages"),
        ("tiny_hanabi", "sequence_form", "sum to zero"),
        ("kuhn_poker(players=3)", "sequence_form", "two players"),
        ("bargaining", "sequence_form", "sum to zero"),
        ("leduc_poker", "value_iteration", "hides information"),
        ("liars_dice_ir", "sequence_form", "needs perfect recall.*a seat forgets"),
        ("liars_dice_ir", "cfr(form=sequence)", "needs a game with perfect recall.*leave form out"),
        ("matrix_pd", "mcts", "has simultaneous moves"),
        ("matrix_pd", "expectimax", "has simultaneous moves"),
        ("goofspiel(num_cards=3,imp_info=True)", "mcts", "has simultaneous moves.* and hides information"),
        ("leduc_poker", "mcts", "use ismcts"),
        ("blackjack", "mcts", r"hides information.*about .* nodes.*pyspiel\.ISMCTSBot"),
        ("connect_four(rows=7)", "greedy", "about .* nodes.*pyspiel.MCTSBot"),
        ("catch", "sequence_form", "two players; it has 1.*value_iteration"),
        ("kuhn_poker(players=3)", "sequence_form", r"two players; it has 3; cfr\+ runs"),
        ("tic_tac_toe", "greedy", "rule of thumb.*use mcts"),
        ("coin_game", "cfr", "no information-state strings.*observation strings"),
        ("mfg_garnet", "ismcts", "mean-field game"),
        ("kuhn_poker", "ismcts(observer=single)", "observer=single .* in kuhn_poker, chance is to move"),
    ],
)  # fmt: skip
def test_the_property_is_named(game, spec, says, begun):
    with pytest.raises((UnsuitableGameError, TooLargeError), match=says) as refused:
        solve.solve(game, spec)
    assert game.partition("(")[0] in str(refused.value)
    assert begun == []


def test_stages_are_seen_before_extraction():
    """Goofspiel's bids are secret and simultaneous; sealed bids, one after the other, as well; Kuhn's bets neither."""
    for game, stages in (("goofspiel(num_cards=3)", True), ("first_sealed_auction", True), ("kuhn_poker", False)):
        declared = solve.extraction.declared_rules(game)
        assert ("rewind" in declared.abilities) == stages
        assert ("rewind" in solve.extraction.as_game(game).abilities) == stages


def test_zero_sums_are_told_where_the_game_does_not_declare_them():
    declared = solve.extraction.declared_rules
    assert declared("kuhn_poker").zero_sum
    assert not declared("kuhn_poker(players=3)").survey.stages
    assert not declared("tiny_hanabi").zero_sum  # identical interests
    assert not declared("matrix_pd").zero_sum
