"""`python -m experiments` is the `quandary` command."""

from experiments.start import main

if __name__ == "__main__":
    main()
