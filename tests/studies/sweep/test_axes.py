"""The table of axes."""

from jaxduel.cli.options import EVERY_CELL
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.sweep.axes import (
    AXES,
    BY_OPTION,
    CELL,
    OF_PROBLEMS,
    axis_of,
    columns_of,
    plain_name,
)
from jaxduel.studies.sweep.describing.recipes import GENERATORS, parameters_of
from jaxduel.studies.sweep.reading.layout import DIMENSIONS
from tests.studies.sweep.made_up import cell


def test_columns_stand_part_by_part():
    assert CELL == ("policy", "problem", "horizon", "parameters")
    table = {"rule", "parameters", "num_arms", "problem", "horizon", "policy"}
    setting, policy = ["problem", "num_arms", "horizon"], ["policy", "parameters"]
    assert columns_of(table, "setting", "policy", "measure") == [*setting, *policy, "rule"]
    assert columns_of(table, "policy", "setting") == [*policy, *setting]


def test_names_and_aliases_differ():
    names = [name for axis in AXES for name in (axis.name, *axis.aliases)]
    assert len(set(names)) == len(names)
    names = [axis.column for axis in AXES]
    assert len(set(names)) == len(names)
    assert not {axis.column for axis in OF_PROBLEMS} & {*DIMENSIONS, *sum(DIMENSIONS.values(), ())}


def test_parameters_of_generators_are_axes_along_problems():
    known = {name for generator in GENERATORS for name in parameters_of(generator)}
    assert {plain_name(a.column) for a in OF_PROBLEMS} == known - {"key"} | {"instance"}
    prefixed = {axis.name for axis in OF_PROBLEMS if axis.name != plain_name(axis.name)}
    assert prefixed == {f"problem_{name}" for name in ("std", "horizon", "num_batches", "level")}
    assert {(axis.part, axis.along) for axis in OF_PROBLEMS} == {("setting", "problem")}
    one = cell("base", "one_better_arm(num_arms=2, best=1, std=2.5)", 2, 10)
    two = cell("base", "btl_from_weights(weights=(1.0, 2.0))", 2, 10)
    assert [axis_of(name).of(one) for name in ("best", "problem_std", "gap")] == [1, 2.5, None]
    assert axis_of("weights").of(two) == "(1.0, 2.0)"
    for label in ("my.npz(key=gap)", "mine(gap=0.1)", "gap (1).csv", "gap"):
        assert axis_of("gap").of(cell("rucb", label, 2, 10)) is None


def test_commands_choose_cells_by_the_options_of_axes():
    assert vars(EVERY_CELL).keys() == BY_OPTION.keys()


def test_other_names_are_parameters_of_policies():
    assert (axis_of("alpha").part, axis_of("alpha").label) == ("parameter", "")
    assert axis_of(BATCHES).label == "batches $B$"
    assert axis_of("family").words is not None
