"""Quarriors beyond single cases: coverage of the rules, bad set-ups, invariants, whole games."""

import tomllib
from pathlib import Path

import numpy as np
import pyspiel
import pytest

import games
from engine_ext.errors import DataError, IllegalActionError, ParameterError, PositionError
from engine_ext.rng import Stream
from games.quarriors.cards import DATA
from games.quarriors.loading import read_sets
from games.quarriors.texts import card_text
from tests.games.quarriors import scripts
from tests.reference.exact import expectimax

SPEC = games.spec("quarriors")
EDITIONS = [
    {},
    {"qladiator": True},
    {"edition": "light_vs_dark"},
    {"edition": "light_vs_dark", "mixed": True},
    {"edition": "light_vs_dark", "quantity_capture": True, "qladiator": True},
]
SETTINGS = [{**edition, "players": players} for edition in EDITIONS for players in (2, 3, 4)]

# Statements, readings and rulings that no position can show, with the reason.
OUTSIDE = {
    "A102": "says that something cannot happen; the invariants watch it",
    "A104": "two readings of one sentence; both places are in use in other cases",
    "A120": "says that nothing is hidden",
    "A124": "says where the attack kernel may be used; the greedy player uses it",
    "A130": "bad positions: the tests of errors below",
    "K42": "more than four players: the tests of errors below",
}
NUMBERED = [
    *(f"B{i}" for i in range(1, 96)),
    *(f"D{i}" for i in range(1, 53)),
    *(f"LK{i}" for i in range(1, 27)),
    *(f"A{i}" for i in range(1, 142)),
    *(f"T{i}" for i in range(1, 18)),
    *(f"S{i}" for i in range(1, 6)),
    *(f"C{i}" for i in (1, 2, 3, 4, 5, 7)),
    *(f"K{i}" for i in range(1, 43) if i not in (9, 22, 35, 38, 41)),
    *(f"L{i}" for i in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11)),
]


def test_every_rule_and_card_has_a_case():
    seen = {rule for case in scripts.load() for rule in case["rules"]}
    cards = [name for path in sorted(DATA.glob("*.toml")) for name in read_sets([path]).cards]
    assert [name for name in cards if name not in seen] == []
    assert [rule for rule in NUMBERED if rule not in seen and rule not in OUTSIDE] == []


def test_the_sets_are_complete():
    # Base: 53 cards, 18 classes, 130 dice (B1). Light vs. Dark: 43 cards, 64 dice (D1). Qladiator: 26 cards, 40 dice.
    counts = {}
    for name in ("base", "light_vs_dark", "qladiator"):
        sets = read_sets([DATA / f"{name}.toml"])
        counts[name] = (len(sets.cards), len(sets.dice), sum(die.count for die in sets.dice.values()))
        assert all(card_text(card) or not card.effects for card in sets.cards.values())
    assert counts == {"base": (53, 18, 130), "light_vs_dark": (43, 10, 64), "qladiator": (26, 8, 40)}
    assert {card.provenance for card in read_sets([DATA / "base.toml"]).cards.values()} == {"sourced"}


