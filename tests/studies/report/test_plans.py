"""The section of a plan, from files that may be anybody's."""

import os

import numpy as np
import pytest
from PIL import Image

import jaxduel as jd
from jaxduel.studies.report.plans import TEXT, plan_section
from tests.studies.report.boards import small

VOTES = small().votes
TITLE = "small.csv: 4 arms, 611 votes; model btl, arms named by btl"


def test_a_folder_without_a_plan_has_no_section(tmp_path):
    assert plan_section(tmp_path, VOTES) is None


def test_the_lines_and_the_figure_are_shown(tmp_path):
    (tmp_path / TEXT).write_text(f"{TITLE}\nnow: 'dan', which is the best\n")
    assert plan_section(tmp_path, VOTES).figures == ()
    Image.fromarray(np.zeros((2, 2, 3), np.uint8)).save(tmp_path / "plan.png")
    section = plan_section(tmp_path, VOTES)
    assert section.notes == (TITLE, "now: 'dan', which is the best")
    (figure,) = section.figures
    assert figure.picture == "plan.png"


@pytest.mark.thorough
@pytest.mark.usefixtures("quick_compilation")
def test_a_plan_of_these_votes_is_known_by_its_first_line(tmp_path):
    plan = jd.votes.plan(VOTES, ["uniform"], draws=2, seeds=2, max_votes=20)
    (tmp_path / TEXT).write_text("\n".join(plan.summary()))
    assert plan_section(tmp_path, VOTES).notes == tuple(plan.summary())


@pytest.mark.parametrize("first", ["small.csv: 4 arms, 61 votes; model btl", "", "\x00"])
def test_a_plan_of_other_votes_is_said_to_be_one(first, tmp_path):
    (tmp_path / TEXT).write_text(f"{first}\nnow: 'dan'\n")
    assert plan_section(tmp_path, VOTES).notes[0].startswith("This plan is of other votes")


def test_what_is_no_text_is_refused_in_a_sentence_or_cut(tmp_path):
    path = tmp_path / TEXT
    os.mkfifo(path)
    assert plan_section(tmp_path, VOTES).notes == (
        "plan.txt cannot be read: it is not a regular file.",
    )
    path.unlink()
    path.write_bytes(b"x" * (2**20 + 1))
    (note,) = plan_section(tmp_path, VOTES).notes
    assert note.startswith("plan.txt cannot be read: it has more than")
    path.write_bytes(b"\xff\n" * 1_000)
    assert len(plan_section(tmp_path, VOTES).notes) == 201
