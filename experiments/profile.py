"""How fast things are, always beside something known: `quandary profile GAME|kernels`.

Every figure of a profile is measured in that run, in rounds: each round measures everything once,
one after the other, so that a machine that slows down or speeds up does so for both sides of a
ratio. A figure is the median over the rounds; a ratio is the median of the rounds' ratios. Seconds
are processor seconds of one thread: what else the machine does costs little.

A *step* is one applied action or chance outcome. The fixed references are OpenSpiel's:
`reference_cpp` its C++ MCTS on its backgammon, `reference_python` its Python game of Kuhn poker.
"""

from __future__ import annotations

import importlib
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from engine_ext import attack, dice
from engine_ext.errors import ConfigError, UnsuitableGameError
from engine_ext.hexgrid import HexBoard
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from experiments import gametext, manifest, references, seeds
from solvers import specs

if TYPE_CHECKING:
    from rich.table import Table

ROUNDS = 5
CPP_REFERENCE = "backgammon"  # OpenSpiel, C++: the reference of native speed
CPP_REFERENCE_GAMES = 200  # random games that tell how many steps its playouts have
PYTHON_REFERENCE = "python_kuhn_poker"  # OpenSpiel, Python: the reference of its face
EQUAL_BUDGET = 10_000  # simulations of a search against OpenSpiel's C++ on the same game
UCT_C = 2.0  # exploration of all searches, OpenSpiel's own default
# Our searchers doing exactly what OpenSpiel's do: a plain tree, sampled means, random playouts.
PLAIN = {
    "mcts": "playout=random,widening=0,backup=mean,solve=false,transpositions=false",
    "ismcts": "playout=random",
}
DEFAULT_BUDGET = 1_000  # simulations of a search as our searchers do it by themselves


# ---- measuring ----------------------------------------------------------------------------------


class Meter:
    """Measures one rate again and again.

    Args:
        batch: does about n of something and returns how many it did.
        size: n to begin with; it grows until a batch is long enough to time.
        fixed: whether n stays as it is from the start.
    """

    def __init__(self, batch: Callable[[int], float], size: int = 1, fixed: bool = False) -> None:
        self.batch = batch
        self.size = size
        self.fixed = fixed
        self.rates: list[float] = []

    def measure(self, seconds: float) -> None:
        """Run for about so long and note the rate per second."""
        while not self.fixed:
            began = time.process_time()
            self.batch(self.size)
            if time.process_time() - began > seconds / 8:
                self.fixed = True
            else:
                self.size *= 2
        done, began = 0.0, time.process_time()
        while (spent := time.process_time() - began) < seconds or done == 0:
            done += self.batch(self.size)
        self.rates.append(done / spent)


def interleave(meters: dict[str, Meter], *, seconds: float, rounds: int) -> None:
    """Measure all meters in each of `rounds` rounds, about `seconds` altogether."""
    slice_s = seconds / (rounds * len(meters))
    for _ in range(rounds):
        for meter in meters.values():
            meter.measure(slice_s)


def _figure(value: float) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{value:.4g}")


def median_rate(rates: Sequence[float]) -> float:
    return _figure(statistics.median(rates))


def median_ratio(meters: dict[str, Meter], ours: str, theirs: str, factor: float = 1.0) -> float | None:
    """Median over the rounds of one rate over another; None where one was not measured."""
    if ours not in meters or theirs not in meters:
        return None
    pairs = zip(meters[ours].rates, meters[theirs].rates, strict=True)
    return _figure(factor * statistics.median(a / b for a, b in pairs))


def frame(subject: str, *, seconds: float, rounds: int, seed: int) -> dict[str, Any]:
    """What every profile says about itself."""
    if not 0 < seconds <= 3600:
        raise ConfigError(f"seconds is {seconds}, allowed are above 0 to 3600")
    if not 1 <= rounds <= 100:
        raise ConfigError(f"rounds is {rounds}, allowed are 1 to 100")
    seeds.check(seed)
    return {
        "profile": subject,
        "seconds": seconds,
        "rounds": rounds,
        "seed": seed,
        "machine": {**manifest.machine(), "load_before": _figure(os.getloadavg()[0])},
        "versions": manifest.versions(),
        "commit": manifest.commit(),
    }