def test_sourced_figures_are_kept():
    # Cost and Glory of all but the three cards that have no source, and the one discounted cost that has one.
    figures = tomllib.loads((Path(__file__).parent / "figures.toml").read_text(encoding="utf-8"))
    for name in ("base", "light_vs_dark", "qladiator"):
        cards = read_sets([DATA / f"{name}.toml"]).cards
        found = {card.name: [card.cost, card.glory] for card in cards.values()}
        assert {key: value for key, value in found.items() if key not in figures["reconstructed"]} == figures[name]
        for key, cost in figures["discounted"].items():
            assert key not in cards or cards[key].discounted == cost


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"players": 5}, "allowed are 2 to 4"),
        ({"players": 1}, "allowed are 2 to 4"),
        ({"edition": "third"}, "allowed are base, light_vs_dark"),
        ({"mixed": True}, "mixed is an option of edition=light_vs_dark"),
        ({"quantity_capture": True}, "quantity_capture is an option"),
        ({"utility": "money"}, "allowed are 'win' and 'glory'"),
        ({"max_turns": 0}, "allowed are 1 to 1000"),
        ({"wilds": "Purple Hag"}, "'Purple Hag', which is no card"),
        ({"wilds": "Witching Hag;Strong Witching Hag"}, "two cards of class 'Witching Hag'"),
        ({"wilds": "Death Charm;Life Spell;Growth Charm;Victory Charm"}, "4 spell cards, allowed are 3"),
        ({"wilds": "Light Charm"}, "no card of the sets in use"),
        ({"wilds": ";"}, "a ';' stands between two names of cards"),
        ({"wilds": "Witching Hag;"}, "a ';' stands between two names of cards"),
        ({"scenario": "endgame", "players": 3}, "endgame begins in a position made for players=2.*leave out players"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        SPEC.make_rules(parameters)


BARE = {"wilds": [{"card": "Deathdealer", "dice": 5}, {"card": "Life Spell", "dice": 5}]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wilds": [{"card": "Deathdealer"}, {"card": "Strong Deathdealer"}]}, "two cards of class 'Deathdealer'"),
        ({"wilds": [{"card": "Deathdealer", "dice": 6}]}, "from 0 to 5"),
        ({"wilds": [{"card": "Herald"}]}, "no card of the sets"),
        ({"dragons": 1}, "unknown field 'dragons'"),
        ({"players": [{}, {}, {}]}, "players has 3 entries"),
        ({"players": [{"bag": {"Deathdealer": 1}}, {}]}, "the position has 6 dice of class 'Deathdealer'"),
        ({"players": [{"bag": {"Deathdealer": -1}}, {}]}, "from 0 to 60"),
        ({"players": [{"bag": {"Witching Hag": 1}}, {}]}, "the classes in the Wilds are"),
        ({"players": [{"glory": 20}, {}]}, "20 wins at once"),
        ({"players": [{"ready": [{"die": "Assistant", "face": 0}]}, {}]}, "shows no creature"),
        ({"players": [{"ready": [{"die": "Life", "face": 0}]}, {}]}, "spell icon"),
        ({"players": [{}, {"active": [{"die": "Assistant", "face": 0}]}]}, "only the active seat has rolled dice"),
        (
            {"players": [{"ready": [{"die": "Assistant", "face": 4, "attached": [{"die": "Life", "face": 3}]}]}, {}]},
            "is no attach spell",
        ),
        ({"players": [{"spent": {"Assistant": 1}}, {}]}, "no Spent Pile"),
        ({"active": 2}, "from 0 to 1"),
        ({"phase": 7}, "from 0 to 6"),
        ({"edition": "light_vs_dark"}, "these rules are for 'base'"),
        ({"pending": {"stack": [["host", 255, 0, 0]]}}, "out of range"),
        ({"pending": {"stack": [["defend", 0, 0, 0]]}}, "only follows another frame"),
        ({"pending": {"stack": [["main", 0, 0, 0], ["defend", 0, 0, 0]]}}, "outside an attack"),
        ({"pending": {"defender": 9}}, "out of range"),
        ({"pending": {"summoned": 1}}, "must be a table of class names"),
        ({"pending": {"summoned": {"Deathdealer": 1}}}, "'Deathdealer', whose card sets no limit"),
        (
            {"phase": 5, "players": [{}, {"active": [{"die": "Assistant", "face": None, "waits": True}]}]},
            "only an unrolled die of the active seat waits",
        ),
        (
            {"players": [{"active": [{"die": "Assistant", "face": 0, "waits": True}]}, {}]},
            "only an unrolled die of the active seat waits",
        ),
        ({"players": [{"ready": [{"die": "Assistant", "face": 4, "record": 1}]}, {}]}, "record names an entry"),
        ({"players": [{}, {"ready": [{"die": "Assistant", "face": 4, "record": 1}]}]}, "record names an entry"),
        (
            {
                "players": [{"ready": [{"die": "Assistant", "face": 4, "record": 1}] * 2}, {}],
                "pending": {"records": [[1, 1, {"die": "Assistant", "face": 4}, 0]]},
            },
            "no entry twice",
        ),
        (
            {
                "players": [{"ready": [{"die": "Assistant", "face": 4, "record": n} for n in (1, 2)]}, {}],
                "pending": {"records": [[n, 1, {"die": "Assistant", "face": 4}, 0] for n in (1, 2)]},
            },
            "equal attackers have unequal records",
        ),
    ],
)
def test_bad_positions(change, words):
    rules = SPEC.make_rules({})
    with pytest.raises(PositionError, match=words):
        rules.from_dict({**BARE, **change})


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ({"bag": {"Quiddity (large)": 1}}, "is in the bag or the Used Pile"),
        ({"used": {"Quiddity (large)": 1}}, "is in the bag or the Used Pile"),
        ({"aside": ["Quiddity (large)"], "spent": {"Quiddity (large)": 2}}, "has 3 dice of 'Quiddity"),
    ],
)
def test_large_dice_lie_in_three_places_only(player, words):
    # D6, D8, I14.
    rules = SPEC.make_rules({"edition": "light_vs_dark"})
    wilds = [{"card": "Assistant of Economics", "dice": 1}, {"card": "Herald", "dice": 5}]
    with pytest.raises(PositionError, match=words):
        rules.from_dict({"phase": 4, "wilds": wilds, "players": [player, {}]})


