"""solvers/cfr.pyx: reference convergence figures, agreement with OpenSpiel, both forms, checkpoints."""

from __future__ import annotations

import signal

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import discounted_cfr
from open_spiel.python.algorithms import exploitability as spiel_exploitability

import games
from engine_ext.errors import ParameterError, SavedStateError, SpecError, UnsuitableGameError
from solvers import specs
from solvers.best_response import expected_values, exploitability
from solvers.cfr import CFRSolver
from solvers.extraction import extract
from solvers.linear_program import SequenceFormSolver
from tests.reference.cfr import PlainCFR

VARIANTS = ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+")
FORMS = ("sequence", "tree")

# Exploitability (NashConv / 2), alternating updates, player 0 first, after 10, 100 and 1000 iterations.
KUHN = {
    "cfr": (6.870e-2, 8.226e-3, 9.376e-4),
    "cfr+": (3.269e-2, 1.194e-3, 8.737e-5),
    "lcfr": (2.125e-2, 1.089e-3, 9.353e-5),
    "dcfr": (2.278e-2, 1.666e-3, 1.465e-4),
    "pcfr+": (2.021e-2, 2.323e-5, 2.354e-8),
}
LEDUC = {
    "cfr": (8.886e-1, 9.572e-2, 1.182e-2),
    "cfr+": (6.104e-1, 1.342e-2, 2.49e-4),
    "lcfr": (7.211e-1, 3.449e-2, 5.825e-3),
    "dcfr": (7.788e-1, 7.755e-3, 1.382e-4),
    "pcfr+": (5.368e-1, 1.980e-2, 7.115e-4),
}
LEDUC_4000 = {"cfr": 3.910e-3, "cfr+": 2.720e-5, "lcfr": 2.019e-3, "dcfr": 1.200e-5, "pcfr+": 1.036e-4}
# The same without rounding: 1,024 and 2,048 bits agree in all digits.
EXACT_LEDUC = {
    "cfr": {100: 9.571635300459892e-02, 1000: 1.181797275329591e-02, 4000: 3.833382224372740e-03},
    "cfr+": {100: 1.341599497191511e-02, 1000: 2.627129936227480e-04, 4000: 2.430991784721324e-05},
    "lcfr": {100: 3.448966143716512e-02, 1000: 5.571489210708637e-03, 4000: 2.062378872224237e-03},
    "dcfr": {100: 7.755561674019326e-03, 1000: 1.420954170945756e-04, 4000: 1.350984304611919e-05},
    "pcfr+": {100: 1.980125757579410e-02, 1000: 7.143208938452985e-04, 4000: 6.853234595626907e-05},
}
# Least and greatest of that exact figure and of floats added in twelve orders, after 4,000 iterations.
SPREAD_4000 = {
    "cfr": (3.656e-3, 4.176e-3),
    "cfr+": (2.012e-5, 2.431e-5),
    "lcfr": (1.601e-3, 2.062e-3),
    "dcfr": (8.515e-6, 1.399e-5),
    "pcfr+": (6.628e-5, 1.160e-4),
}

# What OpenSpiel 2.0.2's own solvers come to on Leduc, by iterations: pyspiel.CFRSolver and CFRPlusSolver, and
# the solvers of open_spiel.python.algorithms.discounted_cfr. The soak test below makes these figures again.
OPENSPIEL_LEDUC = {
    "cfr": {
        10: 0.888578983168769,
        100: 0.09571635300459762,
        1000: 0.011817810259786288,
        4000: 0.00391563445028055,
    },
    "cfr+": {
        10: 0.6104389015904066,
        100: 0.013415994970897835,
        1000: 0.0002571516161564563,
        4000: 2.500247855265203e-05,
    },
    "lcfr": {10: 0.7210651557072468, 100: 0.034489533669574135, 300: 0.01527488122252002, 1000: 0.00482613271868039},
    "dcfr": {
        10: 0.7788020469962015,
        100: 0.0077532618506915285,
        300: 0.0009892694154193943,
        1000: 0.00014346789078077682,
    },
}


