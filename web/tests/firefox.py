"""Firefox without a driver: its own remote protocol, Marionette, is lines of JSON over a socket. Only what the tests need:
open a page, call a function that returns a promise."""

import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

PREFERENCES = """
user_pref("marionette.port", %d);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.startup.max_resumed_crashes", -1);
"""


def path() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory()
        (pathlib.Path(self.profile.name) / "user.js").write_text(PREFERENCES % port)
        self.process = subprocess.Popen(
            [path(), "--headless", "--marionette", "--no-remote", "--profile", self.profile.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.number, self.buffer, self.socket = 0, b"", None
        deadline = time.monotonic() + 90
        while self.socket is None:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=180)
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.close()
                    raise RuntimeError("Firefox does not start here") from None
                time.sleep(0.2)
        self.read()  # a greeting
        self.command("WebDriver:NewSession", {})
        self.command("WebDriver:SetTimeouts", {"script": 170000, "pageLoad": 120000})

    def read(self):
        while b":" not in self.buffer:
            self.buffer += self.socket.recv(65536)
        size, _, rest = self.buffer.partition(b":")
        while len(rest) < int(size):
            rest += self.socket.recv(65536)
        self.buffer = rest[int(size) :]
        return json.loads(rest[: int(size)])

    def command(self, name: str, parameters: dict):
        self.number += 1
        text = json.dumps([0, self.number, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(error["message"])
        return result.get("value") if isinstance(result, dict) else result

    def open(self, url: str) -> None:
        self.command("WebDriver:Navigate", {"url": url})

    def call(self, expression: str):
        """The value of a JavaScript expression, which may be a promise."""
        script = (
            "const done = arguments[0]; Promise.resolve().then(() => (%s)).then((value) => done({ value }), "
            "(error) => done({ error: String(error) }))"
        )
        answer = self.command(
            "WebDriver:ExecuteAsyncScript", {"script": script % expression, "args": [], "sandbox": None}
        )
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.profile.cleanup()
