"""What holds for every function, read from the type stubs: it is there, answers zeros in its shape, and refuses what C's
argument parsing refuses. What each one does when it succeeds is in the other files, and that none is left out is here."""

import ast
import csv
import inspect
import json
import pydoc
import re
from dataclasses import dataclass
from pathlib import Path

import acl
import pytest
from conftest import ROOT, run

PACKAGE = ROOT / "crates/python/python/acl"
MODULES = {"acl": (acl, "__init__"), "acl.rt": (acl.rt, "rt"), "acl.util": (acl.util, "util"), "acl.mdl": (acl.mdl, "mdl")}


@dataclass
class Stub:
    module: str
    name: str
    names: list
    arguments: list
    optional: int
    returns: str
    doc: str

    @property
    def full(self):
        return f"{self.module}.{self.name}"

    @property
    def function(self):
        return getattr(MODULES[self.module][0], self.name)

    @property
    def c_function(self):
        found = re.search(r"Source: (\w+)[, ]", self.doc)
        return found.group(1) if found and found.group(1) != "pyACL" else None

    @property
    def absent(self):
        return "not part of this runtime" in self.doc or "Not part of this runtime" in self.doc


def read_stubs():
    stubs = []
    for module, (_, file) in MODULES.items():
        tree = ast.parse((PACKAGE / f"{file}.pyi").read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                assert not node.args.args, f"{node.name}: every argument is positional only"
                names = [arg.arg for arg in node.args.posonlyargs]
                arguments = [ast.unparse(arg.annotation) for arg in node.args.posonlyargs]
                if node.args.vararg:
                    names, arguments = ["*" + node.args.vararg.arg], None
                doc = ast.get_docstring(node)
                stubs.append(
                    Stub(module, node.name, names, arguments, len(node.args.defaults), ast.unparse(node.returns), doc)
                )
    return stubs


STUBS = read_stubs()
UNBUILT = set(re.findall(r'"(\w+)"', (ROOT / "crates/cli/src/unbuilt.rs").read_text()))
each = pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.full)
KNOWN = [stub for stub in STUBS if stub.arguments is not None]
each_known = pytest.mark.parametrize("stub", KNOWN, ids=lambda stub: stub.full)


def test_the_module_has_what_the_stubs_say():
    for module, (object_, _) in MODULES.items():
        written = {stub.name for stub in STUBS if stub.module == module}
        # What is callable in `acl` but no function of the extension comes from Python.
        there = {name for name in dir(object_) if inspect.isbuiltin(getattr(object_, name))}
        assert there == written, module


@each
def test_the_signature_is_the_stubs(stub):
    parameters = inspect.signature(stub.function).parameters.values()
    stars = {inspect.Parameter.POSITIONAL_ONLY: "", inspect.Parameter.VAR_POSITIONAL: "*"}
    assert [stars[parameter.kind] + parameter.name for parameter in parameters] == stub.names
    optional = [parameter for parameter in parameters if parameter.default is not inspect.Parameter.empty]
    assert len(optional) == stub.optional


def test_the_signature_is_the_tables():
    """The names of spec/pyacl.csv, where it has them."""
    table = csv.DictReader((ROOT / "spec/pyacl.csv").read_text().splitlines())
    written = {
        row["python_name"]: [part.split(":")[0].strip() for part in row["args"].split(";") if part.strip()]
        for row in table
        if row["args"] != "unknown"
    }
    known = {stub.full: stub for stub in STUBS}
    assert len(written) > 200
    for name, wanted in written.items():
        full = name if "." in name else f"acl.mdl.{name}"
        assert list(inspect.signature(known[full].function).parameters) == wanted, full


@pytest.mark.parametrize("module", [acl, acl.rt, acl.util, acl.mdl, acl.segments, acl.constants], ids=lambda module: module.__name__)
def test_help_can_be_read(module):
    text = pydoc.render_doc(module, renderer=pydoc.plaintext)
    assert module.__name__ in text
    for stub in STUBS:
        if MODULES[stub.module][0] is module:
            assert f"{stub.name}({', '.join(stub.names)}" in text or stub.optional, stub.full