def series(solver: CFRSolver, counts: tuple[int, ...] = (10, 90, 900)) -> list[float]:
    """Exploitability after each further number of iterations."""
    out = []
    for count in counts:
        solver.run(count)
        out.append(solver.exploitability())
    return out


@pytest.mark.parametrize("variant", VARIANTS)
def test_kuhn_converges_as_the_reference(variant):
    assert series(CFRSolver(extract("kuhn_poker"), variant=variant)) == pytest.approx(KUHN[variant], rel=5e-4)


def test_kuhn_with_simultaneous_updates_converges_as_the_reference():
    solver = CFRSolver(extract("kuhn_poker"), updates="simultaneous")
    assert series(solver) == pytest.approx([9.621e-2, 2.567e-2, 7.269e-3], rel=5e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_leduc_converges_as_the_reference(variant):
    # After some hundred iterations the play of near-ties depends on the order of additions.
    found = series(CFRSolver(extract("leduc_poker"), variant=variant), (10, 90, 900, 3000))
    assert found[:2] == pytest.approx(LEDUC[variant][:2], rel=2e-2)
    assert found[2:] == pytest.approx([LEDUC[variant][2], LEDUC_4000[variant]], rel=0.2 if variant == "pcfr+" else 0.1)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", FORMS)
def test_as_exact_arithmetic_goes(variant, form):
    """While rounding has not been magnified yet, both forms are what sixty digits come to."""
    tree = extract("leduc_poker")
    exact, solver = PlainCFR(tree, variant, digits=60), CFRSolver(tree, variant=variant, form=form)
    for iterations in (1, 9, 20):
        exact.run(iterations)
        solver.run(iterations)
        assert solver.exploitability() == pytest.approx(exact.exploitability(), rel=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_forms_tell_the_same_regrets(variant):
    """Whenever a form discounts: after twenty iterations rounding has not been magnified yet."""
    tree = extract("leduc_poker")
    forms = [CFRSolver(tree, variant=variant, form=form) for form in FORMS]
    for solver in forms:
        solver.run(20)
    assert np.abs(forms[0].regrets()).max() > 0.01
    assert forms[0].regrets() == pytest.approx(forms[1].regrets(), abs=1e-11)


@pytest.mark.parametrize("variant", VARIANTS)
def test_leduc_goes_on_in_the_tree_form_as_equally_right_programs_do(variant):
    """After 4,000 iterations: not above the reference figure by more than 10 % (pcfr+: 20 %), nor more than 10 %
    outside of what exact arithmetic and twelve orders of additions come to (docs/solvers.md)."""
    solver = CFRSolver(extract("leduc_poker"), variant=variant, form="tree")
    solver.run(4000)
    found = solver.exploitability()
    assert found < LEDUC_4000[variant] * (1.2 if variant == "pcfr+" else 1.1)
    least, greatest = SPREAD_4000[variant]
    assert 0.9 * least < found < 1.1 * greatest


@pytest.mark.soak
@pytest.mark.parametrize("variant", VARIANTS)
def test_exact_arithmetic_on_leduc(variant):
    """The first row of the table in docs/solvers.md, 310 digits."""
    exact = PlainCFR(extract("leduc_poker"), variant, digits=310)
    for iterations, expected in EXACT_LEDUC[variant].items():
        exact.run(iterations - exact.iterations)
        assert exact.exploitability() == pytest.approx(expected, rel=1e-12)


@pytest.mark.soak
@pytest.mark.parametrize("variant", VARIANTS)
def test_orders_of_addition_on_leduc(variant):
    """The last row of the table in docs/solvers.md; `pytest -s` prints it."""
    found = []
    for seed in range(12):
        plain = PlainCFR(extract("leduc_poker"), variant, seed=seed)
        plain.run(4000)
        found.append(plain.exploitability())
    print(f"{variant}: {min(found):.2e} to {max(found):.2e}, mean {np.mean(found):.2e}")
    least, greatest = SPREAD_4000[variant]
    assert least * 0.99 < min(found)
    assert max(found) < greatest * 1.01


def openspiel_average(solver, game) -> float:
    return pyspiel.exploitability(game, solver.average_policy())


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)"])
@pytest.mark.parametrize(("variant", "theirs"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)])
def test_equal_to_openspiels_compiled_solvers(game, variant, theirs):
    count, rel = (1000, 1e-9) if game == "kuhn_poker" else (30, 1e-6)
    loaded = pyspiel.load_game(game)
    other = theirs(loaded)
    for _ in range(count):
        other.evaluate_and_update_policy()
    solver = CFRSolver(extract(game), variant=variant)
    solver.run(count)
    assert solver.exploitability() == pytest.approx(pyspiel.exploitability(loaded, other.average_policy()), rel=rel)
    if game == "kuhn_poker":
        table = other.tabular_average_policy().policy_table()
        ours = solver.average_policy().table()
        for label, pairs in ours.items():
            assert dict(pairs) == pytest.approx(dict(table[label]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("variant", OPENSPIEL_LEDUC)
def test_the_node_pass_equals_openspiel_however_long_it_runs(variant):
    """It adds in OpenSpiel's order, so nothing is magnified. What is left, a unit of rounding in the average,
    is seen only where the exploitability itself is small."""
    solver = CFRSolver(extract("leduc_poker"), variant=variant, form="tree")
    for iterations, expected in OPENSPIEL_LEDUC[variant].items():
        solver.run(iterations - solver.iterations)
        assert solver.exploitability() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker(players=3)",
        "leduc_poker",
        "liars_dice(dice_sides=3)",
        "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=4,points_order=descending))",
        "turn_based_simultaneous_game(game=goofspiel(num_cards=4,points_order=descending))",  # imperfect recall
    ],
)
@pytest.mark.parametrize(("variant", "theirs"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)])
def test_the_node_pass_plays_what_openspiel_plays(name, variant, theirs):
    other = theirs(pyspiel.load_game(name))
    solver = CFRSolver(extract(name), variant=variant, form="tree")
    for _ in range(40):
        other.evaluate_and_update_policy()
    solver.run(40)
    table = other.tabular_average_policy().policy_table()
    for label, pairs in solver.average_policy().table().items():
        assert dict(pairs) == pytest.approx(dict(table[label]), rel=1e-9, abs=1e-11)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("variant", "theirs"),
    [
        ("cfr", pyspiel.CFRSolver),
        ("cfr+", pyspiel.CFRPlusSolver),
        ("lcfr", discounted_cfr.LCFRSolver),
        ("dcfr", discounted_cfr.DCFRSolver),
    ],
)
def test_openspiels_own_figures_on_leduc(variant, theirs):
    game = pyspiel.load_game("leduc_poker")
    other, done = theirs(game), 0
    for iterations, expected in OPENSPIEL_LEDUC[variant].items():
        for _ in range(iterations - done):
            other.evaluate_and_update_policy()
        done = iterations
        found = (
            pyspiel.exploitability(game, other.average_policy())
            if variant in ("cfr", "cfr+")
            else spiel_exploitability.exploitability(game, other.average_policy())
        )
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("variant", "theirs"), [("dcfr", discounted_cfr.DCFRSolver), ("lcfr", discounted_cfr.LCFRSolver)]
)
def test_equal_to_openspiels_python_solvers(variant, theirs):
    game = pyspiel.load_game("kuhn_poker")
    other = theirs(game)
    for _ in range(100):
        other.evaluate_and_update_policy()
    solver = CFRSolver(extract("kuhn_poker"), variant=variant)
    solver.run(100)
    expected = spiel_exploitability.exploitability(game, other.average_policy())
    assert solver.exploitability() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "game", ["leduc_poker", "liars_dice(dice_sides=3)", "goofspiel(num_cards=3)", "kuhn_poker(players=3)"]
)
@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
def test_both_forms_play_the_same(game, variant, updates):
    tree = extract(game)
    solvers = [CFRSolver(tree, variant=variant, form=form, updates=updates) for form in FORMS]
    for solver in solvers:
        solver.run(4)
    first, second = (solver.average_policy().probabilities for solver in solvers)
    # Where actions are exactly as good, rounding decides; such sets are rare at the start.
    differ = np.abs(first - second) > 1e-9
    assert differ.mean() < 0.02
    assert solvers[0].nash_conv() == pytest.approx(solvers[1].nash_conv(), rel=1e-2)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_instruction_set_gives_the_same_bits(variant):
    tree = extract("leduc_poker")
    fast, plain = CFRSolver(tree, variant=variant), CFRSolver(tree, variant=variant, base_only=True)
    fast.run(50)
    plain.run(50)
    assert np.array_equal(fast.average_policy().probabilities, plain.average_policy().probabilities)
    assert np.array_equal(fast.regrets(), plain.regrets())


