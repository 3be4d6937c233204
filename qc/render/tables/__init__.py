"""Every table of a report as a frame, under the name of its file.

Tables that the authors' scripts write too have the authors' columns and order. All numbers are in full
precision; what is not known is empty.
"""

import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.context import context, persona
from qc.render.tables.correlations import criteria, forecast, replication
from qc.render.tables.kept import incidents, kept, left_out
from qc.render.tables.ranking import certainty, scores
from qc.render.tables.significance import significance
from qc.render.tables.words import effort, topics
from qc.render.tables.workers import agreement, alpha, workers

Tables = dict[str, pd.DataFrame]


def tables(analysis: Analysis) -> Tables:
    """Return the tables by file name, in the order in which the report has them."""
    parts = (scores, certainty, significance, criteria, replication, forecast, workers, kept)
    more = (agreement, topics, effort, alpha, persona, context, incidents, left_out)
    return {name: table for part in (*parts, *more) for name, table in part(analysis)}