def of_others(meters: dict[str, Meter]) -> list[str]:
    """The rates that no code of ours has a part in."""
    prefixes = ("reference_", "numpy_", "networkx_", "python_", "openspiel_")
    ours = ("openspiel_steps_per_s", "openspiel_mcts_simulations_per_s")  # OpenSpiel's drivers on a game of ours
    return [key for key in meters if key.startswith(prefixes) and key not in ours]


def ranges(meters: dict[str, Meter]) -> dict[str, list[float]]:
    """Slowest and fastest round of every rate."""
    return {key: [_figure(min(meter.rates)), _figure(max(meter.rates))] for key, meter in meters.items()}


# ---- games --------------------------------------------------------------------------------------


def drive(game: pyspiel.Game, games: int, rng: random.Random) -> int:
    """Play random games through OpenSpiel's interface from Python; returns the steps.

    The same driver serves our games and OpenSpiel's: decisions uniformly from `legal_actions`,
    chance nodes by the probabilities of `chance_outcomes`.
    """
    steps = 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, probs = zip(*state.chance_outcomes(), strict=True)
                action = rng.choices(outcomes, probs)[0]
            else:
                actions = state.legal_actions()
                action = actions[int(rng.random() * len(actions))]
            state.apply_action(action)
            steps += 1
    return steps


def first_decision(game: pyspiel.Game, rng: random.Random) -> pyspiel.State:
    """A state at a game's first decision, reached by its chance nodes."""
    state = game.new_initial_state()
    while state.is_chance_node():
        outcomes, probs = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, probs)[0])
    return state


def cpp_mcts(game: pyspiel.Game, state: pyspiel.State, seed: int) -> Callable[[int], float]:
    """A batch for a Meter: one search of n simulations by OpenSpiel's C++ MCTS, random rollouts."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)

    def search(simulations: int) -> float:
        bot = pyspiel.MCTSBot(game, evaluator, UCT_C, simulations, 4000, False, seed, False)
        return float(bot.mcts_search(state).explore_count)

    return search


def python_mcts(game: pyspiel.Game, state: pyspiel.State, seed: int, *, hidden: bool) -> Callable[[int], float]:
    """The same by OpenSpiel's Python MCTS, or with hidden information by its Python IS-MCTS."""
    mcts = importlib.import_module("open_spiel.python.algorithms.mcts")
    ismcts = importlib.import_module("open_spiel.python.algorithms.ismcts")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(seed))

    def search(simulations: int) -> float:
        source = np.random.RandomState(seed)
        if hidden:
            ismcts.ISMCTSBot(game, evaluator, UCT_C, simulations, random_state=source).run_search(state)
        else:
            mcts.MCTSBot(game, UCT_C, simulations, evaluator, solve=False, random_state=source).mcts_search(state)
        return simulations

    return search


def own_mcts(spec: str, position: Position, seed: int) -> Callable[[int], float]:
    """A batch for a Meter: n searches by one of our searchers, a new tree each."""
    searcher = specs.make_searcher(spec, position.rules)

    def search(searches: int) -> float:
        done = 0
        for i in range(searches):
            searcher.reset()
            done += searcher.search(position, seed=seed + i).simulations
        return done

    return search


def plain(solver: str, rules: Rules) -> str:
    """The spec of one of our searchers for a comparison at equal budget, algorithm and exploration
    (ours is in units of the utility range)."""
    exploration = UCT_C / (rules.max_utility() - rules.min_utility())
    return f"{solver}(simulations={EQUAL_BUDGET},c={exploration:g},{PLAIN[solver]})"


def _mean_length(game: pyspiel.Game, state: pyspiel.State, games: int, rng: random.Random) -> float:
    """Mean steps left of random games from a state."""
    steps = 0
    for _ in range(games):
        played = state.clone()
        while not played.is_terminal():
            actions = played.legal_actions()
            if played.is_chance_node():
                actions, probs = zip(*played.chance_outcomes(), strict=True)
                played.apply_action(rng.choices(actions, probs)[0])
            else:
                played.apply_action(actions[int(rng.random() * len(actions))])
            steps += 1
    return steps / games


