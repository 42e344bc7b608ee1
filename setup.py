"""Builds every .pyx of the four packages. Everything static stands in pyproject.toml.

Environment switches, each its own build flavour (a change of flavour rebuilds everything):
    QUANDARY_DEBUG=1    state assertions (engine_ext/debug.pxd)
    QUANDARY_SANITIZE=1 address and undefined-behaviour sanitizers, on top of QUANDARY_DEBUG
    QUANDARY_NATIVE=1   -march=native; fast, but not the same bits on every machine
    QUANDARY_PERF=1     symbols and the lines of .pyx and .pxd files for `perf`; optimised as ever
    QUANDARY_COVERAGE=1 line tracing for coverage of .pyx files
    QUANDARY_ANNOTATE=1 HTML pages that show where generated code touches Python
    QUANDARY_ONLY="A B" build only what lies below these folders (no flavour: what is built is built as ever)
    QUANDARY_JOBS=N     compile N files at once (default: all processors)
"""

import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
PACKAGES = ("engine_ext", "games", "solvers", "experiments")
STAMP = ROOT / "build" / "flavour.json"


def switch(name: str) -> bool:
    """An environment switch: set and neither empty nor 0."""
    return os.environ.get(name, "") not in ("", "0")


DEBUG = switch("QUANDARY_DEBUG") or switch("QUANDARY_SANITIZE")
JOBS = int(os.environ.get("QUANDARY_JOBS", "0")) or os.cpu_count() or 1

COMPILE = ["-O1", "-g"] if switch("QUANDARY_SANITIZE") else ["-O3", "-g0"]
if switch("QUANDARY_PERF"):
    COMPILE += ["-g", "-fno-omit-frame-pointer"]
# The same results on every machine: no fused multiply-add unless asked for.
COMPILE += ["-ffp-contract=off", "-fno-strict-aliasing", "-Wno-unused-function", "-Wno-unreachable-code"]
# Warnings of gcc about code that Cython generates and nobody reads: constants compared in tables that
# cannot overflow, int64_t against size_t, the calling convention of vectors that are never passed on.
COMPILE += [
    "-Wno-array-bounds",
    "-Wno-maybe-uninitialized",
    "-Wno-stringop-overread",
    "-Wno-stringop-overflow",
    "-Wno-sign-compare",
    "-Wno-psabi",
]
LINK: list[str] = []
if switch("QUANDARY_NATIVE"):
    COMPILE.append("-march=native")
if switch("QUANDARY_SANITIZE"):
    COMPILE += ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"]
    LINK += ["-fsanitize=address,undefined"]
MACROS = [("QUANDARY_DEBUG", "1")] if DEBUG else []
if switch("QUANDARY_COVERAGE"):
    MACROS += [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1")]

DIRECTIVES = {
    "language_level": 3,
    # Lists and arrays from users raise where an index is out of range. The hot loops run on raw pointers, which
    # this does not touch; the few on arrays turn it off where they stand.
    "boundscheck": True,
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,
    "embedsignature": True,
    "show_performance_hints": switch("QUANDARY_ANNOTATE"),
    "linetrace": switch("QUANDARY_COVERAGE"),
}


def flavour() -> dict[str, object]:
    """Everything besides the sources that decides what the compiled modules contain."""
    return {
        "compile": COMPILE,
        "macros": MACROS,
        "directives": DIRECTIVES,
        "python": sys.version,
        "cython": Cython.__version__,
    }


def find_extensions() -> list[Extension]:
    """One extension for each .pyx below the packages; at least one a package that has code."""
    sources = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.pyx"))
    if not any(path.is_relative_to(ROOT / "engine_ext") for path in sources):
        raise SystemExit("setup.py: no .pyx files found under engine_ext; the source tree is incomplete")
    only = [ROOT / folder for folder in os.environ.get("QUANDARY_ONLY", "").split()]
    wanted = [path for path in sources if not only or any(path.is_relative_to(folder) for folder in only)]
    return [extension(path.relative_to(ROOT)) for path in wanted]


def extension(source: Path) -> Extension:
    """How one .pyx is built."""
    return Extension(
        ".".join(source.with_suffix("").parts),
        [str(source)],
        extra_compile_args=COMPILE,
        extra_link_args=LINK,
        define_macros=MACROS,
    )


def remove_orphans() -> None:
    """Delete what was compiled in place from sources that are gone: Python would import it rather than a .py of
    that name."""
    for package in PACKAGES:
        for made in (ROOT / package).rglob("*"):
            name, _, suffix = made.name.partition(".")
            if f".{suffix}" in (".c", *EXTENSION_SUFFIXES) and not made.with_name(f"{name}.pyx").exists():
                made.unlink()


def flavour_changed() -> bool:
    """Whether the last build used other switches; timestamps alone would not show it."""
    try:
        return json.loads(STAMP.read_text()) != json.loads(json.dumps(flavour()))
    except (OSError, ValueError):
        return True


FORCE = flavour_changed()


class BuildExtensions(build_ext):
    """build_ext that compiles in parallel and remembers the flavour it built."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or JOBS
        self.force = bool(self.force or FORCE)

    def run(self) -> None:
        super().run()
        remove_orphans()
        STAMP.parent.mkdir(parents=True, exist_ok=True)
        STAMP.write_text(json.dumps(flavour()))


os.chdir(ROOT)
setup(
    ext_modules=cythonize(
        find_extensions(),
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        force=FORCE,
        annotate=switch("QUANDARY_ANNOTATE"),
        emit_linenums=switch("QUANDARY_PERF"),
        quiet=True,
    ),
    cmdclass={"build_ext": BuildExtensions},
)
