"""ALEInterface: ale-py's names, and its results step by step."""

import pickle
import subprocess
import sys

import numpy as np
import needs
import pytest

import diffvcs
from diffvcs import Action, ALEInterface, ALEState

pytestmark = pytest.mark.roms


def load(**settings):
    ale = ALEInterface()
    for key, value in settings.items():
        {int: ale.setInt, float: ale.setFloat, bool: ale.setBool}[type(value)](key, value)
    ale.loadROM(diffvcs.roms.require("breakout"))
    return ale


def test_every_method_of_ale_py_is_there():
    theirs = needs.module("ale_py", "ale-py")
    for name in ("ALEInterface", "ALEState"):
        missing = {n for n in dir(getattr(theirs, name)) if not n.startswith("_")} - set(dir(getattr(diffvcs, name)))
        assert not missing
    assert {a.name: a.value for a in theirs.Action} == {a.name: a.value for a in Action}


def test_steps_are_those_of_ale_py():
    ale_py = needs.module("ale_py", "ale-py")
    theirs, ours = ale_py.ALEInterface(), ALEInterface()
    for ale in (theirs, ours):
        ale.setInt("random_seed", -17)
        ale.setFloat("repeat_action_probability", 0.25)
        ale.setInt("frame_skip", 3)
        ale.setBool("sound_obs", True)
        ale.loadROM(diffvcs.roms.require("breakout"))
        ale.reset_game()
    for i in range(400):
        assert theirs.act(i * 7 % 18, 0.7) == ours.act(i * 7 % 18, 0.7)
        assert np.array_equal(theirs.getRAM(), ours.getRAM())
        assert np.array_equal(theirs.getScreenRGB(), ours.getScreenRGB())
        assert np.array_equal(theirs.getAudio(), ours.getAudio())
        for name in ("lives", "game_over", "game_truncated", "getFrameNumber", "getEpisodeFrameNumber"):
            assert getattr(theirs, name)() == getattr(ours, name)(), name
        if ours.game_over():
            theirs.reset_game()
            ours.reset_game()


def test_settings_have_ale_py_s_types():
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 1)
    assert ale.getFloat("repeat_action_probability") == 1.0
    assert ale.getInt("nothing_of_the_kind") == -1
    with pytest.raises(RuntimeError, match="setting"):
        ale.setInt("nothing_of_the_kind", 1)


def test_nothing_crashes_without_a_rom():
    ale = ALEInterface()
    for use in (ale.reset_game, ale.lives, ale.getRAM, lambda: ale.act(0), ale.game_over, ale.cloneState):
        with pytest.raises(RuntimeError, match="loadROM"):
            use()
    with pytest.raises(RuntimeError):
        ale.loadROM("no/such/file.bin")
    with pytest.raises(ValueError):
        load().act(18)


def test_states_know_their_numbers_and_travel():
    ale = load(random_seed=1)
    for _ in range(30):
        ale.act(3)
    state = ale.cloneState(include_rng=True)
    assert (state.getFrameNumber(), state.getEpisodeFrameNumber()) == (30, 30)
    again = pickle.loads(pickle.dumps(state))
    assert again == state and ALEState(state.serialize()).equals(state)
    with pytest.raises(ValueError):
        ALEState(b"nonsense")


def test_states_without_generators_let_them_go_on():
    ale = load(random_seed=1, repeat_action_probability=0.5)
    ale.reset_game()
    with_rng, without = ale.cloneState(include_rng=True), ale.cloneState()

    def future():
        for i in range(100):
            ale.act(3 + i % 2)
        return ale.cloneState()

    first = future()
    ale.restoreState(without)
    assert ale.cloneState() == without
    second = future()
    ale.restoreState(with_rng)
    assert future() == first != second


def test_images_are_known_by_content(tmp_path):
    assert ALEInterface.isSupportedROM(diffvcs.roms.require("pong")) == "pong"
    unknown = tmp_path / "pong.bin"
    unknown.write_bytes(bytes(range(256)) * 16)
    assert ALEInterface.isSupportedROM(unknown) is None


