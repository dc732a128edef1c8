"""The explorer in a notebook: the page of `make web` in a frame, with a machine's cartridge and its present state.

    import diffvcs.widget
    diffvcs.widget.explorer(machine)

The page is the one file that `make web` makes. It is searched in $DIFFVCS_WEB, in the package (`pip install .` puts it there if
it was built before) and in out/web of the repository that the package is used from. It runs in the notebook, so it is
never taken from the current folder.
"""

from __future__ import annotations

import base64
import html
import json
import os
import pathlib
import tempfile

from .machine import Machine

HERE = pathlib.Path(__file__).resolve()
_START = """<script>
(async () => {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  await explorer.ready;
  await explorer.load(bytes("%s"), %s);
  await explorer.restore(bytes("%s"));
})();
</script>"""


def page_path() -> pathlib.Path:
    """Returns the path of the explorer's page."""
    given = os.environ.get("DIFFVCS_WEB")
    places = [pathlib.Path(given) / "index.html"] if given else []
    places += [HERE.with_name("explorer.html"), HERE.parents[2] / "out" / "web" / "index.html"]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"there is no explorer; run `make web` (looked for {', '.join(map(str, places))})")


class Explorer:
    """A machine in the explorer. Notebooks show it; `html` is the page by itself."""

    def __init__(self, machine: Machine, height: int = 760):
        if machine.cart.profile != "ale":
            raise ValueError(f"the explorer plays profile 'ale', and this machine has {machine.cart.profile!r}")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "state"
            machine.save_file(file)
            state = file.read_bytes()
        image, name = machine.cart.rom.tobytes(), json.dumps(machine.cart.game or "")
        encoded = [base64.b64encode(data).decode("ascii") for data in (image, state)]
        page = page_path().read_text(encoding="utf-8")
        self.height = height
        self.html = page.replace("</body>", _START % (encoded[0], name, encoded[1]) + "</body>")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="The explorer" allow="gamepad; clipboard-write" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


def explorer(machine: Machine, height: int = 760) -> Explorer:
    """Returns the explorer at the present frame of a machine, which it does not change. Earlier frames are not included."""
    return Explorer(machine, height)
