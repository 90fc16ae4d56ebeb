"""The option `--share I/N`: the I-th of N parts of the tests that are chosen otherwise.

Every test is in one part. Tests of a file are dealt out one by one, as they take about equally
long, so that parts do, too.
"""

import re

import pytest


def pytest_addoption(parser):
    parser.addoption("--share", metavar="I/N", type=_share, help="run the I-th of N parts")


def _share(text):
    if found := re.fullmatch(r"([0-9]+)/([0-9]+)", text):
        number, of = map(int, found.groups())
        if 1 <= number <= of:
            return number, of
    raise ValueError


@pytest.hookimpl(trylast=True)  # after those that -m and -k deselect
def pytest_collection_modifyitems(config, items):
    if (share := config.getoption("share")) is None:
        return
    number, of = share
    own = items[number - 1 :: of]
    config.hook.pytest_deselected(items=[item for item in items if item not in own])
    items[:] = own
