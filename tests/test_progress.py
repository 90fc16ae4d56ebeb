"""What progress says when, with a clock and a terminal that are not there."""

import io
import sys
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest

from jaxduel import progress, screen
from jaxduel.progress import Progress, count, duration
from jaxduel.screen import Log, Notebook, Terminal
from jaxduel.simulation.progress import Simulating


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Console(io.StringIO):
    """A terminal of so many columns, as it looks."""

    def isatty(self):
        return True

    @property
    def lines(self):
        """The lines on it."""
        shown = []
        for line in self.getvalue().split("\n"):
            cells: list[str] = []
            for part in line.split("\r"):
                cells[: len(part)] = part
            shown.append("".join(cells).rstrip())
        return shown


@pytest.fixture
def clock():
    return Clock()


def made(clock, shown, output=None, **others):
    arguments = {"total": 1000, "unit": "runs", "clock": clock, "period": None, **others}
    return Progress("dts on arxiv", shown=shown, output=output, **arguments)


def test_it_says_what_is_compiled_and_then_how_fast_it_runs(clock):
    console = Console()
    with made(clock, True, Terminal(console)) as bar:
        bar.look()
        assert console.lines == ["dts on arxiv: [............] 0 % of 1k runs"]
        with bar.compiling("dts"):
            clock.now += 0.4
            bar.look()
            assert "compiling" not in console.lines[-1]
            clock.now += 70
            bar.look()
            assert console.lines == ["compiling dts ... 1:10"]
        for _ in range(10):
            clock.now += 1
            bar.tick(50)
        bar.look()
        line = "dts on arxiv: [######......] 50 % of 1k runs, 50 a second, 0:10 left"
        assert console.lines == [line]
        clock.now += 10
        bar.tick(500)
    assert console.lines == ["dts on arxiv: 1k runs in 1:30, 1:10 of it compilation", ""]
    assert not screen.is_drawn()


def test_a_rate_is_of_late_and_of_time_in_which_something_ran(clock):
    with made(clock, True, Terminal(Console()), total=10_000) as bar:
        for _ in range(20):
            clock.now += 1
            bar.tick(10)
        for _ in range(40):
            clock.now += 1
            bar.tick(100)
        assert ", 100 a second, 0:58 left" in bar.line()
        with bar.compiling("dts"):
            clock.now += 500
            assert bar.line() == "compiling dts ... 8:20 (42 % of 10k runs done)"
        assert ", 100 a second, 0:58 left" in bar.line()


def test_while_others_run_nothing_is_said_to_compile(clock):
    with made(clock, True, Terminal(Console())) as bar:
        with bar.compiling("one"), bar.compiling("two"), bar.compiling("one"):
            clock.now += 3
            assert bar.line() == "compiling one, two ... 0:03"
            bar.tick(100)
            assert bar.line().startswith("dts on arxiv: [#...........] 10 % of 1k runs")
            clock.now += 5
            assert "compiling" not in bar.line()
        assert ", 12.5 a second, 1:12 left" in bar.line()


def test_a_log_has_a_line_a_minute_and_none_for_less(clock):
    log = io.StringIO()
    with made(clock, True, Log(log), total=600) as bar:
        for _ in range(59):
            clock.now += 1
            bar.tick(1)
            bar.look()
        bar.note("figure 1: done")
        assert log.getvalue() == ""
        for _ in range(100):
            clock.now += 1
            bar.tick(2)
            bar.look()
        bar.note("figure 2: done")
        with bar.compiling("rucb"):
            clock.now += 30
            bar.look()
            bar.look()
    assert log.getvalue().splitlines() == [
        "jaxduel: dts on arxiv: 10 % of 600 runs, 1.03 a second, 8:42 left",
        "jaxduel: dts on arxiv: 30 % of 600 runs, 2 a second, 3:30 left",
        "figure 2: done",
        "jaxduel: compiling rucb ... 0:30 (43 % of 600 runs done)",
    ]


def test_what_nobody_asked_for_waits_two_seconds_and_vanishes(clock):
    console = Console()
    with made(clock, None, Terminal(console)) as bar:
        clock.now += 1.9
        bar.look()
        assert console.getvalue() == ""
        clock.now += 0.2
        bar.look()
        assert console.lines[0].startswith("dts on arxiv: [............] 0 %")
        assert screen.is_drawn()
    assert console.lines == [""]
    assert not screen.is_drawn()


def test_what_is_off_or_for_nobody_is_not_shown(clock):
    for shown, output in ((False, Terminal(Console())), (None, Log(io.StringIO()))):
        threads = threading.active_count()
        with made(clock, shown, output, period=progress.PERIOD) as bar:
            assert threading.active_count() == threads
            clock.now += 100
            bar.look()
            bar.note("a line")
        assert output._stream.getvalue() == ""


