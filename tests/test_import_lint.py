"""The import lint finds what it should, and finds nothing in the package as it is."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def lint(repository):
    path = repository / "tools" / "import_lint.py"
    spec = importlib.util.spec_from_file_location("import_lint", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["import_lint"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["import_lint"]


def test_the_package_is_clean(repository):
    ran = subprocess.run(
        [sys.executable, repository / "tools" / "import_lint.py"], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.returncode) == ("", 0)


def plant(folder, files):
    for name, text in files.items():
        path = folder / "ensue" / name
        for package in [path.parent, *path.parent.parents]:
            if package == folder:
                break
            package.mkdir(parents=True, exist_ok=True)
            package.joinpath("__init__.py").touch()
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"maintain/dred.py": "import numba\n"}, "dred.py:1: numba may be imported under"),
        ({"a.py": "def f():\n    from pyspark.sql import Row\n"}, "a.py:2: pyspark.sql may be imported"),
        ({"maintain/kernel.py": "", "maintain/kernels/x.py": "import numba"}, "x.py:1: numba may"),
        ({"maintain/rete.py": "import numpy\n"}, "rete.py:1: ensue.maintain.rete reaches numpy"),
        (
            {"maintain/rete.py": "from ensue import a\n", "a.py": "\nimport rdflib\n"},
            "a.py:2: ensue.maintain.rete reaches rdflib",
        ),
        (
            {"device/window.py": "from .. import a\n", "a.py": "from pyoxigraph import parse\n"},
            "a.py:1: ensue.device reaches pyoxigraph",
        ),
        ({"maintain/rete.py": "", "maintain/__init__.py": "import numpy"}, "__init__.py:1: ensue.maintain"),
    ],
)
def test_a_planted_violation_is_found(lint, tmp_path, files, expected):
    plant(tmp_path, files)
    found = lint.violations(lint.load(tmp_path))
    assert any(expected in line for line in found), found


@pytest.mark.parametrize(
    "files",
    [
        {"maintain/kernel/run.py": "import numba\n", "spark/shard.py": "import pyspark\n"},
        {"maintain/rete.py": "import ensue.a, heapq\n", "a.py": "import json\n", "b.py": "import numpy\n"},
        {"device.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n"},
    ],
)
def test_what_is_allowed_passes(lint, tmp_path, files):
    plant(tmp_path, files)
    assert lint.violations(lint.load(tmp_path)) == []
