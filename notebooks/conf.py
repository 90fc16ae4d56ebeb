"""Configuration of the manual.

    python -m sphinx -W -b html notebooks site/manual

Pages on policies, papers and public names, and the numbers on the first page, are generated before
each build, from the repository alone.
"""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from notebooks.manual import generate

AS_WRITTEN = os.environ.get("JAXDUEL_NOTEBOOKS") == "as-written"
"""True executes notebooks in the sizes that they are written with, which takes an hour."""

if not AS_WRITTEN:  # for the kernels: what runs briefly is compiled with few optimisations
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

project = "jaxduel"
author = copyright = "The jaxduel authors"
version = release = version_of("jaxduel")

extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design"]
source_suffix = {".md": "myst-nb", ".py": "myst-nb"}
exclude_patterns = ["conf.py", "manual", "paper", "*.ipynb", "**/.ipynb_checkpoints"]
smartquotes = False
nitpicky = True
nitpick_ignore_regex = [("py:(class|data|exc)", ".*")]  # annotations

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
add_module_names = False

nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 3600 if AS_WRITTEN else 600
nb_execution_excludepatterns = [f"{name}.py" for name in generate.without_data()]
nb_execution_show_tb = True

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "jaxduel"
html_favicon = "manual/icon.svg"
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}
html_static_path = ["manual/manual.css"]
html_css_files = ["manual.css"]
html_sidebars = {"index": []}
html_show_sourcelink = False
html_show_search_summary = False  # a browser reads no other page from a disk
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def setup(app):
    """Connects what generates pages."""
    generate.connect(app, AS_WRITTEN)