def test_a_screenshot_is_the_screen(tmp_path):
    import zlib

    ale = load()
    ale.saveScreenPNG(tmp_path / "screen.png")
    data = (tmp_path / "screen.png").read_bytes()
    at = data.index(b"IDAT")
    size = int.from_bytes(data[at - 4 : at], "big")
    rows = np.frombuffer(zlib.decompress(data[at + 4 : at + 4 + size]), np.uint8).reshape(210, -1)
    assert np.array_equal(rows[:, 1:].reshape(210, 160, 3), ale.getScreenRGB())


def test_a_window_shows_frames(monkeypatch):
    needs.module("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    ale = load(display_screen=True, sound=True)
    for _ in range(3):
        ale.act(0)
    surface = ale._window._pygame.surfarray.array3d(ale._window._screen)
    assert np.array_equal(surface[::4, ::2].swapaxes(0, 1), ale.getScreenRGB())
    ale._window.close()


def test_programs_for_ale_py_run_on_ours(tmp_path):
    """python -m diffvcs.compat program.py: the names are ale-py's, the machine is ours, also where ale-py came first."""
    needs.module("gymnasium")
    program = tmp_path / "program.py"
    program.write_text(
        "import ale_py, gymnasium, sys\n"
        "from ale_py import ALEInterface, roms\n"
        "env = gymnasium.make('ALE/Pong-v5')\n"
        "env.reset(seed=1)\n"
        "print(type(env.unwrapped).__module__, ALEInterface.__module__, roms.get_rom_path('pong').name, sys.argv[1])\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "diffvcs.compat", str(program), "word"], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["diffvcs.env", "diffvcs.ale", "pong.bin", "word"]


def test_programs_import_what_is_beside_them_and_find_our_modules(tmp_path):
    """As `python program.py` does: the folder of the program is searched, and the current folder is not."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "helper.py").write_text("beside = 'beside'")
    (tmp_path / "wrong.py").write_text("")
    (folder / "main.py").write_text(
        "import helper, importlib.util\n"
        "found = [importlib.util.find_spec(name) is not None for name in ('ale_py', 'ale_py.roms', 'wrong')]\n"
        "import ale_py\n"
        "print(helper.beside, *found, ale_py.__spec__.name)\n"
    )
    command = [sys.executable, "-m", "diffvcs.compat", str(folder / "main.py")]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.split() == ["beside", "True", "True", "False", "ale_py"], run.stderr


def test_settings_are_never_other_numbers():
    ale = ALEInterface()
    for number in (2**32 + 1, 2**31, -(2**31) - 1, 1.9, 2.0, "7", None, float("nan"), np.array([1, 2])):
        with pytest.raises((TypeError, ValueError), match="random_seed"):
            ale.setInt("random_seed", number)
    for number in (float("nan"), float("inf"), 1e400, "0.5", None, [0.5]):
        with pytest.raises((TypeError, ValueError), match="repeat_action_probability"):
            ale.setFloat("repeat_action_probability", number)
    assert ale.getInt("random_seed") == -1 and ale.getFloat("repeat_action_probability") == 0.25
    ale.loadROM("demo")
    for state in (None, b"", 5, ale):
        with pytest.raises(TypeError, match="what cloneState gave"):
            ale.restoreState(state)
    assert ALEInterface.isSupportedROM("demo") == "contour"


def test_recordings_that_would_not_be_made_are_refused(tmp_path):
    ale = ALEInterface()
    for name, instead in (("record_screen_dir", "saveScreenPNG"), ("record_sound_filename", "getAudio")):
        ale.setString(name, "")
        with pytest.raises(RuntimeError, match=f"{name}: .*{instead}"):
            ale.setString(name, str(tmp_path / "recorded"))
        assert ale.getString(name) == ""


def test_a_patch_is_bytes():
    """bytes(10**11) would be a hundred billion zeros."""
    for patch in (10**11, 5, "PATCH", [80, 65], object()):
        with pytest.raises(TypeError, match="a patch is the bytes"):
            diffvcs.Cartridge("demo", patch=patch)