def test_the_native_road_gives_the_same_numbers():
    native = CFRSolver(extract(games.spec("kuhn").make_rules()), variant="cfr+")
    other = CFRSolver(extract("kuhn_poker"), variant="cfr+")
    native.run(200)
    other.run(200)
    assert native.exploitability() == other.exploitability()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("game", ["leduc_poker", "liars_dice(dice_sides=3)", "goofspiel(num_cards=3)"])
def test_cfr_plus_meets_the_linear_program(game, form):
    tree = extract(game)
    exact = SequenceFormSolver(tree)
    exact.run(1)
    solver = CFRSolver(tree, variant="cfr+", form=form)
    solver.run(2000)
    assert solver.exploitability() < 2e-3
    assert expected_values(solver.average_policy())[0] == pytest.approx(exact.value, abs=2e-3)


def test_three_players_general_sum_and_one_player():
    three = CFRSolver(extract("kuhn_poker(players=3)"), variant="cfr")
    three.run(10)
    early = three.nash_conv()
    three.run(990)
    assert three.nash_conv() < min(0.02, early)  # CFR does well on this game (Risk and Szafron, 2010)
    dilemma = CFRSolver(extract("matrix_pd"), variant="cfr+")  # defecting is dominant
    dilemma.run(200)
    assert dilemma.nash_conv() < 1e-3
    alone = CFRSolver(extract("cliff_walking(horizon=6)"), variant="cfr+")
    alone.run(500)
    assert alone.nash_conv() < 0.5


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", FORMS)
def test_resuming_equals_not_stopping(tmp_path, variant, form):
    tree = extract("leduc_poker")
    whole = CFRSolver(tree, variant=variant, form=form)
    whole.run(60)
    half = CFRSolver(tree, variant=variant, form=form)
    half.run(25)
    half.save(tmp_path / "checkpoint")
    resumed = CFRSolver(tree, variant=variant, form=form)
    resumed.run(3)  # whatever it did before is forgotten
    resumed.load(tmp_path / "checkpoint")
    assert resumed.iterations == 25
    resumed.run(35)
    for name in ("regrets", "average_policy", "current_policy"):
        mine, other = getattr(resumed, name)(), getattr(whole, name)()
        mine, other = getattr(mine, "probabilities", mine), getattr(other, "probabilities", other)
        assert np.array_equal(mine, other)