def starts():
    """Edition, its cards in the Wilds, bag, dice aside and dice on the Assistant card at the start."""
    base = {"Basic Quiddity": 8, "Assistant": 4}
    yield {}, 3 + 7 + 3, base, [], 2
    yield {"qladiator": True}, 3 + 7 + 3, base, [], 2
    large = ["Quiddity (large)"] * 2
    yield {"edition": "light_vs_dark"}, 1 + 6 + 2, {"Assistant": 4}, large, 0
    yield {"edition": "light_vs_dark", "mixed": True}, 1 + 7 + 3, {"Assistant": 4}, large, 0
    yield {"edition": "light_vs_dark", "qladiator": True}, 1 + 7 + 3, {"Assistant": 4}, large, 0


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("edition", "cards", "bag", "aside", "assistants"), list(starts()), ids=str)
def test_every_game_starts_with_its_wilds_and_dice(edition, cards, bag, aside, assistants, players):
    # B2 to B9, D2 to D8. The last seat has drawn nothing yet; seat 0 draws at once.
    rules = SPEC.make_rules({**edition, "players": players})
    position, stream = rules.initial_position(), Stream(players)
    while position.to_dict()["phase"] == 0:
        position.apply_action(position.sample(stream))
    table = position.to_dict()
    seats = table["players"]
    dice = {entry["card"]: entry["dice"] for entry in table["wilds"]}
    basic = {"Basic Quiddity": 0, "Portal": 5}
    assert len(dice) == cards
    assert all(n == (assistants if name.startswith("Assistant") else basic.get(name, 5)) for name, n in dice.items())
    assert seats[-1]["bag"] == bag
    assert seats[-1]["aside"] == aside
    assert all(seat["glory"] == 0 and seat["ready"] == [] and seat["used"] == {} for seat in seats)
    first = sum(seats[0]["bag"].values()) + len(seats[0]["active"]) + len(seats[0]["aside"])
    assert first == sum(bag.values()) + len(aside)


