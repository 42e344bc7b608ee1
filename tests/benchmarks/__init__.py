"""Benchmarks: `make bench` times them; in `make test` each runs once. No wall-clock time is asserted."""
