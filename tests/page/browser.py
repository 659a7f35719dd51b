# SPDX-License-Identifier: Apache-2.0
"""A real browser for the tests of the page: Debian's Chromium through its WebDriver, with the standard library alone."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Read before they are taken from the environment, where the program would take them for settings.
PICTURES = os.environ.get("HOLDFAST_PICTURES")  # a folder: pictures of the screens are kept there
DOCS_PICTURES = os.environ.get("HOLDFAST_DOCS_PICTURES")  # set: those of the documentation are taken again
AXE = os.environ.get("HOLDFAST_AXE")  # axe.min.js of axe-core, which is not part of Debian
RECORDS = int(os.environ.get("HOLDFAST_RECORDS", "1200"))  # of a long history

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "tests" / "gateway"))
from server import ServerTest
from waiting import PATIENCE, wait_until

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window. Elements are found by CSS and waited for."""

    def __init__(self, width=1440, height=900, dark=False):
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.port = int(line.rsplit(" ", 1)[1].strip(".\n "))
                break
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"args": arguments, "binary": CHROMIUM}}
        self.session = None
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.cdp("Emulation.setDeviceMetricsOverride",
                 {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.cdp("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def call(self, method, path, body=None):
        prefix = f"/session/{self.session}" if self.session else ""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{prefix}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def cdp(self, command, parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.profile.cleanup()

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, css="body"):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join('\\n')", css)

    def wait_for_text(self, words, css="body"):
        wait_until(lambda: words in self.text(css), f"'{words}' is not in {css}")

    def elements(self, css):
        return [found[ELEMENT] for found in self.call("POST", "/elements", {"using": "css selector", "value": css})]

    def find(self, css, words=None):
        """The first one that is there and has these words."""
        def look():
            for element in self.elements(css):
                try:
                    if words is None or words in self.call("GET", f"/element/{element}/text"):
                        return element
                except AssertionError:
                    pass  # it was drawn again meanwhile
            return None
        wait_until(lambda: look() is not None, f"there is no {css} with '{words}'")
        return look()

    def click(self, css, words=None):
        self.call("POST", f"/element/{self.find(css, words)}/click", {})

    def type(self, css, keys):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": keys})

    def press(self, *keys):
        """Keys one after the other; a tuple is a chord."""
        actions = []
        for key in keys:
            chord = key if isinstance(key, tuple) else (key,)
            actions += [{"type": "keyDown", "value": each} for each in chord]
            actions += [{"type": "keyUp", "value": each} for each in reversed(chord)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def picture(self, name):
        if PICTURES:
            pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
            pathlib.Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """What the browser logged: script errors, refusals of the content security policy, requests elsewhere."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]


class PageTest(ServerTest):
    """A server with the demo, and browsers at its page."""

    def setUp(self):
        super().setUp()
        if not (CHROMIUM and DRIVER):
            self.fail("chromium and chromium-driver are not installed; scripts/setup installs them")

    def browser(self, **options):
        browser = Browser(**options)
        self.addCleanup(browser.close)
        return browser

    def serve_demo(self):
        self.start(self.world, command="dev")

    def page(self, path=""):
        return f"http://127.0.0.1:{self.port}/#/{path}"