@pytest.mark.parametrize("edition", [edition for edition, *_ in starts()], ids=str)
@pytest.mark.parametrize(("players", "goal"), [(2, 20), (3, 15), (4, 12)])
def test_the_goals(edition, players, goal):
    # B25, D51: an Assistant scores 1; one below the goal it wins, two below the game goes on.
    rules = SPEC.make_rules({**edition, "players": players})
    lvd = "edition" in edition
    wilds = [{"card": "Assistant of Economics" if lvd else "Assistant"}]
    for glory, over in ((goal - 2, False), (goal - 1, True)):
        scorer = {"glory": glory, "ready": [{"die": "Assistant", "face": 4}]}
        position = rules.from_dict({"active": 1, "wilds": wilds, "players": [{}, scorer, *[{}] * (players - 2)]})
        assert position.is_terminal() == over
        if over:
            assert position.to_dict()["pending"]["winners"] == [1]


def test_bad_data(tmp_path):
    path = tmp_path / "set.toml"
    path.write_text(
        'set = "mine"\n[[card]]\nname = "Odd Hag"\nclass = "Witching Hag"\ncost = 3\nprovenance = "guessed"\n'
    )
    with pytest.raises(DataError, match="'Odd Hag': provenance is 'guessed'"):
        SPEC.make_rules({"data": str(path)})
    path.write_text(
        'set = "mine"\n[[card]]\nname = "Odd Hag"\nclass = "Witching Hag"\ncost = 3\nprovenance = "reconstructed"\n'
        'effects = [{ on = "score", do = "fly" }]\n'
    )
    with pytest.raises(DataError, match="do is 'fly'"):
        SPEC.make_rules({"data": str(path)})
    for card, words in (
        ('effects = [{ on = "score", do = "swap" }]', "optional is False"),
        ('effects = [{ on = "summon", do = "quiddity", optional = true }]', "optional is True"),
        ('effects = [{ on = "cast", do = "cull", target = "bag" }]', "target is 'bag'"),
        ('effects = [{ on = "destroyed", do = "redirect", target = "self", to = "aside" }]', "go together"),
    ):
        die = "Death" if "cast" in card else "Ghostly Spirit"
        path.write_text(
            f'set = "mine"\n[[card]]\nname = "Odd"\nclass = "{die}"\ncost = 3\nprovenance = "reconstructed"\n{card}\n'
        )
        with pytest.raises(DataError, match=rf"set\.toml: .*{words}"):
            SPEC.make_rules({"data": str(path)})
    card = '[[card]]\nname = "{name}"\nclass = "Witching Hag"\ncost = 3\nprovenance = "reconstructed"\n{more}\n'
    for content, words in (
        ("die = 3", "die must be a list of tables, not 3"),
        ('card = "x"', "card must be a list of tables, not 'x'"),
        (card.format(name="Odd", more="effects = 3"), "'Odd': effects must be a list of tables"),
        (card.format(name="Odd", more='anchored = {cost = 1, flavour = "light", effects = 3}'), "anchored: effects"),
        (card.format(name="Odd", more='effects = [{on = "score", do = "glory", n = -1}]'), "n is -1"),
        (card.format(name=r"\u001b[31mOdd", more=""), "must be text on one line"),
        (card.format(name="", more=""), "must be text on one line"),
    ):
        path.write_text(f'set = "mine"\n{content}\n')
        with pytest.raises(DataError, match=rf"set\.toml: .*{words}"):
            SPEC.make_rules({"data": str(path)})
    with pytest.raises(DataError, match="No such file"):
        SPEC.make_rules({"data": str(tmp_path / "none.toml")})


def test_own_cards_by_path(tmp_path):
    # A card of the same name replaces the shipped one; a new one joins its class.
    path = tmp_path / "set.toml"
    path.write_text(
        'set = "mine"\n[[card]]\nname = "Witching Hag"\nclass = "Witching Hag"\ncost = 1\nglory = 9\n'
        'provenance = "reconstructed"\n'
    )
    rules = SPEC.make_rules({"data": str(path), "wilds": "Witching Hag"})
    position = rules.from_dict(
        {"wilds": [{"card": "Witching Hag"}], "players": [{"ready": [{"die": "Witching Hag", "face": 3}]}, {}]}
    )
    assert position.to_dict()["players"][0]["glory"] == 9


