"""The binding says what the headers say: a C compiler compares them."""

import ctypes
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
        "VCS_METHOD_NAIVE": diffvcs.functional.METHODS["naive"], "VCS_SIDE_TANGENT": diffvcs.functional.SIDES["tangent"],
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
