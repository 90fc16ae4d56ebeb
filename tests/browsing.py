"""Pages in headless Chromium: for tests of what a reader sees."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PHONE, DESKTOP = (390, 844), (1280, 900)
"""Width and height in CSS pixels."""
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


class Browser:
    """A browser that looks at one page after the other."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, address, size, scheme="light"):
        """Opens a page and scrolls through it, so that what waits for the reader's eye is there."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        dark = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
        self.driver.get(str(address))
        self.driver.execute_async_script(
            """
            const done = arguments[0], height = innerHeight;
            const step = (at) => {
              scrollTo(0, at);
              if (at > document.documentElement.scrollHeight) { scrollTo(0, 0); done(); }
              else setTimeout(step, 30, at + height);
            };
            step(0);
            """
        )

    def run(self, script, *arguments):
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script, seconds=20):
        """Waits until what a script returns is true, and returns it."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds).until(lambda driver: self.run(script))

    def faults(self):
        """What is wrong with the page that is open, each in a line."""
        said = [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("WARNING", "SEVERE")
        ]
        broken = self.run(
            "return [...document.images].filter((i) => i.loading !== 'lazy' || i.complete)"
            ".filter((i) => !i.complete || !i.naturalWidth).map((i) => i.src.slice(0, 200))"
        )
        width = self.run(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        wide = [f"{width[0]} px wide, not {width[1]}"] if width[0] > width[1] else []
        return [*said, *(f"no picture: {source}" for source in broken), *wide]


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser, closed at the end. Skips the test where there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program = shutil.which("chromedriver")
    if program is None:
        pytest.skip("no chromedriver: on Debian, apt-get install chromium-driver")
    options = selenium.ChromeOptions()
    for switch in _SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = selenium.Chrome(options, selenium.ChromeService(program))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