def test_a_shared_win_is_shared_equally():
    # B87, A101: three seats, two of them equal in Glory and dice. A win alone is worth 1, a loss -1/2.
    rules = SPEC.make_rules({"players": 3, "max_turns": 1})
    wilds = [{"card": "Witching Hag", "dice": 5}]
    players = [{"glory": 4}, {"glory": 4}, {"glory": 3}]
    over = rules.from_dict({"turn": 2, "active": 2, "phase": 6, "wilds": wilds, "players": players})
    assert over.is_terminal()
    assert over.returns() == pytest.approx([0.25, 0.25, -0.5])


def test_a_finished_position_is_its_dict():
    # I24: the order of a Ready Area, with a locked die in it, is canonical at the end, too.
    rules = SPEC.make_rules({"qladiator": True})
    ready = [{"die": "Warrior of the Quay", "face": 3}, {"die": "Assistant", "face": 4}]
    locked = {"die": "Frost Howler", "face": 2}
    wilds = [{"card": "Frost Howler"}, {"card": "Warrior of the Quay"}]
    for order in (ready, ready[::-1]):
        players = [{"ready": order, "locked": locked}, {"glory": 19, "ready": order, "locked": locked}]
        over = rules.from_dict({"active": 1, "wilds": wilds, "players": players})
        assert over.is_terminal()
        assert rules.from_dict(over.to_dict()) == over


def test_the_order_of_equal_attackers_leaves_no_trace():
    # I24, A29: three equal attackers; one gets Death Charm and one Life Cantrip, in either order, between two defences.
    rules = SPEC.make_rules({"players": 3})
    spells = [{"die": "Death", "face": 3}, {"die": "Life", "face": 3}]
    defender = {"ready": [{"die": "Quake Dragon", "face": 4}]}
    players = [{"ready": [{"die": "Assistant", "face": 4}] * 3 + spells}, defender, defender]
    wilds = [{"card": name} for name in ("Death Charm", "Life Cantrip", "Quake Dragon")]
    ends = []
    for order in (["cast Death 3", "cast Life 3"], ["cast Life 3", "cast Death 3"]):
        position = rules.from_dict({"phase": 4, "wilds": wilds, "players": players})
        for text in order:
            scripts.play(position, text)
            plain = [text for text in scripts.names_of(position) if text.startswith("creature 0")]
            if plain:  # the second spell may join the first or go elsewhere
                assert len(plain) == 2
                attached = [bool(die.get("attached")) for die in position.to_dict()["players"][0]["ready"]]
                scripts.play(position, plain[attached[:3].index(False) > 0])
        ends.append(position)
    assert ends[0] == ends[1]
    assert ends[0].to_dict()["players"][0]["ready"] == ends[1].to_dict()["players"][0]["ready"]


def test_illegal_action_changes_nothing():
    position = SPEC.make_rules({}).initial_position()
    before = position.to_bytes()
    with pytest.raises(IllegalActionError):
        position.apply_action(10**6)
    assert position.to_bytes() == before


def walk(rules, seed):
    """Random play, every step checked; yields each position."""
    stream = Stream(seed)
    position = rules.initial_position()
    glory = [0] * rules.num_players()
    while not position.is_terminal():
        yield position
        position.apply_action(position.sample(stream) if position.is_chance_node() else position.random_action(stream))
        assert position.check() == 0, f"I{position.check()}\n{position}"
        now = [player["glory"] for player in position.to_dict()["players"]]
        assert all(after >= before for after, before in zip(now, glory, strict=True))  # I4
        glory = now
    yield position


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_invariants_in_random_games(setting):
    rules = SPEC.make_rules(setting)
    assert rules.state_bytes <= 1024
    for seed in range(3):
        for number, position in enumerate(walk(rules, seed)):
            if number % 17 == 0:
                again = rules.from_dict(position.to_dict())
                assert again == position
                assert rules.from_bytes(position.to_bytes()) == position
                assert all(rules.min_utility() <= value <= rules.max_utility() for value in position.estimate())
            if position.is_player_node():
                assert len(position.legal_actions()) >= 2  # I25
        assert abs(sum(position.returns())) < 1e-12


