"""Shared by all papers: arguments that are refused, panels without data, notes on sizes, keys."""

from dataclasses import replace

import jax
import pytest

import jaxduel as jd
from jaxduel.plotting import Missing
from jaxduel.studies import papers
from jaxduel.studies.papers.paper import (
    ABSENT,
    Instances,
    Order,
    Panel,
    Size,
    Sizes,
    curves,
    regret,
)
from jaxduel.studies.papers.reproducing import (
    pictures_at_hand,
    reproduce,
    require_possible,
    size_notes,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.reproduction import chosen_panels
from jaxduel.studies.wanted import Competitor
from tests.studies.papers.smaller import machine

SETTING = Setting(1_000, "copeland")
SIZES = Sizes(Size(20_000, 100), Size(1_000_000, 500))
DTS, RUCB = (Competitor(name, name.upper(), name, {}) for name in ("dts", "rucb"))


def panel(name: str, problem: str, **changes) -> Panel:
    instances = Instances(problem, problem, SIZES)
    return regret(name, instances, (DTS, RUCB), **changes)


def numbers(key):
    return tuple(jax.random.key_data(key).tolist())


def test_papers_are_known_by_name():
    assert [papers.load(name).name for name in papers.names()] == list(papers.names())
    with pytest.raises(jd.InputError, match="did you mean 'batched-dueling'"):
        papers.load("batched-duels")


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.parametrize("name", papers.names())
def test_policies_take_the_parameters_of_the_paper(name):
    lineups = [lineup for panel in papers.load(name).panels for lineup in panel.lineups]
    for c in {c.name: c for lineup in lineups for c in lineup.competitors}.values():
        jd.policies.make(c.policy, num_arms=2, horizon=100, **c.parameters)


@pytest.mark.parametrize(
    ("paper", "asked", "found"),
    [
        ("batched-dueling", "1", "1a 1b 1c 1d"),
        ("batched-dueling", "2C", "2c"),
        ("batched-dueling", None, "1a 1b 1c 1d 2a 2b 2c 2d"),
        ("copeland-rmed", "1", "1a 1b 1c 1d 1e 1f"),
        ("copeland-rmed", "table1", "table1"),
        ("batched-mab", "text1", "text1a text1b text1c text1d"),
        ("batched-mab", "s1", "s1a s1b s1c s1d s1e s1f"),
        ("batched-mab", "s2b", "s2b"),
    ],
)
def test_panels_are_chosen_by_figure_or_name(paper, asked, found):
    known = [panel.name for panel in papers.load(paper).panels]
    assert chosen_panels(asked, known) == found.split()


@pytest.mark.parametrize("name", papers.names())
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "runs must be at least 1"),
        ({"seed": -1}, "seed must be from 0"),
        ({"seed": 2**32}, "seed must be from 0"),
        ({"decide": -1.0}, "decide must be a number of core-hours"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"horizon": 2**31}, "horizon must be a whole number"),
        ({"figure": "9"}, "unknown figure"),
        ({"figure": "1x"}, "unknown figure '1x'.*did you mean '1'"),
        ({"out": __file__}, "cannot be created"),
    ],
)
def test_requests_that_cannot_be_met(name, arguments, message, tmp_path):
    with pytest.raises(jd.InputError, match=message):
        reproduce(papers.load(name), **{"out": tmp_path, **arguments})


def test_the_largest_arguments_can_be_met():
    paper = papers.load("double-thompson")
    require_possible(paper, 2**32 - 1, 1, 2**31 - 1, None)
    require_possible(paper, 0, None, None, None)


def test_only_random_instances_have_other_numbers_of_arms(tmp_path):
    require_possible(papers.load("batched-dueling"), 0, None, None, 6)
    with pytest.raises(jd.InputError, match="copeland-rmed: no instances are random"):
        reproduce(papers.load("copeland-rmed"), out=tmp_path, num_arms=6)


@pytest.fixture
def without_sushi():
    with machine("sushi"):
        yield


@pytest.mark.usefixtures("without_sushi")
def test_panels_without_data_are_left_out_with_a_warning():
    asked = [panel("1a", "sushi"), panel("1b", "arxiv")]
    with pytest.warns(UserWarning, match="^panel 1a is missing: sushi"):
        pictures, missing = pictures_at_hand(asked, Order(), SETTING)
    assert [p.name for p in pictures] == ["1b"]
    (one,) = missing
    assert (one.name, one.why) == ("1a", "sushi is not on this machine.")
    assert one.panel() == Missing("(a) regret on sushi", "no data of sushi: see claims.txt")


@pytest.mark.usefixtures("without_sushi")
@pytest.mark.parametrize(("name", "figure"), [("double-thompson", "3d"), ("batched-dueling", "1b")])
def test_nothing_left_is_an_error(name, figure, tmp_path):
    with pytest.raises(jd.InputError, match="sushi is not on this machine"):
        reproduce(papers.load(name), figure, out=tmp_path)


def test_notes_say_what_is_reduced():
    small, own = SIZES._replace(usual=Size(1_234, 5)), {"rucb": Sizes(ABSENT, Size(30_000, 20))}
    panels = [panel("1a", "gap"), panel("1b", "gap")]
    panels.append(panel("1c", "gap", sizes=small, sizes_by_policy=own))
    assert size_notes(panels, Order()) == [
        "1a, 1b: T = 2e4, 100 runs (--full: T = 1e6, 500 runs).",
        "1c: T = 1234, 5 runs (--full: T = 1e6, 500 runs).",
        "1c (RUCB): only with --full: T = 3e4, 20 runs.",
    ]
    assert size_notes(panels[:2], Order(full=True)) == ["1a, 1b: T = 1e6, 500 runs."]
    asked = size_notes(panels[:2], Order(runs=3))
    assert asked[0] == "3 runs everywhere, as asked for."
    assert asked[1] == "1a, 1b: T = 2e4, 3 runs (--full: T = 1e6, 3 runs)."
    assert size_notes(panels, Order(runs=3, horizon=70)) == [
        "T = 70 everywhere, 3 runs everywhere, as asked for.",
    ]  # fmt: skip


def test_policies_play_at_their_own_sizes_or_not_at_all():
    own = {"rucb": Sizes(ABSENT, Size(30_000, 20))}
    usual = curves(panel("1a", "gap", sizes_by_policy=own), Order(), SETTING)
    assert [one.competitor.name for one in usual.wanted] == ["dts"]
    full = curves(panel("1a", "gap", sizes_by_policy=own), Order(full=True), SETTING)
    sizes = {one.competitor.name: (one.horizon, one.num_runs) for one in full.wanted}
    assert sizes == {"dts": (1_000_000, 500), "rucb": (30_000, 20)}


@pytest.mark.parametrize(
    ("paper", "name"),
    [("double-thompson", "4c"), ("copeland-rmed", "1e"), ("copeland-dueling", "2a")],
)
def test_the_key_of_an_instance_depends_on_its_name_and_the_seed_alone(paper, name):
    (lineup,) = papers.load(paper).panel(name).lineups
    (before,) = lineup.instances.drawn(Order(seed=3), 1)
    other = replace(lineup.instances, title="another", sizes=SIZES)
    (after,) = other.drawn(Order(seed=3, full=True, runs=9), 2)
    assert numbers(after.key) == numbers(before.key)
    (seeded,) = lineup.instances.drawn(Order(seed=4), 1)
    assert numbers(seeded.key) != numbers(before.key)