def test_submodules_can_be_imported():
    import acl.rt as rt
    from acl.util import bytes_to_ptr

    assert rt is acl.rt and bytes_to_ptr is acl.util.bytes_to_ptr


def test_every_function_is_used_by_a_test_of_its_own():
    folder = Path(__file__).parent
    files = [path for path in folder.glob("test_*.py") if path.name != Path(__file__).name]
    text = "\n".join(path.read_text() for path in files)
    called = set(re.findall(r"\bacl(?:\.(?:rt|util|mdl))?\.\w+(?=\()", text))
    # Of some functions only the name is known; what C says of their arguments is checked with zeros, below.
    table = csv.DictReader((ROOT / "spec/pyacl.csv").read_text().splitlines())
    named = {row["python_name"] for row in table if row["confidence"] == "name only"}
    left = [
        stub.full
        for stub in STUBS
        if not stub.absent
        and stub.c_function not in UNBUILT
        and stub.full not in called
        and stub.full not in named
        and stub.module != "acl.mdl"
    ]
    assert left == []


@each
def test_stubs_tell_shape_and_source(stub):
    assert stub.doc and "Source: " in stub.doc
    if stub.returns.startswith("tuple"):
        assert "Returns (" in stub.doc


ZERO = {
    "int": 0,
    "float": 0.0,
    "str": "",
    "str | None": None,
    "bytes": b"",
    "object": None,
    "dict[str, Any]": {},
    "list[int]": [],
    "list[tuple[int, int]]": [],
    "list[dict[str, Any]]": [],
    "tuple[int, ...]": (),
    "Callable[[int], object] | None": None,
}
"""What is given for each type of argument."""

LATER = {"acl.finalize", "acl.finalize_reference", "acl.rt.process_report", "acl.rt.reset_device_force"}
"""Calls that end what the others use, or wait."""

ZEROS = """
    import sys, json, warnings
    import acl
    warnings.simplefilter("ignore")
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    for full, arguments in json.load(open(sys.argv[1])):
        function = acl
        for part in full.split(".")[1:]:
            function = getattr(function, part)
        try:
            result = function(*[() if a == ["tuple"] else a for a in arguments])
            print(full, "value", repr(result))
        except Exception as error:
            print(full, "error", type(error).__name__)
"""


def kind(text, value):
    """Whether `value` has the type that a stub names."""
    if text == "Any":
        return True
    if " | " in text:
        return any(kind(part, value) for part in text.split(" | "))
    if text == "None":
        return value is None
    names = {"int": int, "float": float, "str": str, "bytes": bytes}
    if text in names:
        return type(value) is names[text]
    return isinstance(value, dict if text.startswith("dict") else list if text.startswith("list") else object)


def test_zeros_are_answered_in_the_shape(tmp_path):
    """A null address, handle 0, count 0, an empty text: every function answers, in the shape of its stub; those that are
    not built answer 207000."""
    wanted = []
    for stub in sorted(STUBS, key=lambda stub: stub.full in LATER):
        arguments = [] if stub.arguments is None else stub.arguments
        if any(text.startswith("Callable[...") or text.startswith("NDArray") for text in arguments):
            continue
        if stub.full == "acl.rt.process_report":
            wanted.append((stub.full, [1]))
        else:
            wanted.append((stub.full, [ZERO[text] if text != "tuple[int, ...]" else ["tuple"] for text in arguments]))
    file = tmp_path / "calls.json"
    file.write_text(json.dumps([(full, args) for full, args in wanted if b"" not in args]))
    answers = {}
    for line in run(ZEROS, args=[file]).splitlines():
        full, what, rest = line.split(" ", 2)
        answers[full] = (what, rest)
    missing_keys = {"acl.rt.malloc_physical", "acl.rt.mem_get_allocation_granularity"}
    for full, _ in wanted:
        stub = next(stub for stub in STUBS if stub.full == full)
        if full == "acl.util.bytes_to_ptr":
            continue
        what, rest = answers[full]
        if full in missing_keys:
            # Without a location there is nothing to ask.
            assert (what, rest) == ("error", "KeyError"), full
            continue
        if full == "acl.util.ptr_to_numpy":
            # An array without dimensions has one element.
            assert (what, rest) == ("error", "ValueError"), full
            continue
        assert what == "value", f"{full}: {rest}"
        value = ast.literal_eval(rest)
        returns = ast.parse(stub.returns, mode="eval").body
        if stub.returns.startswith("tuple["):
            parts = [ast.unparse(part) for part in returns.slice.elts]
            assert isinstance(value, tuple) and len(value) == len(parts), f"{full} gave {value}"
            assert all(kind(text, part) for text, part in zip(parts, value)), f"{full} gave {value}"
            code = value[-1]
        else:
            assert kind(stub.returns, value), f"{full} gave {value!r}, not {stub.returns}"
            code = value
        gives_code = re.search(r"Returns (\(.*, )?ret\)?\.", stub.doc)
        if gives_code and (stub.absent or stub.c_function in UNBUILT):
            assert code == acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT, full