def test_foreign_and_damaged_checkpoints_are_refused(tmp_path):
    path = tmp_path / "checkpoint"
    solver = CFRSolver(extract("kuhn_poker"))
    solver.run(10)
    solver.save(path)
    before = solver.average_policy().probabilities
    with pytest.raises(SavedStateError, match="another game"):
        CFRSolver(extract("leduc_poker")).load(path)
    with pytest.raises(SavedStateError, match="solver=cfr"):
        CFRSolver(extract("kuhn_poker"), variant="cfr+").load(path)
    with pytest.raises(SavedStateError, match="form=sequence"):
        CFRSolver(extract("kuhn_poker"), form="tree").load(path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(SavedStateError, match="damaged"):
        solver.load(path)
    assert solver.iterations == 10
    assert np.array_equal(solver.average_policy().probabilities, before)


def test_running_for_some_time():
    solver = CFRSolver(extract("leduc_poker"))
    count = solver.run_for(0.05)
    assert count == solver.iterations >= 1


def test_bad_parameters_are_named():
    tree = extract("kuhn_poker")
    for options, text in (
        ({"variant": "cfr++"}, "variant"),
        ({"updates": "both"}, "updates"),
        ({"form": "graph"}, "form"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"gamma": 20.5}, "gamma is 20.5, allowed are 0 to 20"),
        ({"gamma": -1.0}, "gamma is -1"),
    ):
        with pytest.raises(ParameterError, match=text):
            CFRSolver(tree, **options)
    with pytest.raises(ParameterError, match="iterations"):
        CFRSolver(tree).run(-1)
    with pytest.raises(ParameterError, match="seconds"):
        CFRSolver(tree).run_for(0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("great", "greater"), [(200.0, 1e308), (200.0, float("inf"))])