def test_a_line_is_cut_where_the_terminal_ends_and_notes_stay(clock):
    console = Console()
    with made(clock, True, Terminal(console), detail=lambda: "x" * 100) as bar:
        bar.look()
        assert len(console.lines[-1]) == 79
        bar.note("figure 1: done")
        bar.look()
        assert console.lines[0] == "figure 1: done"
        assert console.lines[1].startswith("dts on arxiv")


def test_lines_are_printed_in_place_of_what_is_drawn(clock, monkeypatch):
    console = Console()
    monkeypatch.setattr(sys, "stderr", console)
    with made(clock, True) as bar:
        bar.look()
        screen.say("jaxduel: warning: careful")
        assert console.lines == ["jaxduel: warning: careful", ""]
        bar.look()
        assert console.lines[1].startswith("dts on arxiv")


def test_of_several_the_last_one_is_shown_and_the_others_wait(clock):
    console, inside = Console(), Console()
    with made(clock, True, Terminal(console)) as outer:
        clock.now += 2
        outer.tick(100)
        outer.look()
        with made(clock, True, Terminal(inside), total=4) as inner:
            assert console.lines == [""]
            clock.now += 50
            outer.look()
            inner.look()
            assert console.lines == [""]
            assert inside.lines == ["dts on arxiv: [............] 0 % of 4 runs"]
        outer.look()
        assert ", 50 a second, 0:18 left" in console.lines[-1]


def test_a_simulation_within_another_progress_says_only_what_it_compiles(clock, monkeypatch):
    console = Console()
    monkeypatch.setattr(sys, "stderr", console)
    with made(clock, True) as outer:
        for shown in (None, False):
            with Simulating("rucb on toy", "rucb", 10, "comparisons", shown) as inner:
                for begin in (lambda: None, inner.compiles):
                    begin()
                    clock.now += 9
                    assert outer.line() == "compiling rucb ... 0:09"
                    inner.tick(0.0)
                    assert outer.line().startswith("dts on arxiv")
                inner.compiles()
        with Simulating("rucb on toy", "rucb", 10, "comparisons", None, part=500) as inner:
            with outer.compiling("dts"):
                clock.now += 9
                inner.tick(0.2)  # one runs while another is compiled
                clock.now += 9
                assert "10 % of 1k runs" in outer.line()
                assert "compiling" not in outer.line()
            inner.tick(0.8)
        assert "50 % of 1k runs" in outer.line()
        assert outer.line().startswith("dts on arxiv")
        with Simulating("rucb on toy", "rucb", 10, "comparisons", True) as inner:
            inner.tick(0.3)
            inner.tick(0.7)
        assert "rucb on toy: 10 comparisons in 0:00" in console.lines


def test_an_error_ends_it(clock):
    console = Console()
    bar = made(clock, True, Terminal(console))
    with suppress(KeyboardInterrupt), bar:
        bar.tick(300)
        bar.look()
        raise KeyboardInterrupt
    assert console.lines == ["dts on arxiv: 300 of 1k runs in 0:00", ""]
    assert not progress._open


def test_a_reader_that_has_gone_ends_nothing(clock):
    class Gone(Console):
        def write(self, text):
            raise BrokenPipeError

    looked = threading.Event()

    class Watched(Progress):
        def look(self):
            looked.set()
            super().look()

    with Watched("x", 10, "runs", True, output=Terminal(Gone()), period=0.001) as bar:
        assert looked.wait(10)
        bar.tick(10)


@pytest.mark.parametrize("stream", [Console(), io.StringIO(), None])
def test_standard_error_is_what_it_is(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    expected = {Console: Terminal, io.StringIO: Log, type(None): type(None)}
    assert type(screen.screen()) is expected[type(stream)]


def test_a_notebook_has_one_output_that_is_emptied(clock, monkeypatch):
    shown = []

    class Handle:
        def display(self, data, raw):
            shown.append(("new", data["text/plain"]))

        def update(self, data, raw):
            shown.append(("same", data["text/plain"]))

    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(DisplayHandle=Handle))
    assert isinstance(screen.screen(), Notebook)
    with made(clock, None) as bar:
        clock.now += 3
        bar.look()
        bar.tick(500)
        bar.look()
    kinds, texts = zip(*shown, strict=True)
    assert kinds == ("new", "same", "same")
    assert "50 % of 1k runs" in texts[1]
    assert texts[2] == ""


def test_numbers_and_times_are_short():
    assert [count(n) for n in (0, 7, 950, 1000, 9_496, 21.5e6, 3e9, 1e12, 4e15)] == [
        "0", "7", "950", "1k", "9.5k", "21.5M", "3G", "1T", "4e+03T",
    ]  # fmt: skip
    times = [duration(s) for s in (0.4, 9, 65, 3909, 90_000, 400_000)]
    assert times == ["0:00", "0:09", "1:05", "1:05:09", "25:00:00", "4.6 days"]
