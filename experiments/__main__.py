"""`python -m experiments` is the `quandary` command."""

from experiments.cli import main

if __name__ == "__main__":
    main()