def test_discounts_beyond_all_numbers_are_their_limits(form, great, greater):
    """2 ** 200 is already so great that nothing is discounted, and 2 ** -200 so small that nothing bad is left."""
    tree = extract("leduc_poker")
    for sign in (1, -1):
        found = []
        for size in (great, greater):
            solver = CFRSolver(tree, variant="dcfr", form=form, alpha=size, beta=sign * size)
            solver.run(20)
            found.append(solver.exploitability())
        assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("name", [name for name, spec in specs.solver_specs().items() if "seconds" in spec.parameters])
def test_no_time_is_refused_with_the_range_by_every_solver(name):
    with pytest.raises(SpecError, match=r"seconds is '0'; allowed: number from 1e-06 up to 1e\+08"):
        specs.parse_spec(f"{name}(seconds=0)")
    assert specs.parse_spec(f"{name}(seconds=1e-6)").parameters["seconds"] == 1e-6


def test_imperfect_recall_runs_on_the_node_pass_only():
    tree = extract(games.spec("pig").make_rules({"goal": 4}), depth=7, information="key")
    with pytest.raises(UnsuitableGameError, match="perfect recall"):
        CFRSolver(tree, form="sequence")
    solver = CFRSolver(tree, variant="cfr")
    assert solver.form == "tree"
    solver.run(200)
    assert not np.allclose(solver.average_policy().probabilities, 0.5)
    with pytest.raises(UnsuitableGameError, match="perfect recall"):
        solver.exploitability()


@pytest.mark.parametrize("name", VARIANTS)
def test_specs_find_the_solvers(name):
    spec = specs.solver_specs()[name]
    assert spec.kind == "policy"
    solver = spec.make(extract("kuhn_poker"), {key: p.default for key, p in spec.parameters.items()})
    solver.run(10)
    assert exploitability(solver.average_policy()) == pytest.approx(KUHN[name][0], rel=5e-4)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_ctrl_c_leaves_a_solver_that_goes_on(tmp_path):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    tree = extract("leduc_poker")
    solver = CFRSolver(tree, variant="cfr+")
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            solver.run(10**12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    solver.save(tmp_path / "checkpoint")
    whole, resumed = CFRSolver(tree, variant="cfr+"), CFRSolver(tree, variant="cfr+")
    whole.run(solver.iterations + 10)
    resumed.load(tmp_path / "checkpoint")
    resumed.run(10)
    assert np.array_equal(resumed.average_policy().probabilities, whole.average_policy().probabilities)
