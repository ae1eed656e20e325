"""The architecture as a lint: who may import what, read off the source with `ast`.

- `pyspark` is imported under `ensue/spark/` only, `numba` under `ensue/maintain/kernel/` only.
- `ensue.maintain.rete` and `ensue.device`, and every module of ours that they import in turn, use
  the standard library alone. Imports for type checkers do not count, and neither does what is
  imported by name at run time (`import_module`): that is how `ensue.maintain` finds a strategy and
  `ensue.rules.builtins` finds SPARQL expressions, when and only when they are asked for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "ensue"
CONFINED = {"pyspark": "ensue.spark", "numba": "ensue.maintain.kernel"}
STANDARD_LIBRARY_ONLY = ("ensue.maintain.rete", "ensue.device")


@dataclass(frozen=True, slots=True)
class Import:
    """One import: of which module, where."""

    module: str
    line: int


@dataclass(frozen=True, slots=True)
class Module:
    """A module of ours and what it imports."""

    name: str
    path: Path
    imports: tuple[Import, ...]


def load(source: Path) -> dict[str, Module]:
    """Every module of the package below the folder `source`, by its dotted name."""
    found = {}
    for path in sorted(source.joinpath(PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        package = name if is_package else name.rpartition(".")[0]
        found[name] = Module(name, path, tuple(_imports(tree, package)))
    return found


def _imports(node: ast.AST, package: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _base(child, package)
            # `from a import b` may mean the module a.b: it counts as both, unknown names fall away.
            yield Import(base, child.lineno)
            yield from (Import(f"{base}.{alias.name}", child.lineno) for alias in child.names)
        elif isinstance(child, ast.If) and _is_for_type_checkers(child.test):
            for other in child.orelse:
                yield from _imports(ast.Module([other], []), package)
        else:
            yield from _imports(child, package)


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _is_for_type_checkers(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


def violations(modules: dict[str, Module]) -> list[str]:
    """What breaks the rules, one line each: `file:line: what`."""
    found = [*_confinement(modules)]
    for root in STANDARD_LIBRARY_ONLY:
        found += _third_party(root, modules)
    return sorted(set(found))


def _confinement(modules: dict[str, Module]) -> Iterator[str]:
    for module in modules.values():
        for imported in module.imports:
            home = CONFINED.get(imported.module.partition(".")[0])
            if home and not f"{module.name}.".startswith(f"{home}."):
                yield _line(module, imported, f"{imported.module} may be imported under {home} only")


def _third_party(root: str, modules: dict[str, Module]) -> Iterator[str]:
    names = [name for name in modules if f"{name}.".startswith(f"{root}.")]
    for name in _reached(names, modules):
        for imported in modules[name].imports:
            top = imported.module.partition(".")[0]
            if top != PACKAGE and top not in sys.stdlib_module_names:
                yield _line(modules[name], imported, f"{root} reaches {top}, which is not standard library")


def _reached(names: list[str], modules: dict[str, Module]) -> set[str]:
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in modules and name not in seen:
            seen.add(name)
            todo.extend(imported.module for imported in modules[name].imports)
            # Importing a.b.c runs a and a.b first.
            todo.append(name.rpartition(".")[0])
    return seen


def _line(module: Module, imported: Import, what: str) -> str:
    return f"{module.path}:{imported.line}: {what}"


def main(source: Path) -> int:
    """Print the violations; 1 if there are any."""
    found = violations(load(source))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(__file__).resolve().parent.parent / "src"))
