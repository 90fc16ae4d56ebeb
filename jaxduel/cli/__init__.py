"""The command line: arguments in, calls out."""

from jaxduel.cli.commands import COMMANDS as COMMANDS
from jaxduel.cli.commands import main as main
