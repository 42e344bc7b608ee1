"""Everything a user touches: run, solve, play, profile, report."""
