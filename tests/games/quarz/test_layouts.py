"""Quick set-ups by name: the shipped layouts, and that bad ones get named errors."""

from __future__ import annotations

import re
import shutil
from collections import Counter, deque
from pathlib import Path

import pytest

import games
from engine_ext.errors import DataError, ParameterError
from engine_ext.rng import Stream
from games.quarz.cards import DATA
from games.quarz.loading import read_content
from tests.games.quarz.test_setup import STAGES, run_to, scene

CONTENT = read_content()
NAMES = list(CONTENT.layouts)
STEPS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]  # E SE SW W NW NE


def rules_of(name):
    return games.spec("quarz").make_rules({"layout": name, "players": CONTENT.layouts[name].players})


def steps_on_foot(table, board, camp):
    """Breadth first over what a position shows: no step across water or crystal (rule 42, Q32), through
    impassable fields (rule 44) or foreign camps (rule 48)."""
    sides = {pattern.name: pattern.edges for pattern in CONTENT.patterns}
    closed = set()
    for key, (pattern, turned) in table["tiles"].items():
        q, r = map(int, key.split(","))
        for side in sides[pattern]:
            dq, dr = STEPS[(side + turned) % 6]
            closed |= {((q, r), (q + dq, r + dr)), ((q + dq, r + dr), (q, r))}
    free = set(board.cells) - set(board.impassable) - (set(board.camps) - {camp})
    steps, queue = {camp: 0}, deque([camp])
    while queue:
        q, r = here = queue.popleft()
        for dq, dr in STEPS:
            there = (q + dq, r + dr)
            if there in free and there not in steps and (here, there) not in closed:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def test_every_player_count_has_some() -> None:
    assert {
        players: sum(each.players == players for each in CONTENT.layouts.values()) >= 3 for players in (2, 3, 4)
    } == {
        2: True,
        3: True,
        4: True,
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_fills_the_board_by_the_rules(name: str) -> None:
    """Rules 15 to 17: the tiles used by player count; equal ways for all, as the description says them."""
    rules = rules_of(name)
    table = scene(rules.initial_position())
    layout, board = CONTENT.layouts[name], rules.board
    kinds = {pattern.name: pattern.kind for pattern in CONTENT.patterns}
    used = Counter(kinds[pattern] for pattern, _ in table["tiles"].values())
    stock = {2: (5, 4, 2), 3: (8, 6, 4), 4: (16, 11, 5)}[board.players]
    assert (used["empty"], used["water"], used["crystal"]) == stock
    assert {tuple(map(int, key.split(","))) for key in table["tiles"]} == set(board.modifiable)
    altar, shrines = layout.description.rsplit("the shrines", 1)
    told = [int(re.findall(r"\d+", altar)[-1])], [int(number) for number in re.findall(r"\d+", shrines)]
    for camp in board.camps:
        steps = steps_on_foot(table, board, camp)
        assert ([steps[board.altar]], sorted(steps[cell] for cell in board.shrines)) == told


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_is_played_without_placing_tiles(name: str) -> None:
    rules = rules_of(name)
    assert rules.parameters["layout"] == name
    position = run_to(rules.initial_position(), STAGES - {"tile"}, Stream(1))
    assert scene(position)["doing"] == "favor"
    assert scene(position)["tiles"] == scene(rules.initial_position())["tiles"]
    stream = Stream(2)
    while not position.is_terminal():
        position.apply_action(position.sample(stream) if position.is_chance_node() else position.suggest(stream))
        assert position.check() == 0
    again = rules.from_dict(position.to_dict())
    assert again.to_bytes() == position.to_bytes()
    assert rules.from_bytes(position.to_bytes()) == position


def test_wrong_names_and_contradictions_are_refused() -> None:
    spec = games.spec("quarz")
    with pytest.raises(ParameterError, match="'moor', there are for 2 players: meadow, gorge, bastion"):
        spec.make_rules({"layout": "moor"})
    with pytest.raises(ParameterError, match="'meadow', there are for 4 players: crossroads"):
        spec.make_rules({"layout": "meadow", "players": 4})
    with pytest.raises(ParameterError, match="of the board 4p_alt_hexagon, not '4p'"):
        spec.make_rules({"layout": "canals", "players": 4, "board": "4p"})
    with pytest.raises(ParameterError, match="leave out tiles=seed"):
        spec.make_rules({"layout": "meadow", "tiles": "seed"})
    assert spec.make_rules({"layout": "canals", "players": 4}).board.name == "4p_alt_hexagon"


def test_the_listing_names_them() -> None:
    listed = games.spec("quarz").setups(games.spec("quarz").make_rules())
    assert [text for text, _ in listed] == [f"layout={name}" for name in NAMES]
    assert all("players, board" in description for _, description in listed)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# Layouts", "title = 1\n# Layouts", "unknown key 'title'; allowed: layout"),
        ('name = "gorge"', 'name = "meadow"', "name is 'meadow'"),
        ('name = "gorge"', 'name = "a,b"', "name is 'a,b'"),
        ('board = "2p"', 'board = "9p"', "board is '9p', there are: 4p"),
        ('board = "2p"', 'board = "3p"', "not a modifiable field of the board 3p"),
        ('provenance = "reconstructed"', 'provenance = "guessed"', "provenance is 'guessed'"),
        ('provenance = "reconstructed"', 'colour = "red"', "unknown key 'colour'"),
        ('provenance = "reconstructed"\n', "", "key 'provenance' is missing"),
        ('["empty", 0]', '["bog", 0]', "must be [pattern, orientation]"),
        ('["empty", 0]', '["empty", 1]', "orientation is 1, allowed for empty are 0 to 0"),
        ('["empty", 0]', '["brook", 0]', "counts"),
        ('["empty", 0]\n', '["empty", 0]\n"0,0" = ["empty", 0]\n', "'0,0' is not a modifiable field"),
    ],
)
def test_bad_layouts_are_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    path = folder / "layouts.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1 if old.startswith("[") and "empty" in old else -1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_content(folder)
    assert told in str(caught.value)
    assert "layouts.toml" in str(caught.value)


def edited(tmp_path: Path, change: dict[str, str]) -> Path:
    """A folder whose layouts.toml is the shipped first one with other tiles in some fields ("": none)."""
    text = (DATA / "layouts.toml").read_text(encoding="utf-8").split("[[layout]]")[1]
    for key, tile in change.items():
        text, found = re.subn(rf'"{re.escape(key)}" = .*', f'"{key}" = {tile}' if tile else "", text)
        assert found == 1
    (tmp_path / "layouts.toml").write_text("[[layout]]" + text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"2,0": ""}, "fields: 1 have no tile, [2, 0] the first"),
        ({"1,0": '["brook", 0]'}, "counts: {'crystal': 2, 'empty': 4, 'water': 5}, 2 players use"),
        ({"-1,0": '["bay", 0]'}, "stock: 3 tiles bay, there are 2"),
        # camp [-1, 3] has two neighbours: their sides towards it, 1 (south-east) and 2 (south-west), are closed
        (
            {"-1,2": '["brook", 1]', "0,2": '["brook", 2]', "-1,0": '["empty", 0]', "2,0": '["empty", 0]'},
            "connectivity: from the camps to the altar it is [[-1], [4]]",
        ),
        # no bay on [0, -1]: from [2, -3] by [1, -2] and [0, -1] to [0, 0]; the brook's side leads off the board
        (
            {"0,-1": '["empty", 0]', "2,-2": '["brook", 0]'},
            "distances: from the camps to the altar they are [[4], [3]], not equal",
        ),
    ],
)
def test_what_a_layout_must_fulfil_is_named(tmp_path: Path, change: dict[str, str], told: str) -> None:
    with pytest.raises(DataError) as caught:
        read_content(edited(tmp_path, change))
    assert told in str(caught.value)
    assert "layout 'meadow'" in str(caught.value)


def test_a_folder_with_boards_of_its_own_has_no_layouts_of_the_games(tmp_path: Path) -> None:
    for name, files in (("boards", ["boards.toml"]), ("both", ["boards.toml", "layouts.toml"])):
        (tmp_path / name).mkdir()
        for file in files:
            shutil.copy(DATA / file, tmp_path / name / file)
    assert read_content(tmp_path / "boards").layouts == {}
    assert list(read_content(tmp_path / "both").layouts) == NAMES
    with pytest.raises(ParameterError, match="there are for 2 players: none"):
        games.spec("quarz").make_rules({"data": str(tmp_path / "boards"), "layout": "meadow"})