@pytest.mark.soak
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_invariants_over_a_million_steps(setting):
    rules = SPEC.make_rules(setting)
    steps = seed = 0
    while steps < 1_000_000:
        steps += sum(1 for _ in walk(rules, seed)) - 1
        seed += 1
    print(f"{setting}: {steps} steps of {seed} games")


@pytest.mark.parametrize("setting", [SETTINGS[0], SETTINGS[6]], ids=str)
def test_own_playout_equals_the_generic_loop(setting):
    # Seat 0's mean return: two samples of n games from one distribution differ by less than 4.5 standard errors.
    position = SPEC.make_rules(setting).initial_position()
    n = 3000
    steps, own = position.playouts(n, Stream(1))
    generic_steps, generic = position.playouts(n, Stream(2), generic=True)
    assert np.abs(own - generic).max() / n < 4.5 * np.sqrt(2 / n)
    assert abs(steps / generic_steps - 1) < 0.05


def test_greedy_beats_random():
    rules = SPEC.make_rules({})
    won = 0
    for seed in range(60):
        stream, position, mine = Stream(seed), rules.initial_position(), seed % 2
        while not position.is_terminal():
            if position.is_chance_node():
                position.run_chance(stream)
            elif position.current_player() == mine:
                position.apply_action(position.suggest(stream))
            else:
                position.apply_action(position.random_action(stream))
        won += position.returns()[mine] > 0
    assert won >= 57


@pytest.mark.parametrize("name", list(SPEC.scenarios))
def test_scenario_values(name):
    scenario = SPEC.scenarios[name]
    position = SPEC.make_rules({"scenario": name}).initial_position()
    memo = {}
    assert expectimax(position, memo) == pytest.approx(scenario.solution["value"], abs=1e-12)
    assert len(memo) == scenario.solution["states"]


def test_max_turns_ends_the_game_by_glory():
    rules = SPEC.make_rules({"max_turns": 2, "players": 3})
    position = rules.initial_position()
    position.playout(Stream(4))
    table = position.to_dict()
    assert table["turn"] <= 6
    best = max(player["glory"] for player in table["players"])
    assert all(table["players"][seat]["glory"] == best for seat in table["pending"]["winners"])


def test_glory_utility_is_the_lead():
    rules = SPEC.make_rules({"utility": "glory", "players": 3})
    position = rules.initial_position()
    position.playout(Stream(9))
    glory = [min(player["glory"], 15) for player in position.to_dict()["players"]]
    expected = [own - (sum(glory) - own) / 2 for own in glory]
    assert position.returns() == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    ["quarriors()", "quarriors(edition=light_vs_dark,players=3)", "quarriors(qladiator=True,players=4)"],
)
def test_openspiel_random_sim(text):
    pyspiel.random_sim_test(pyspiel.load_game(text), num_sims=1, serialize=False, verbose=False)


def test_the_view_shows_the_table():
    from rich.console import Console

    for setting in ({}, {"edition": "light_vs_dark", "qladiator": True}):
        position = SPEC.make_rules(setting).initial_position()
        position.run_chance(Stream(2))
        console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115 - closed by the process
        console.print(SPEC.render(position, 0))
        text = console.export_text()
        table = position.to_dict()
        assert all(entry["card"].split()[-1] in text for entry in table["wilds"])
        assert ("reconstructed" in text) == bool(setting)
