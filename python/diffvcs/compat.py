"""A replacement of `ale_py`: programs that import it get this package instead.

    import diffvcs.compat
    diffvcs.compat.install()
    import ale_py, gymnasium          # ours
    gymnasium.make("ALE/Pong-v5")     # ours

or, without changing a line of the program: python -m diffvcs.compat program.py arguments. ROM images are still those of the
ale-py on disk.
"""

from __future__ import annotations

import importlib.machinery
import os
import runpy
import sys
import types

from . import __version__, ale, roms


def install() -> types.ModuleType:
    """Replaces the modules ale_py, ale_py.roms, ale_py.env, ... by ours, and registers their environments."""
    module = _made("ale_py", __doc__)
    module.__dict__.update(__version__=__version__, SDL_SUPPORT=_has_window())
    for name in ("Action", "ALEInterface", "ALEState", "LoggerMode"):
        setattr(module, name, getattr(ale, name))
    modules = {"ale_py": module, "ale_py.roms": roms}
    try:
        from . import batch, env, registration, vector
    except ImportError:  # no Gymnasium: the interface alone, as in ale-py
        pass
    else:
        vectors = _made("ale_py.vector_env")
        vectors.__dict__.update(AtariVectorEnv=vector.DiffVCSVectorEnv)
        module.__dict__.update(
            ALEVectorInterface=batch.ALEVectorInterface,
            AtariEnv=env.AtariEnv,
            AtariVectorEnv=vector.DiffVCSVectorEnv,
        )
        modules.update({"ale_py.env": env, "ale_py.vector_env": vectors, "ale_py.registration": registration})
        registration.register_as_ale_py()
    for name, found in modules.items():
        sys.modules[name] = found
        if "." in name:
            setattr(module, name.split(".")[1], found)
    return module


def install_envpool() -> types.ModuleType:
    """Replaces `envpool`: make, make_gym, make_gymnasium, make_dm, for Atari tasks."""
    from . import envpool

    module = _made("envpool", envpool.__doc__)
    for name in ("make", "make_gym", "make_gymnasium", "make_dm"):
        setattr(module, name, getattr(envpool, name))
    for name in ("envpool", "envpool.registration", "envpool.atari", "envpool.atari.registration"):
        sys.modules[name] = module
    module.__dict__.update(registration=module, atari=module)
    return module


def _made(name: str, text: str | None = None) -> types.ModuleType:
    """A package without a file, which importlib.util.find_spec finds, too."""
    module = types.ModuleType(name, text)
    module.__path__ = []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    return module


def _has_window() -> bool:
    try:
        import pygame  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    del sys.argv[0]
    is_module = sys.argv[:1] == ["-m"]
    if is_module:
        del sys.argv[0]
    if not sys.argv:
        sys.exit("usage: python -m diffvcs.compat program.py [arguments], or -m module [arguments]")
    if not is_module and not any(os.path.isfile(p) for p in (sys.argv[0], os.path.join(sys.argv[0], "__main__.py"))):
        sys.exit(f"diffvcs.compat: there is no program {sys.argv[0]}")
    install()
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        if os.path.isfile(sys.argv[0]) and not getattr(sys.flags, "safe_path", False):
            sys.path[0] = os.path.dirname(
                os.path.realpath(sys.argv[0])
            )  # in place of the current folder, as Python does
        runpy.run_path(sys.argv[0], run_name="__main__")
