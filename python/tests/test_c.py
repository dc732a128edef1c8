"""The bindings agree with the headers: a C compiler compares them."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

import diffvcs
from diffvcs import _bind, _c, relaxed

ROOT = Path(__file__).resolve().parents[2]


def compile_c(tmp_path, text):
    source = tmp_path / "abi.c"
    source.write_text(text)
    return subprocess.run(
        ["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT}/include", f"-I{ROOT}/python/native", str(source)],
        capture_output=True, text=True,
    )  # fmt: skip


def test_prototypes_are_those_of_the_headers(tmp_path):
    lines = [f"VCS_API {_bind.declaration(line)};" for line in _c.PROTOTYPES]
    result = compile_c(tmp_path, '#include "bits.h"\n#include "step.h"\n#include "study.h"\n' + "\n".join(lines))
    assert result.returncode == 0, result.stderr


def test_a_wrong_prototype_would_be_noticed(tmp_path):
    assert compile_c(tmp_path, '#include "bits.h"\nint vcs_env_act_on(vcs_env_t *, int, long);').returncode != 0


def test_structs_are_laid_out_as_in_c(tmp_path):
    lines = ['#include "bits.h"', '#include "step.h"', '#include "study.h"', "#include <stddef.h>"]
    for name, struct in _c.STRUCTS.items():
        lines.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(struct)}, "{name}");')
        for field, kind in struct._fields_:
            offset = getattr(struct, field).offset
            field = field.lstrip("_")  # fields that point to something have a checked one in front
            lines.append(f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");')
            lines.append(f'_Static_assert(sizeof((({name} *)0)->{field}) == {ctypes.sizeof(kind)}, "{name}.{field}");')
    result = compile_c(tmp_path, "\n".join(lines))
    assert result.returncode == 0, result.stderr


def test_constants_are_those_of_the_headers(tmp_path):
    pairs = {
        "VCS_ACTIONS": _c.ACTIONS, "VCS_INPUTS": _c.INPUTS, "VCS_WIDTH": _c.WIDTH, "VCS_FRAME_BYTES": _c.FRAME_BYTES,
        "VCS_SOUND_SAMPLES": _c.SOUND_SAMPLES, "VCS_BAD_ARGUMENT": _c.BAD_ARGUMENT, "VCS_MODES_MAX": _c.MODES_MAX,
        "VCS_DIFFICULTIES_MAX": _c.DIFFICULTIES_MAX, "VCS_OBJECTS_MAX": _c.OBJECTS_MAX, "VCS_TRACK_BYTES": _c.TRACK_BYTES, "VCS_FRAME_INSTRUCTIONS": diffvcs.functional.FORK_WINDOW_MAX, "VCS_PROFILE_ALE": _c.PROFILES.index("ale"),
        "VCS_PROFILE_FIXED": _c.PROFILES.index("fixed"), "VCS_METHOD_STE": diffvcs.functional.METHODS["ste"],
        "VCS_METHOD_NAIVE": diffvcs.functional.METHODS["naive"], "VCS_METHOD_EXACT": diffvcs.functional.METHODS["exact"], "VCS_METHOD_HYBRID": diffvcs.functional.METHODS["hybrid"], "VCS_SIDE_TANGENT": diffvcs.functional.SIDES["tangent"],
        "VCS_INPUT_RESET": diffvcs.INPUT_NAMES.index("reset"), "VCS_TRUTH_IMPOSSIBLE": diffvcs.functional.OUTCOMES.index("impossible"),
        "VCS_CAST_NONE": relaxed.CASTS.index("none"), "VCS_DISPATCH_DISTANCE": relaxed.DISPATCHES.index("distance"),
        "VCS_BUS_REDUCED": relaxed.BUSES.index("reduced"), "VCS_SLOT_PC": relaxed.REGISTERS.index("pc"),
        "VCS_SLOT_BUS": len(relaxed.REGISTERS), "VCS_SLOT_RAM": relaxed.RAM_SLOT, "VCS_STUDY_METHODS": len(diffvcs.study.METHODS), "VCS_STEERS": len(diffvcs.study.SEARCHES),
        "VCS_OBJECT_COUNT": len(diffvcs.study.OBJECTS), "VCS_JOYSTICK_ANSWERS": len(diffvcs.study.ANSWERS),
    }  # fmt: skip
    lines = ['#include "bits.h"', '#include "study.h"', '#include "step.h"'] + [
        f'_Static_assert({n} == {v}, "{n}");' for n, v in pairs.items()
    ]
    result = compile_c(tmp_path, "\n".join(lines))
    assert result.returncode == 0, result.stderr


def test_errors_are_exceptions_with_the_library_s_words():
    with pytest.raises(diffvcs.VCSError, match="bank scheme"):
        diffvcs.Cartridge(b"\x00" * 3)
    with pytest.raises(diffvcs.BadArgument):
        diffvcs.Machine("demo").set_ram(1000, 1)


def public_functions():
    """The functions of the public headers, with the header of each."""
    found = {}
    for header in sorted((ROOT / "include" / "diffvcs").glob("*.h")):
        for name in re.findall(r"VCS_API\s[^;{]*?\b(vcs_\w+)\(", header.read_text()):
            found[name] = header.name
    return found


def test_every_public_function_has_a_python_function_or_a_reason():
    """Bound by a prototype, called by python/native, or listed with a reason in docs/commands.md."""
    source = "\n".join(path.read_text() for path in (ROOT / "python" / "native").glob("*.c"))
    source += (ROOT / "python" / "diffvcs" / "_bind.py").read_text() + "\n".join(_c.PROTOTYPES)
    source += "\n".join(handle.free for handle in _c.HANDLES.values())
    used = set(re.findall(r"\bvcs_\w+", source))
    page = (ROOT / "docs" / "commands.md").read_text()
    excused = set()
    for cell in re.findall(r"^\| (`vcs_.*?) \|", page.partition("## Without a Python function")[2], re.M):
        excused |= set(re.findall(r"`(vcs_\w+)`", cell))
    functions = public_functions()
    assert len(functions) > 250
    assert sorted(set(functions) - used - excused) == [], "neither bound nor explained in docs/commands.md"
    assert sorted(excused & used) == [], "bound, and yet listed in docs/commands.md as not bound"
    assert sorted(excused - set(functions)) == [], "listed in docs/commands.md, but not in a header"