def examples(stub):
    """Arguments that would do, for parsing to go through the ones before the wrong one."""
    values = []
    for text in stub.arguments:
        values.append({**ZERO, "Callable[..., object]": print, "NDArray[Any]": None}[text])
    return values


@each_known
def test_number_of_arguments(stub):
    count = len(stub.arguments)
    with pytest.raises(TypeError):
        stub.function(*[object()] * (count + 1))
    if count - stub.optional > 0:
        with pytest.raises(TypeError):
            stub.function(*[object()] * (count - stub.optional - 1))
    with pytest.raises(TypeError):
        stub.function(no_such_argument=1)


@each_known
def test_wrong_types(stub):
    for at, text in enumerate(stub.arguments):
        if text == "object":
            continue
        values = examples(stub)
        values[at] = object()
        with pytest.raises(TypeError):
            stub.function(*values)
        if text == "int":
            for wrong in (1.0, "1", b"1", None, [1]):
                values[at] = wrong
                with pytest.raises(TypeError):
                    stub.function(*values)


@each_known
def test_numbers_out_of_range(stub):
    for at, text in enumerate(stub.arguments):
        if text == "int":
            values = examples(stub)
            for wrong in (1 << 70, -(1 << 70)):
                values[at] = wrong
                with pytest.raises(OverflowError):
                    stub.function(*values)


@pytest.mark.parametrize("stub", [stub for stub in STUBS if stub.absent], ids=lambda stub: stub.full)
def test_functions_that_are_not_here_say_so(stub):
    values = [] if stub.arguments is None else examples(stub)
    with pytest.warns(RuntimeWarning, match=re.escape(stub.full)):
        stub.function(*values)


def test_widths_are_those_of_the_table():
    """The types of pyacl.csv: i32, u32, u64 and addresses."""
    with pytest.raises(OverflowError):
        acl.rt.set_device(1 << 31)
    with pytest.raises(OverflowError):
        acl.rt.set_op_wait_timeout(-1)
    with pytest.raises(OverflowError):
        acl.rt.set_op_wait_timeout(1 << 32)
    with pytest.raises(OverflowError):
        acl.rt.malloc_host(-1)
    with pytest.raises(OverflowError):
        acl.rt.wait_and_reset_notify(0, 0, -1)
    assert acl.rt.free((1 << 64) - 1) != 0
    address, ret = acl.rt.malloc_host(True)
    assert ret == 0 and acl.rt.free_host(address) == 0

    class Index:
        def __index__(self):
            return 64

    address, ret = acl.rt.malloc_host(Index())
    assert ret == 0 and acl.rt.free_host(address) == 0


def test_constants():
    assert acl.ACL_SUCCESS == 0 and acl.ACL_MEMCPY_DEVICE_TO_HOST == 2 and acl.ACL_FLOAT == 0
    assert acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT == 207000 and acl.ACL_DT_UNDEFINED == -1
    table = (ROOT / "spec/enums.csv").read_text().splitlines()[1:]
    for line in table:
        _, name, value, _ = line.split(",")
        assert getattr(acl, name) == int(value), name
    for line in (ROOT / "spec/error_codes.csv").read_text().splitlines()[1:]:
        name, value = line.split(",")[:2]
        assert getattr(acl, name) == int(value), name


@each
def test_help_is_that_of_the_stub(stub):
    assert inspect.getdoc(stub.function).split("\n")[0] == stub.doc.split("\n")[0]
