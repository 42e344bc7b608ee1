"""The .pyi stubs beside the compiled solvers name what the modules have, no more and no less."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import solvers

FOLDER = Path(solvers.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.pyi"))


def public(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("name", MODULES)
def test_stub_and_module_agree(name):
    module = importlib.import_module(f"solvers.{name}")
    stub = ast.parse((FOLDER / f"{name}.pyi").read_text())
    listed = {key: value for key, value in vars(module).items() if inspect.isroutine(value) or inspect.isclass(value)}
    own = {key: value for key, value in listed.items() if getattr(value, "__module__", None) == module.__name__}
    declared = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert public(own) == public(declared)
    for key, node in declared.items():
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            fields = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
            # What a base class of ours has need not be declared again.
            bases = [base for base in own[key].__mro__[1:] if base.__module__ == module.__name__]
            inherited = {name for base in bases for name in vars(base)}
            found = public(vars(own[key])) - inherited
            # Attributes of a plain Python class are set in its __init__ and no attributes of the class.
            extra = public(fields) - found if "__dict__" in vars(own[key]) else set()
            assert public(methods | fields) - extra - inherited == found, key
