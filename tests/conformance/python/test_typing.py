"""The stubs: mypy --strict takes the examples, refuses what is wrong, and finds stubs and module alike."""

import os
import subprocess
import sys
from pathlib import Path

import acl
import pytest
from conftest import ROOT

PACKAGE = Path(acl.__file__).parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def mypy(cache, *args):
    command = [sys.executable, "-m", *args]
    environment = {**os.environ, "MYPYPATH": os.fspath(PACKAGE.parent), "PYTHONPATH": os.fspath(PACKAGE.parent), "MYPY_CACHE_DIR": os.fspath(cache)}
    return subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_examples_are_typed(cache):
    assert EXAMPLES
    done = mypy(cache, "mypy", "--strict", *map(str, EXAMPLES))
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_are_found(cache, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import acl\n"
        "ret: str = acl.rt.free(5)\n"
        "address = acl.rt.malloc_host(64) + 1\n"
        "acl.rt.memcpy(1, 2, 3, 4)\n"
        "acl.rt.malloc(size=1, policy=0)\n"
        "acl.ACL_SUCCESS = 1\n"
    )
    done = mypy(cache, "mypy", "--strict", str(wrong))
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == {2, 3, 4, 5, 6}, done.stdout


def test_stubs_are_those_of_the_module(cache):
    # The runtime's library lies in the package, but is no module of it.
    known = cache / "known"
    known.write_text("acl.libascendcl\n")
    done = mypy(cache, "mypy.stubtest", "acl", "--allowlist", os.fspath(known))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("ok")
