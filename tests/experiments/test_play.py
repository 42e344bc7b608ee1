"""Playing in the terminal: driven by typed lines, as a person does."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from engine_ext.errors import ParameterError, SavedStateError, SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from experiments import gametext
from experiments.play import saving
from experiments.play.screen import Screen
from experiments.play.session import CHANCE, Session
from tests.experiments.command import command_line, quandary


def pig(seat=0, bots=("greedy",), seed=3, text="pig"):
    return Session(gametext.load(text), seat, list(bots), seed)


def advance(session):
    while session.step() is not None:
        pass


def typed(session, *lines):
    """What the screen shows when these lines are typed and the input ends."""
    waiting = iter(lines)

    def read(prompt):
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    console = Console(file=io.StringIO(), width=100)
    screen = Screen(session, console, read)
    with pytest.raises(EOFError) if "quit" not in lines else _nothing():
        screen.run()
    return console.file.getvalue(), screen


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def test_a_game_to_the_end_tells_who_won():
    shown, screen = typed(pig(text="pig(goal=10)"), *["roll", "hold"] * 60)
    assert screen.session.over
    own = screen.session.position.returns()[0]
    assert ("You have won." if own == 1 else "You have lost to seat 1.") in shown


def test_numbers_names_and_unmistakable_parts_are_understood():
    for line in ("1", "roll", "ROLL", "rol"):
        _, screen = typed(pig(), line)
        assert (screen.session.events[0].seat, screen.session.events[0].action) == (0, 0)


@pytest.mark.parametrize(
    "line", ["3", "0", "99999999999999999999", "fly", "l o", "-1", "1 2", "save", "load", "roll\x00"]
)
def test_a_line_that_means_nothing_changes_nothing(line):
    _, screen = typed(pig(), line)
    assert screen.session.events == []


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "~nobody-of-that-name/x"])
def test_a_name_no_file_can_have_is_refused(name):
    shown, screen = typed(pig(), "roll", f"save {name}", f"load {name}")
    assert shown.count("cannot name a file") == 2
    assert screen.session.events


def test_a_part_of_several_names_is_asked_about():
    session = Session(gametext.load("pentaquest(scenario=duel)"), 0, ["random"], 1)
    shown, screen = typed(session, "keep")
    assert "That could be: reroll, keep none" in shown
    assert all(event.seat == CHANCE for event in screen.session.events)


def test_the_same_dice_come_again_after_undo():
    session = pig(bots=["random"], seed=8)
    for _ in range(15):
        advance(session)
        if session.over:
            break
        session.choose(session.position.legal_actions()[0])
    advance(session)
    before = list(session.events)
    own = [event.action for event in before if event.seat == 0]
    for _ in own:
        assert session.undo()
    assert not session.undo()
    for action in own:
        advance(session)
        session.choose(action)
    advance(session)
    assert session.events == before


def test_undo_takes_back_the_rivals_moves_too():
    session = pig(seed=8)
    advance(session)
    start = session.position.to_bytes()
    session.choose(1)
    advance(session)
    assert any(event.seat == 1 for event in session.events)
    assert session.undo()
    assert session.position.to_bytes() == start
    assert session.events == []


def test_hints_give_chances_of_winning_that_a_search_found():
    session = pig(bots=["mcts(simulations=400)"])
    advance(session)
    name, options = session.hint()
    assert name == "mcts(simulations=400)"
    assert {option.text for option in options} == {"roll", "hold"}
    assert options[0].best
    for option in options:
        assert option.chance == pytest.approx((option.value + 1) / 2)  # utilities of a duel are +1 and -1
    assert session.events == []


def test_a_hint_has_odds_for_every_action():
    """Also where the bot itself, in a game, looks only at the more promising actions."""
    session = Session(gametext.load("pentaquest(players=3)"), 0, ["mcts(simulations=300)"], 1)
    advance(session)
    name, options = session.hint()
    assert name == "mcts(simulations=300)"
    assert len(options) == len(session.position.legal_actions()) > 10
    assert all(option.visits >= 1 and 0 <= option.chance <= 1 for option in options)


def test_a_hint_knows_a_move_that_wins():
    """To 2 points: after one roll that is not a 1, holding wins at once."""
    session = pig(bots=["mcts(simulations=200)"], text="pig(goal=2)", seed=3)
    advance(session)
    session.choose(0)
    advance(session)
    assert session.position.to_dict()["total"] == 2
    _, options = session.hint()
    assert (options[0].text, options[0].chance) == ("hold", 1)


def test_a_bot_without_values_leaves_the_hint_to_a_search():
    session = pig(bots=["greedy"])
    advance(session)
    name, options = session.hint()
    assert name.startswith("mcts")
    assert all(0 <= option.chance <= 1 for option in options)


def test_win_chances_only_where_utilities_are_about_winning():
    assert pig().win_chance(0.5) == 0.75
    assert Session(gametext.load("kuhn"), 0, ["random"], 1).win_chance(0.5) is None
    assert Session(gametext.load("pentaquest"), 0, ["random"], 1).win_chance(5.0) is None
    three = Session(gametext.load("pentaquest(players=3)"), 0, ["random"], 1)
    assert three.win_chance(1.0) == 1
    assert three.win_chance(-0.5) == 0
    assert three.win_chance(0.25) == 0.5  # a win shared by two of three


def test_a_rivals_hidden_card_is_not_told():
    """Kuhn poker: seat 1 sees that cards were dealt, and which one it holds itself."""
    session = Session(gametext.load("kuhn"), 1, ["random"], 4)
    advance(session)
    dealt = [event for event in session.events if event.seat == CHANCE]
    assert len(dealt) == 2
    assert dealt[0].text is None
    assert dealt[1].text == f"deal {dealt[1].action}"
    assert all(event.text is not None for event in session.events if event.seat == 0)  # bids are public
    shown, _ = typed(Session(gametext.load("kuhn"), 1, ["random"], 4))
    assert "(hidden from you)" in shown


@pytest.mark.parametrize(
    ("bots", "seats"),
    [
        (["greedy"], ["greedy", "you", "greedy"]),
        (["greedy", "random"], ["greedy", "you", "random"]),
        (["greedy", "random", "random"], ["greedy", "you", "random"]),
    ],
)
def test_one_bot_for_all_or_one_for_each_seat(bots, seats):
    assert Session(gametext.load("pentaquest(players=3)"), 1, bots, 1).names == seats


def test_wrong_seats_and_bots_are_named():
    with pytest.raises(ParameterError, match="seats 0 to 1"):
        pig(seat=2)
    with pytest.raises(ParameterError, match="3 bots are given"):
        pig(bots=["random"] * 3)
    with pytest.raises(SpecError):
        pig(bots=["nobody"])
    with pytest.raises(UnsuitableGameError):
        Session(gametext.load("kuhn"), 0, ["mcts"], 1)


# ---- saved games -----------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    session = pig(bots=["random"], seed=5, text="pig(goal=40)")
    for action in (0, 0, 1, 0):
        advance(session)
        session.choose(action)
    advance(session)
    path = tmp_path / "game.json"
    saving.save(session, path)
    return session, path


def test_a_loaded_game_stands_where_it_stood_and_goes_on_alike(saved):
    session, path = saved
    again = saving.load(path)
    assert again.events == session.events
    assert again.position.to_bytes() == session.position.to_bytes()
    assert again.names == session.names
    for each in (session, again):
        for _ in range(3):
            if each.your_turn:
                each.choose(each.position.legal_actions()[0])
                advance(each)
    assert again.events == session.events
    assert again.undo()


def test_a_file_is_not_written_over_by_accident(saved, tmp_path):
    session, path = saved
    before = path.read_bytes()
    with pytest.raises(SavedStateError, match="not written over"):
        saving.save(session, path)
    shown, _ = typed(pig(), f"save {path}")
    assert "not written over" in " ".join(shown.split())
    assert path.read_bytes() == before
    typed(pig(), f"save! {path}")
    assert path.read_bytes() != before
    other = tmp_path / "other.json"
    shown, _ = typed(pig(), f"save {other}", "roll", f"save {other}")  # its own file it may
    assert shown.count("Saved in") == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[: len(text) // 2], "damaged"),
        (lambda text: "", "damaged"),
        (lambda text: "[]", "not a saved game"),
        (lambda text: text.replace('"seed": 5', '"seed": 6'), "checksum"),
        (lambda text: text.replace('"version": 1', '"version": 2', 1), "version 2"),
        (lambda text: text.replace('"seat": 0', '"seat": "0"'), "seat is missing or not a int"),
        (lambda text: text.replace("quandary game", "chess game"), "not a saved game"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(saved, change, says, capsys):
    _, path = saved
    path.write_text(change(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(SavedStateError, match=says) as caught:
        saving.load(path)
    assert str(path) in str(caught.value)
    code, _, errors = command_line(capsys, "play", "pig(goal=40)", "--load", path)
    assert code == 2
    assert len(errors.strip().splitlines()) == 1
    assert path.read_bytes() == before
    shown, screen = typed(pig(), "roll", f"load {path}")
    assert str(path) in " ".join(shown.split())
    assert screen.session.events  # the running game is still there


def resealed(path, **changes):
    """Change a saved game and give it a checksum that fits."""
    content = json.loads(path.read_text()) | changes
    del content["checksum"]
    content["checksum"] = saving.digest(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"actions": [0, 0, 7]}, "illegal|not one of your"),
        ({"seed": 6}, "dice are not those of the seed"),
        ({"game": "pigg"}, "no game is called"),
        ({"bots": ["nobody"]}, "nobody"),
        ({"seat": 9}, "seat is 9"),
        ({"game_version": 99}, "version 99"),
        ({"actions": ["roll"]}, "whole numbers"),
    ],
)
def test_a_file_that_contradicts_itself_is_named(saved, changes, says):
    _, path = saved
    resealed(path, **changes)
    with pytest.raises(SavedStateError, match=says):
        saving.load(path)


def test_a_saved_game_of_another_game_is_refused(saved, capsys):
    _, path = saved
    code, _, errors = command_line(capsys, "play", "pig", "--load", path)
    assert code == 2
    assert "quandary_pig(goal=40)" in errors


# ---- the command -----------------------------------------------------------------------------


def test_the_end_of_input_leaves_cleanly():
    done = quandary("play", "pig", "--bot", "greedy", "--seed", 3, stdin="roll\nhelp\nhint\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Seed 3 brings the same dice again" in done.stdout
    assert "chance to win" in done.stdout


def test_the_same_seed_and_moves_are_the_same_game(capsys, monkeypatch):
    shown = []
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("roll\nroll\nhold\nquit\n"))
        shown.append(command_line(capsys, "play", "pig", "--bot", "random", "--seed", 12))
    assert shown[0] == shown[1]
    assert shown[0][0] == 0


def test_strongest_works_for_every_game_from_the_start(capsys, monkeypatch):
    for game in ("pig", "pentaquest(scenario=duel)"):
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        code, shown, _ = command_line(capsys, "play", game, "--seed", 1)
        assert code == 0
        assert "strongest" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["play", "chess"], "chess"),
        (["play", "pig", "--bot", "nobody"], "nobody"),
        (["play", "pig", "--seat", "7"], "seat is 7"),
        (["play", "pig", "--seed", "-1"], "seed"),
        (["play", "pig", "--load", "no-such-file"], "no-such-file"),
        (["play", "kuhn", "--bot", "mcts"], "hides information"),
    ],
)
def test_bad_input_is_one_line(words, says, capsys):
    code, _, errors = command_line(capsys, *words)
    assert code == 2
    assert says in errors
    assert len(errors.strip().splitlines()) == 1


# ---- what is said ----------------------------------------------------------------------------


def test_the_table_is_drawn_again_only_where_it_changed():
    shown, _ = typed(Session(gametext.load("quarriors"), 0, ["greedy"], 5), "buy nothing more", "look")
    assert shown.count("The Wilds") == 2  # at the start, and when asked for
    assert "what has changed" in shown


def test_a_question_stands_above_the_menu():
    shown, _ = typed(pig())
    lines = shown.splitlines()
    asked = next(i for i, line in enumerate(lines) if line.startswith("You have 0 of 100 points"))
    assert lines[asked + 1].split() == ["1", "roll", "the", "die"] or "1  roll the die" in lines[asked + 2]


def test_words_of_the_menu_are_understood_as_well_as_names():
    session = Session(gametext.load("pentaquest(scenario=duel)"), 0, ["random"], 1)
    _, screen = typed(session, "roll all 5 again")
    assert screen.session.events[-2].text == "reroll, keep none"


def test_alone_nobody_is_called_a_player_or_seat():
    shown, _ = typed(Session(gametext.load("pentaquest"), 0, ["greedy"], 3))
    assert "You play alone" in shown
    assert "player 0" not in shown
    assert "seat 0" not in shown
    menu = [line for line in shown.splitlines() if "give up and lose the game" in line or "take nothing" in line]
    assert menu
    assert not menu[0].lstrip().startswith("1 ")


def test_things_can_be_looked_up():
    session = Session(gametext.load("quarriors(wilds=Death Cantrip)"), 0, ["greedy"], 5)
    shown, _ = typed(session, "about Death Cantrip", "about portal", "about", "about nothing of the kind [red]")
    assert "Death Cantrip: spell, costs 4" in shown
    assert "faces: 1 Quiddity; 5 ×" in shown or "Portal: basic, costs 4" in shown
    assert "about NAME, for one of: Basic Quiddity, Assistant, Portal" in shown
    assert "Nothing is called 'nothing of the kind [red]'" in shown
    assert "nothing to look up" in typed(pig(), "about pig")[0]


def test_a_bot_tells_how_it_saw_its_choice():
    shown, screen = typed(pig(bots=["mcts(simulations=100)"], seat=1, seed=4), "why")
    assert "seat 0 gave itself" in shown
    assert "how seat 0, mcts(simulations=100), saw its last choice" in " ".join(shown.split())
    thought = screen.session.thought
    assert thought.seat == 0
    assert thought.options[0].chance == pytest.approx((thought.options[0].value + 1) / 2)
    assert "no bot that looks ahead" in typed(pig(), "why")[0]


def test_a_bot_with_hidden_cards_does_not():
    session = Session(gametext.load("kuhn"), 1, ["ismcts(simulations=50)"], 4)
    shown, screen = typed(session, "why")
    assert screen.session.thought is None
    assert "would give away what it holds" in shown
    assert "gave itself" not in shown


def test_undo_takes_the_story_and_the_thought_back():
    session = pig(bots=["mcts(simulations=50)"], seed=3)
    session.go_on()
    session.choose(0)
    session.go_on()
    before = list(session.story), session.thought
    session.choose(1)
    session.go_on()
    assert session.thought is not None
    assert session.story != before[0]
    assert session.undo()
    assert (session.story, session.thought) == before


def test_a_loaded_game_has_its_story(saved):
    session, path = saved
    session.tell()
    again = saving.load(path)
    again.tell()
    assert again.story == session.story
    assert again.story


@pytest.mark.parametrize(
    "game",
    [
        "pig(goal=20)",
        "kuhn",
        "pentaquest",
        "pentaquest(players=4,original=true)",
        "quarriors",
        "quarriors(edition=light_vs_dark,mixed=true,qladiator=true,players=3)",
        "quarz",
        "quarz(players=4,squad=2)",
    ],
)
def test_a_whole_game_typed_by_numbers_and_nonsense(game):
    """Numbers at random and lines that mean nothing, to the end, on a narrow terminal."""
    stream = Stream(17)
    session = Session(gametext.load(game), 0, ["greedy"], 11)
    nonsense = [
        "",
        "   ",
        "[/bold]",
        "0",
        "-3",
        "9" * 40,
        "\u0663",
        "why",
        "about a",
        "moves",
        "look",
        "a b c" * 50,
        "undo",
    ]

    def read(_):
        if session.over:
            raise EOFError
        if stream.below(12) == 0:
            return nonsense[stream.below(len(nonsense))]
        return str(1 + stream.below(len(session.choices())))

    console = Console(file=io.StringIO(), width=60)
    with pytest.raises(EOFError):
        Screen(session, console, read).run()
    shown = console.file.getvalue()
    assert session.over
    assert session.verdict().split(".")[0] in " ".join(shown.split())
    assert "Traceback" not in shown