def _steps_per_turn(start: Position, games: int, stream: Stream) -> float | None:
    """Mean steps of a player's turn in random games; None where the game does not number its turns."""
    if start.clock() is None:
        return None
    steps = turns = 0
    for _ in range(games):
        position, clock = start.clone(), None
        while not position.is_terminal():
            if position.clock() != clock:
                clock = position.clock()
                turns += 1
            if position.is_chance_node():
                position.apply_action(position.sample(stream))
            else:
                position.apply_action(position.random_action(stream))
            steps += 1
    return _figure(steps / turns)


def _counterpart(game: gametext.Game) -> pyspiel.Game | None:
    """OpenSpiel's own C++ version of one of our games."""
    if game.rules is not None and game.name == "quandary_pig":
        return pyspiel.load_game("pig", {"winscore": game.rules.parameters["goal"]})
    return None


def profile_game(name: str, *, seconds: float = 20.0, seed: int = 0, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure one of our games beside the references.

    Args:
        name: a game as text, `pentaquest(players=2)`.
        seconds: about how many processor seconds the measuring takes.
        seed: of all random games and searches.
        rounds: interleaved repeats, of which medians are taken.

    Returns:
        JSON-able. `mcts_...` is our searcher doing what OpenSpiel's does, `mcts_default_...` as it comes.
        Rates end in `_per_s`, times in `_ns`, sizes in `_bytes`; `ratios` are ours over
        theirs, `ranges` the slowest and fastest round of every rate, `references` the rates that are
        none of ours. None where something does not apply.

    Raises:
        ParameterError: an unknown game or parameter.
        ConfigError: seconds or rounds out of range.
    """
    game = gametext.load(name, own_only=True)
    result = frame(game.text, seconds=seconds, rounds=rounds, seed=seed)
    rules = game.rules
    if rules is None:
        raise UnsuitableGameError(f"{game.text} is not one of our games")
    importlib.import_module("open_spiel.python.games")
    rng, stream = random.Random(seed), Stream(seed)
    face, hidden = game.openspiel(), rules.hidden_information
    start = rules.initial_position()
    state = first_decision(face, rng)
    position = state.position.clone()
    backgammon = pyspiel.load_game(CPP_REFERENCE)
    backgammon_state = first_decision(backgammon, rng)
    kuhn = pyspiel.load_game(PYTHON_REFERENCE)
    length = _mean_length(backgammon, backgammon_state, CPP_REFERENCE_GAMES, rng)
    solver = "ismcts" if hidden else "mcts"

    meters = {
        "native_playouts_per_s": Meter(lambda n: _played(start, n, stream)),
        "native_steps_per_s": Meter(lambda n: start.playouts(n, stream)[0]),
        "native_generic_steps_per_s": Meter(lambda n: start.playouts(n, stream, generic=True)[0]),
        "clones_per_s": Meter(lambda n: _copied(start, n), 1000),
        "position_clones_per_s": Meter(lambda n: _cloned(start, n), 1000),
        "reference_cpp_simulations_per_s": Meter(cpp_mcts(backgammon, backgammon_state, seed), 16),
        "openspiel_steps_per_s": Meter(lambda n: drive(face, n, rng)),
        "reference_python_steps_per_s": Meter(lambda n: drive(kuhn, n, rng)),
        "openspiel_mcts_simulations_per_s": Meter(python_mcts(face, state, seed, hidden=hidden), 2),
    }
    counterpart = _counterpart(game)
    meters["mcts_simulations_per_s"] = Meter(own_mcts(plain(solver, rules), position, seed))
    default = f"{solver}(simulations={DEFAULT_BUDGET})"
    meters["mcts_default_simulations_per_s"] = Meter(own_mcts(default, position, seed))
    if counterpart is not None:
        theirs = cpp_mcts(counterpart, first_decision(counterpart, rng), seed)
        meters["openspiel_cpp_mcts_simulations_per_s"] = Meter(lambda n: theirs(EQUAL_BUDGET), fixed=True)
    interleave(meters, seconds=seconds, rounds=rounds)

    rates = {key: median_rate(meter.rates) for key, meter in meters.items()}
    games_per_s, steps_per_s = rates["native_playouts_per_s"], rates["native_steps_per_s"]
    result |= {
        "game": game.text,
        "game_version": rules.version,
        "players": rules.num_players(),
        "state_bytes": rules.state_bytes,
        "native_steps_per_s": steps_per_s,
        "native_generic_steps_per_s": rates["native_generic_steps_per_s"],
        "native_playouts_per_s": games_per_s,
        "mean_game_steps": _figure(start.playouts(2000, stream)[0] / 2000),
        "steps_per_turn": _steps_per_turn(start, 20, stream),
        "clone_ns": _figure(1e9 / rates["clones_per_s"]),
        "position_clone_ns": _figure(1e9 / rates["position_clones_per_s"]),
        "openspiel_steps_per_s": rates["openspiel_steps_per_s"],
        "mcts_spec": plain(solver, rules),
        "mcts_simulations_per_s": rates["mcts_simulations_per_s"],
        "mcts_default_spec": default,
        "mcts_default_simulations_per_s": rates["mcts_default_simulations_per_s"],
        "openspiel_mcts_simulations_per_s": rates["openspiel_mcts_simulations_per_s"],
        "openspiel_cpp_mcts_simulations_per_s": rates.get("openspiel_cpp_mcts_simulations_per_s"),
        "reference_cpp_simulations_per_s": rates["reference_cpp_simulations_per_s"],
        "reference_cpp_mean_game_steps": _figure(length),
        "reference_cpp_steps_per_s": _figure(length * rates["reference_cpp_simulations_per_s"]),
        "reference_python_steps_per_s": rates["reference_python_steps_per_s"],
        "ratios": {
            "native_to_reference_cpp_steps": median_ratio(
                meters, "native_steps_per_s", "reference_cpp_simulations_per_s", 1.0 / length
            ),
            "native_playouts_to_reference_cpp_simulations": median_ratio(
                meters, "native_playouts_per_s", "reference_cpp_simulations_per_s"
            ),
            "mcts_to_reference_cpp_simulations": median_ratio(
                meters, "mcts_simulations_per_s", "reference_cpp_simulations_per_s"
            ),
            "openspiel_to_reference_python_steps": median_ratio(
                meters, "openspiel_steps_per_s", "reference_python_steps_per_s"
            ),
            "mcts_to_openspiel_python_mcts": median_ratio(
                meters, "mcts_simulations_per_s", "openspiel_mcts_simulations_per_s"
            ),
            "mcts_to_openspiel_cpp_mcts": median_ratio(
                meters, "mcts_simulations_per_s", "openspiel_cpp_mcts_simulations_per_s"
            ),
        },
        "ranges": ranges(meters),
        "references": of_others(meters),
    }
    return result


def _played(start: Position, games: int, stream: Stream) -> float:
    start.playouts(games, stream)
    return games


def _copied(start: Position, count: int) -> float:
    start.copies(count)
    return count


def _cloned(start: Position, count: int) -> float:
    clone = start.clone
    for _ in range(count):
        clone()
    return count


# ---- kernels ------------------------------------------------------------------------------------

BAG = (4, 3, 3, 2, 2, 2, 2, 2, 1, 1)  # 22 dice of 10 classes
DRAWN = 6
CREATURES = 6  # in front of an attack
CASES = 1 << 15  # rows of a batch: too many for a processor to remember how each one went
PLAIN_CASES = 1 << 10  # of them, for the plain versions


def hex_case(rng: random.Random) -> tuple[HexBoard, references.HexReference]:
    """A board of 45 cells with water, crystal and solid cells, in both forms."""
    disc = [(q, r) for r in range(-3, 4) for q in range(-3, 4) if abs(q + r) <= 3]
    cells = [*disc, (4, 0), (-4, 0), (0, 4), (0, -4), (4, -4), (-4, 4), (2, -4), (-2, 4)]
    sides = [
        (cell, references.step(cell, d)) for cell in cells for d in range(3) if references.step(cell, d) in set(cells)
    ]
    water, crystal = rng.sample(sides, 14), rng.sample(sides, 8)
    solid = [(2, -1), (-2, 1), (0, 2), (0, -2)]
    return HexBoard(cells, water, crystal, solid), references.HexReference(cells, water, crystal, solid)


def _random_masks(generator: np.random.Generator, n: int, members: int) -> np.ndarray:
    """uint64[CASES]: random sets of so many of n things."""
    chosen = generator.random((CASES, n)).argpartition(members, axis=1)[:, :members]
    return np.bitwise_or.reduce(np.uint64(1) << chosen.astype(np.uint64), axis=1)


def profile_kernels(*, seconds: float = 20.0, seed: int = 0, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure the compiled kernels beside numpy and beside plain Python and networkx.

    Args, raises: as `profile_game`.

    Returns:
        JSON-able. `bag_draws_per_s`: one draw of 6 dice from a bag of 22 dice of 10 classes, one native
        call each; `numpy_bag_draws_per_s`: one call of `Generator.multivariate_hypergeometric` each.
        `..._batched_per_s`: many draws a call, both into int64 arrays. `lines_of_sight_per_s` and
        `floods_per_s` on a board of 45 cells, `attack_outcomes_per_s` all outcomes of one attack on
        six creatures, each beside the plain version of `experiments/references.py`.
    """
    result = frame("kernels", seconds=seconds, rounds=rounds, seed=seed)
    rng, stream, generator = random.Random(seed), Stream(seed), np.random.default_rng(seed)
    bag = list(BAG)
    colours = np.array(bag)

    board, graph = hex_case(rng)
    cells = board.cells
    near = np.array([(i, j) for i, a in enumerate(cells) for j, b in enumerate(cells) if 0 < board.distance(a, b) < 3])
    pairs = near[generator.integers(len(near), size=CASES)]
    occupied = _random_masks(generator, len(cells), 12)
    open_cells = np.array([board.number(cell) for cell in cells if cell not in board.solid])
    starts = generator.choice(open_cells, CASES)
    enemies = _random_masks(generator, len(cells), 6) & ~(np.uint64(1) << starts.astype(np.uint64))
    totals = generator.integers(1, 16, CASES)
    defenses = generator.integers(1, 7, (CASES, CREATURES))
    values = generator.random((CASES, CREATURES))
    plain_monsters = [board.cells_of(int(mask)) for mask in occupied[:PLAIN_CASES]]
    plain_enemies = [board.cells_of(int(mask)) for mask in enemies[:PLAIN_CASES]]
    at = [0]

    def plain_sights(n: int) -> float:
        for _ in range(n):
            i = at[0] = (at[0] + 1) % PLAIN_CASES
            graph.line_of_sight(cells[pairs[i, 0]], cells[pairs[i, 1]], plain_monsters[i])
        return n

    def plain_floods(n: int) -> float:
        for _ in range(n):
            i = at[0] = (at[0] + 1) % PLAIN_CASES
            graph.reachable(cells[starts[i]], 3, (), plain_enemies[i])
        return n

    def plain_attacks(n: int) -> float:
        for _ in range(n):
            i = at[0] = (at[0] + 1) % PLAIN_CASES
            references.attack_outcomes(int(totals[i]), defenses[i].tolist())
        return n

    def batches(call: Callable[[], object]) -> Callable[[int], float]:
        def run(n: int) -> float:
            for _ in range(n):
                call()
            return n * CASES

        return run

    def numpy_singles(n: int) -> float:
        for _ in range(n):
            generator.multivariate_hypergeometric(colours, DRAWN)
        return n

    def counted(call: Callable[[int], object]) -> Callable[[int], float]:
        def run(n: int) -> float:
            call(n)
            return n

        return run

    meters = {
        "bag_draws_per_s": Meter(counted(lambda n: dice.time_draws(bag, DRAWN, n, stream)), 1000),
        "numpy_bag_draws_per_s": Meter(numpy_singles, 100),
        "bag_draws_batched_per_s": Meter(batches(lambda: dice.draw_batch(bag, DRAWN, CASES, stream))),
        "numpy_bag_draws_count_per_s": Meter(
            batches(lambda: generator.multivariate_hypergeometric(colours, DRAWN, CASES, method="count"))
        ),
        "numpy_bag_draws_marginals_per_s": Meter(
            batches(lambda: generator.multivariate_hypergeometric(colours, DRAWN, CASES, method="marginals"))
        ),
        "lines_of_sight_per_s": Meter(batches(lambda: board.lines_of_sight(pairs[:, 0], pairs[:, 1], occupied))),
        "networkx_lines_of_sight_per_s": Meter(plain_sights, 10),
        "floods_per_s": Meter(batches(lambda: board.floods(starts, 3, 0, enemies))),
        "networkx_floods_per_s": Meter(plain_floods),
        "attack_outcomes_per_s": Meter(batches(lambda: attack.outcomes_batch(totals, defenses))),
        "attack_best_per_s": Meter(batches(lambda: attack.best_batch(totals, defenses, values))),
        "python_attack_outcomes_per_s": Meter(plain_attacks),
    }
    interleave(meters, seconds=seconds, rounds=rounds)

    rates = {key: median_rate(meter.rates) for key, meter in meters.items()}
    result |= rates
    result["numpy_bag_draws_batched_per_s"] = max(
        rates["numpy_bag_draws_count_per_s"], rates["numpy_bag_draws_marginals_per_s"]
    )
    result["ratios"] = {
        "bag_draws_to_numpy_single": median_ratio(meters, "bag_draws_per_s", "numpy_bag_draws_per_s"),
        "bag_draws_batched_to_numpy_count": median_ratio(
            meters, "bag_draws_batched_per_s", "numpy_bag_draws_count_per_s"
        ),
        "bag_draws_batched_to_numpy_marginals": median_ratio(
            meters, "bag_draws_batched_per_s", "numpy_bag_draws_marginals_per_s"
        ),
        "lines_of_sight_to_networkx": median_ratio(meters, "lines_of_sight_per_s", "networkx_lines_of_sight_per_s"),
        "floods_to_networkx": median_ratio(meters, "floods_per_s", "networkx_floods_per_s"),
        "attack_outcomes_to_python": median_ratio(meters, "attack_outcomes_per_s", "python_attack_outcomes_per_s"),
        "attack_best_to_python": median_ratio(meters, "attack_best_per_s", "python_attack_outcomes_per_s"),
    }
    result["ranges"] = ranges(meters)
    result["references"] = of_others(meters)
    return result


# ---- showing ------------------------------------------------------------------------------------


def _readable(key: str, value: Any) -> str:
    """A figure with thin spaces between thousands, or a dash where there is none."""
    if value is None:
        return "-"
    if isinstance(value, float) and (key.endswith("_per_s") or value >= 10_000):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(result: dict[str, Any]) -> Table:
    """A profile as a rich table: figures with their range over the rounds, then the ratios."""
    from rich.table import Table

    shown = Table(title=f"profile of {result['profile']}", title_justify="left")
    shown.add_column("figure")
    shown.add_column("median", justify="right")
    shown.add_column("slowest to fastest round", justify="right")
    skipped = {"profile", "machine", "versions", "ratios", "ranges", "references", "baseline"}
    skipped |= {"seconds", "rounds", "seed", "commit", "game"}
    for key, value in result.items():
        if key in skipped or key in result["ratios"]:
            continue
        low, high = result["ranges"].get(key, (None, None))
        spread = "" if low is None else f"{_readable(key, low)} to {_readable(key, high)}"
        shown.add_row(key, _readable(key, value), spread)
    shown.add_section()
    for key, value in result["ratios"].items():
        shown.add_row(key, "-" if value is None else f"{value:g} times", "")
    machine = result["machine"]
    shown.caption = (
        f"{machine['processor']}, {machine['cores']} cores, load {machine['load_before']:g} before; "
        f"medians of {result['rounds']} interleaved rounds in {result['seconds']:g} processor seconds"
    )
    return shown
