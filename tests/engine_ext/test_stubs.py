"""The .pyi stubs beside the compiled modules name what the modules have, no more and no less."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import engine_ext

FOLDER = Path(engine_ext.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.pyx"))


def public(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("name", MODULES)
def test_stub_and_module_agree(name):
    module = importlib.import_module(f"engine_ext.{name}")
    stub = ast.parse((FOLDER / f"{name}.pyi").read_text())
    listed = {key: value for key, value in vars(module).items() if inspect.isroutine(value) or inspect.isclass(value)}
    own = {key: value for key, value in listed.items() if getattr(value, "__module__", None) == module.__name__}
    declared = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert public(own) == public(declared)
    for key, node in declared.items():
        if isinstance(node, ast.ClassDef):
            members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            members |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
            assert public(members) == public(vars(own[key])), key
