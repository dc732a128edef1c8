"""The explorer in a notebook: the page of `make web`, with the machine's cartridge and state in it."""

import base64
import re

import pytest

from diffvcs import Machine, widget


def test_the_page_gets_the_cartridge_and_the_state(machine, tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("<html><body></body></html>")
    monkeypatch.setenv("DIFFVCS_WEB", str(tmp_path))
    shown = widget.explorer(machine)
    image, state = (base64.b64decode(text) for text in re.findall(r'bytes\("([^"]*)"\)', shown.html))
    assert image == machine.cart.rom.tobytes()
    (tmp_path / "state").write_bytes(state)
    other = Machine("demo")
    other.load_file(tmp_path / "state")
    assert (other.ram == machine.ram).all()
    assert other.frame_number == machine.frame_number
    assert "<script>" not in shown._repr_html_() and "srcdoc=" in shown._repr_html_()


def test_a_page_in_the_current_folder_is_not_shown(machine, tmp_path, monkeypatch):
    (tmp_path / "out" / "web").mkdir(parents=True)
    (tmp_path / "out" / "web" / "index.html").write_text("<html><body></body></html>")
    monkeypatch.delenv("DIFFVCS_WEB", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(widget, "HERE", tmp_path / "python" / "diffvcs" / "widget" / "widget.py")  # no page is there
    with pytest.raises(FileNotFoundError, match="make web"):
        widget.explorer(machine)
