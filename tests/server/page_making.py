"""A real server and a real browser, for tests of the page.

    @pytest.fixture(scope="module")
    def site(tmp_path_factory):
        home = tmp_path_factory.mktemp("home")
        sampled(home)
        with serving(home) as site:
            yield site

    def test_something(site):
        page = site.open("/runs/sampled", width=360, theme="dark")
        ...
        site.check(page)

Without Chromium the tests are skipped.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import uvicorn

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1440, "light"),
    (1440, "dark"),
    (360, "light"),
    (360, "dark"),
)
"""Widths and themes in which each view is looked at."""


class Site:
    """A service with its address, and a browser that looks at it.

    Attributes:
        url: without a slash at its end.
        home: folder of the service.
        service: in this process; ``service.index.refresh()`` takes in what a test has written.
    """

    def __init__(self, service: Service, url: str, browser: Any) -> None:
        self.service, self.url, self.browser = service, url, browser
        self.home = service.home.path
        self._seen: dict[Any, tuple[list[str], list[str]]] = {}
        self._contexts: dict[str, Any] = {}

    def open(
        self,
        path: str,
        *,
        width: int = 1440,
        theme: Literal["light", "dark"] = "light",
        script: bool = True,
        **context: Any,
    ) -> Any:
        """A page; what it asks for and what it complains about is written down.

        Pages that are opened with the same ``script`` and ``context`` (options of Playwright's ``new_context``) share
        a context, and so what is cached; what they stored is cleared by ``check``.
        """
        page = self._context(script, context).new_page()
        page.set_default_timeout(10_000)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        asked: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        self._seen[page] = asked, errors
        page.goto(self.url + path, wait_until="load")
        return page

    def _context(self, script: bool, options: dict[str, Any]) -> Any:
        key = repr((script, sorted(options.items())))
        if key not in self._contexts:
            made = self.browser.new_context(java_script_enabled=script, **options)
            made.on("close", lambda: self._contexts.pop(key, None))
            self._contexts[key] = made
        return self._contexts[key]

    def check(self, page: Any) -> None:
        """Nothing complained, nothing went elsewhere, nothing of a policy's words ran, nothing is wider than the
        window. Closes the page."""
        asked, errors = self._seen.pop(page)
        self._holds(page, asked, errors)
        page.evaluate("try { localStorage.clear() } catch {}")
        page.close()

    def looks(self, path: str, check: Callable[[Any], object] | None = None) -> None:
        """Check a view at both widths and in both themes."""
        page = self.open(path)
        asked, errors = self._seen[page]
        for width, theme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if check:
                check(page)
            self._holds(page, asked, errors)
        self.check(page)

    def _holds(self, page: Any, asked: list[str], errors: list[str]) -> None:
        assert not errors, errors
        elsewhere = [url for url in asked if not url.startswith((self.url + "/", "data:"))]
        assert not elsewhere, elsewhere
        wide = page.evaluate(_TOO_WIDE)
        assert not wide, f"{page.url} at {page.viewport_size}: {wide}"
        assert page.evaluate("window.pwned === undefined")


POOR_CONTRAST = """() => {
  const numbers = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const rgba = (text) => {
    const parts = numbers(text);
    const [r, g, b] = text.startsWith("color(") ? parts.slice(0, 3).map((part) => 255 * part) : parts;
    return [r, g, b, parts[3] ?? 1];
  };
  const over = (a, b) => a.slice(0, 3).map((part, at) => part * a[3] + b[at] * (1 - a[3])).concat(1);
  const light = (color) => color.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.getClientRects().length || element.closest("button:disabled, .skip")) continue;
    const layers = [];
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      opacity *= Number(style.opacity);
      layers.unshift(rgba(style.backgroundColor));
    }
    let ground = rgba(getComputedStyle(document.body).backgroundColor);
    for (const layer of layers) ground = over(layer, ground);
    const color = rgba(getComputedStyle(element).color);
    const ink = over([...color.slice(0, 3), color[3] * opacity], ground);
    const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.add(`${element.tagName}.${element.className} ${text.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return [...found].slice(0, 8);
}"""
"""Texts with less contrast than WCAG's AA asks for; for ``page.evaluate``."""

_TOO_WIDE = """() => {
  const root = document.scrollingElement;
  if (root.scrollWidth <= innerWidth) return "";
  const clipped = (element) => {
    for (let at = element.parentElement; at && at !== root; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") return true;
    return false;
  };
  const found = [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !clipped(element))
    .map((element) => `${element.tagName}.${element.className} ${Math.round(element.getBoundingClientRect().right)}`);
  return `${root.scrollWidth} px: ${found.slice(0, 6).join("; ")}`;
}"""


@contextlib.contextmanager
def serving(home: Path, **settings: Any) -> Iterator[Site]:
    """A server on a free port of this machine, a browser, and both of them gone at the end."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    service = Service(Settings(home=home, **{"poll_seconds": 0.2, **settings}))
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server did not start"
        service.index.refresh()
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            try:
                yield Site(service, url, browser)
            finally:
                browser.close()
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        service.close()


def until(true: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
