"""Estimates as a person reads them, and as files: `show` prints them, `write` fills a directory."""

from qc.render.estimates.files import FORMATS, PAGE, write, writing_steps
from qc.render.estimates.stopping import stopping_lines
from qc.render.estimates.terminal import show

__all__ = ["FORMATS", "PAGE", "show", "stopping_lines", "write", "writing_steps"]
