"""The grammar of specs, and the errors of those that are wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from engine_ext.errors import SpecError
from solvers import specs
from solvers.contract import Parameter, SolverSpec

TOY = SolverSpec(
    name="toy+",
    kind="searcher",
    summary="a solver for these tests",
    source="none",
    make=dict,
    parameters={
        "simulations": Parameter(None, "a limit", kind=int, low=1),
        "c": Parameter(1.4, "a number", low=0.0, high=10.0),
        "pruning": Parameter("star1", "a choice", choices=("none", "star1", "star2")),
        "reuse": Parameter(False, "a switch"),
        "favor": Parameter("", "a nested spec"),
        "book": Parameter(None, "a file", kind=Path),
    },
)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """A solver of our own beside the package's."""
    known = {**specs.solver_specs(), TOY.name: TOY}
    monkeypatch.setattr(specs, "solver_specs", lambda: known)
    monkeypatch.setattr(specs, "_ALIASES", {})


def test_defaults_and_types():
    spec = specs.parse_spec("toy+( simulations = 2000 , c=2, reuse=True, favor=cfr+(iterations=5,x=y) )")
    assert spec.parameters == {
        "simulations": 2000,
        "c": 2.0,
        "pruning": "star1",
        "reuse": True,
        "favor": "cfr+(iterations=5,x=y)",
        "book": None,
    }
    assert str(spec) == "toy+(simulations=2000,c=2,reuse=true,favor=cfr+(iterations=5,x=y))"
    assert specs.parse_spec("toy+()").given == {}
    assert specs.parse_spec("toy+(simulations=1e6)").parameters["simulations"] == 1_000_000


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "simulations": st.integers(1, 10**12),
            "c": st.floats(0, 10),
            "pruning": st.sampled_from(["none", "star1", "star2"]),
            "reuse": st.booleans(),
            "book": st.text("ab/. ,()='", min_size=1).filter(str.strip),
        },
    )
)
def test_canonical_text_parses_back(parameters):
    text = ",".join(
        f'{key}="{value}"' if key == "book" else f"{key}={value!r}".replace("'", "")
        for key, value in parameters.items()
    )
    spec = specs.parse_spec(f"toy+({text})")
    assert dict(spec.given) == parameters
    assert specs.parse_spec(str(spec)).given == spec.given


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["a name", "column 1"]),
        ("Toy", ["a name", "column 1"]),
        ("toy+(", ["a parameter's name", "column 6"]),
        ("toy+(c", ["'='", "column 7"]),
        ("toy+(c=", ["no value", "column 8"]),
        ("toy+(c=1", ["')'", "missing"]),
        ("toy+(c=1))", ["unexpected", "column 10"]),
        ("toy+(c=1,)", ["a parameter's name", "column 10"]),
        ("toy+(c=1,c=2)", ["'c'", "twice"]),
        ("toy+(c==1)", ["unexpected '='"]),
        ("toy+(favor=a(b=1)c)", ["unexpected"]),
        ("tyo+", ["no solver", "did you mean 'toy+'", "random"]),
        ("toy+(simulation=5)", ["no parameter 'simulation'", "did you mean 'simulations'", "pruning"]),
        ("toy+(simulations=0)", ["simulations", "'0'", "from 1"]),
        ("toy+(simulations=1.5)", ["simulations", "whole number"]),
        ("toy+(simulations=many)", ["simulations", "'many'", "whole number"]),
        ("toy+(simulations=99999999999999999999)", ["simulations", "'99999999999999999999'", str(2**62)]),
        (f"toy+(simulations={'9' * 4000})", ["simulations", "(4000 characters)", str(2**62)]),
        ("toy+(simulations=1e30)", ["simulations", "'1e30'", str(2**62)]),
        ("toy+(c=11)", ["c is '11'", "from 0 up to 10"]),
        ("toy+(c=nan)", ["c is 'nan'"]),
        ("toy+(c=inf)", ["c is 'inf'"]),
        ("toy+(pruning=star3)", ["none | star1 | star2"]),
        ("toy+(reuse=1)", ["true | false"]),
        ("toy+(book=a (1).bin)", ["a parameter's name", "column 14"]),
        ('toy+(book="a', ["second", "missing"]),
        ('toy+(book="")', ["book", "allowed: a file"]),
        ('toy+(book=" ")', ["book", "allowed: a file"]),
        ('toy+(book="a"b)', ["book", "allowed: a file"]),
        ('toy+(book=a"b)', ["book", "allowed: a file"]),
        ("a(b=" * 50 + "c" + ")" * 50, ["nested deeper"]),
    ],
)
def test_wrong_specs_say_what_and_where(text, words):
    with pytest.raises(SpecError) as error:
        specs.parse_spec(text)
    for word in words:
        assert word in str(error.value)


def test_files_are_found_in_a_folder_and_the_text_stays(tmp_path):
    spec = specs.parse_spec('toy+(c=2,book="a, b.bin")')
    assert spec.files() == ["a, b.bin"]
    located = spec.located(tmp_path)
    assert located.parameters["book"] == str(tmp_path / "a, b.bin")
    assert str(located) == str(spec) == 'toy+(c=2,book="a, b.bin")'
    assert str(specs.parse_spec('toy+(book="plain.bin")')) == "toy+(book=plain.bin)"
    absolute = specs.parse_spec("toy+(book=/somewhere/a.bin)")
    assert absolute.located(tmp_path).parameters["book"] == "/somewhere/a.bin"
    without = specs.parse_spec("toy+")
    assert without.files() == []
    assert without.located(tmp_path) is without


@given(st.text('toyc+(=,) 1e."bk', max_size=30))
def test_any_text_parses_or_gets_the_named_error(text):
    try:
        spec = specs.parse_spec(text)
    except SpecError:
        return
    assert spec.name in specs.names()


def test_alias_stands_for_a_spec_by_game():
    rules = games.spec("pig").make_rules()
    specs.register_alias(specs.Alias("strongest", "the best known", lambda rules: f"toy+(favor={rules.name})"))
    assert specs.parse_spec("strongest", rules).parameters["favor"] == "quandary_pig"
    specs.check_spec("strongest")
    with pytest.raises(SpecError, match="depends on the game"):
        specs.parse_spec("strongest")
    with pytest.raises(SpecError, match="takes no parameters"):
        specs.check_spec("strongest(c=1)")
    with pytest.raises(SpecError, match="already the name of a solver"):
        specs.register_alias(specs.Alias("random", "", lambda rules: "greedy"))
    specs.register_alias(specs.Alias("a", "", lambda rules: "b"))
    specs.register_alias(specs.Alias("b", "", lambda rules: "a"))
    with pytest.raises(SpecError, match="circle"):
        specs.parse_spec("a", rules)


@pytest.mark.parametrize("name", ["mcts", "ismcts", "smooth_uct", "oos", "expectimax"])
def test_a_time_that_no_clock_can_hold_is_refused(name):
    with pytest.raises(SpecError, match="seconds is '1e300'; allowed: number from 1e-06 up to 1e"):
        specs.parse_spec(f"{name}(seconds=1e300)")


def test_every_solver_is_described():
    for name, spec in specs.solver_specs().items():
        text = specs.describe(name)
        assert text.startswith(f"{name}: {spec.summary}")
        for key, parameter in spec.parameters.items():
            assert f"  {key} (" in text
            assert parameter.help
            assert parameter.default is not None or parameter.kind is not None
