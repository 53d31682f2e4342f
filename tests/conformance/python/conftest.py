"""What the tests share: where the module is, a device for each test, programs of their own.

`cargo xtask test` sets PYTHONPATH to the package that it built. By hand, after `cargo build -p toprope-python -p ascendcl`,
`python -m pytest tests/conformance/python` takes the newest one below target/.
"""

import faulthandler
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _newest_package():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "python" for profile in ("debug", "release")]
    built = [folder for folder in built if (folder / "acl" / "_acl.abi3.so").exists()]
    if not built:
        raise pytest.UsageError("no module acl: cargo build -p toprope-python -p ascendcl")
    return max(built, key=lambda folder: (folder / "acl" / "_acl.abi3.so").stat().st_mtime)


try:
    import acl
except ImportError:
    folder = str(_newest_package())
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = folder
    import acl

CHECKED = bool(os.environ.pop("TOPROPE_CHECK", ""))
"""Whether this process is checked. The programs that tests start are not, unless they ask for it."""

SECONDS = 60
"""After so long a test hangs."""


@pytest.fixture(scope="session", autouse=True)
def runtime():
    assert acl.init() == 0
    yield
    acl.finalize()


@pytest.fixture(autouse=True)
def device(runtime):
    """Each test has a device, and gives it back. One that hangs ends the run, and says where, even if it holds the GIL."""
    faulthandler.dump_traceback_later(4 * SECONDS, exit=True, file=sys.__stderr__)
    assert acl.rt.set_device(0) == 0
    yield 0
    acl.rt.set_device(0)
    acl.rt.reset_device_force(0)
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def stream(device):
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    yield handle
    acl.rt.destroy_stream_force(handle)


def _block(allocate, free):
    blocks = []

    def make(size, content=None):
        address, ret = allocate(size)
        assert ret == 0 and address
        blocks.append(address)
        if content is not None:
            assert acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(content), len(content), 0) == 0
        return address

    yield make
    for address in blocks:
        free(address)


@pytest.fixture
def host(device):
    """Makes pinned host memory: host(size, content)."""
    yield from _block(acl.rt.malloc_host, acl.rt.free_host)


@pytest.fixture
def on_device(device):
    """Makes device memory: on_device(size, content)."""
    yield from _block(lambda size: acl.rt.malloc(size, 0), acl.rt.free)


def content(address, size):
    """The bytes of host or device memory."""
    data = bytes(size)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size, 2) == 0
    return data


def run(code, *, args=(), python=sys.executable, code_wanted=0, **environment):
    """Runs a program; gives its standard output. None as the value of a variable takes it away."""
    variables = {**os.environ, **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    done = subprocess.run(
        [python, "-c", textwrap.dedent(code), *map(str, args)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == code_wanted, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def within(work, *args):
    """Runs `work` on a thread; fails when it does not end. Its result or exception is passed on."""
    outcome = []

    def body():
        try:
            outcome.append((work(*args), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "no end"
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
