"""Every given/when/then case of tests/games/quarriors/cases."""

import pytest

from tests.games.quarriors import scripts

CASES = scripts.load()


@pytest.mark.parametrize("case", CASES, ids=[f"{case['file']}: {case['name']}" for case in CASES])
def test_case(case):
    scripts.run(case)
