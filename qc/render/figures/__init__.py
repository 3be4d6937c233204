"""Figures of the findings of commands, as SVG, in two widths."""
