"""The table of axes."""

from jaxduel.cli.options import EVERY_CELL
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.sweep.axes import AXES, BY_OPTION, CELL, axis_of, columns_of


def test_columns_stand_part_by_part():
    assert CELL == ("policy", "problem", "horizon", "parameters")
    table = {"rule", "parameters", "num_arms", "problem", "horizon", "policy"}
    setting, policy = ["problem", "num_arms", "horizon"], ["policy", "parameters"]
    assert columns_of(table, "setting", "policy", "measure") == [*setting, *policy, "rule"]
    assert columns_of(table, "policy", "setting") == [*policy, *setting]


def test_names_and_aliases_differ():
    names = [name for axis in AXES for name in (axis.name, *axis.aliases)]
    assert len(set(names)) == len(names)


def test_commands_choose_cells_by_the_options_of_axes():
    assert vars(EVERY_CELL).keys() == BY_OPTION.keys()


def test_other_names_are_parameters_of_policies():
    assert (axis_of("alpha").part, axis_of("alpha").label) == ("parameter", "")
    assert axis_of(BATCHES).label == "batches $B$"
    assert axis_of("family").words is not None
