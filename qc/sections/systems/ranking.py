"""The systems, best first: their scores, and how certain their order is."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import FAMILY_COLOURS, FAMILY_MARKERS, MUTED
from qc.method.scores import Ceiling, Scores, places, raters_of
from qc.robustness.intervals import Intervals, systems_alike
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, MadeFile, Section, TitledTable, always
from qc.table import (
    CHANCE,
    COUNT,
    INTERVAL,
    ONE,
    OVERALL,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    Form,
    Table,
    Tone,
    decimal,
    listed,
    matrix,
    no_tone,
    ranks,
    shade,
    whole,
)

# Added to the name of a person in a chatbot's place.
CEILING = " (human, the ceiling)"


def ranking(analysis: Analysis) -> Table:
    """Return the systems, best first, with the uncertainty of their order, if computed."""
    z, found = analysis.scores.z, analysis.intervals
    place = places(z[OVERALL].to_numpy(np.float64))
    if systems_alike(analysis.sample, analysis.scores):
        place = np.where(np.isfinite(place), 1.0, np.nan)
    table = z[["system", "n", OVERALL]].assign(raw=analysis.scores.raw[OVERALL], rank=list(map(whole, place)))
    columns = [SYSTEM_COLUMN, Column("rank", "Rank", WRITTEN), Column(OVERALL, "z", THREE)]
    if found is not None:
        table = table.assign(
            rank=list(map(ranks, found.rank_low.tolist(), found.rank_high.tolist())),
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            first=np.where(np.isfinite(found.z_low[:, 0]), found.best_chance, np.nan),
        )
        columns += [INTERVAL, Column("first", "First", CHANCE)]
    unit = "Conver\u00adsations" if analysis.run.items is None else "Judg\u00adments"
    table = table.assign(
        conversations=table["n"] // len(analysis.run.criteria),
        raters=raters_of(analysis.sample, analysis.scores),
    )
    counts = Column("conversations", unit, COUNT), Column("raters", "Raters", COUNT)
    if analysis.ceiling is not None:
        table = pd.concat([_people(analysis, analysis.ceiling), table], ignore_index=True)
    return Table(table, (*columns, Column("raw", "Raw", TWO), *counts))


def _people(analysis: Analysis, ceiling: Ceiling) -> pd.DataFrame:
    """Return the rows of people, which are above the systems and have no rank."""
    sample, names = analysis.sample, analysis.run.systems["system"]
    with_them = [sample.kept & (sample.systems == names.eq(name).argmax()) for name in ceiling.z["system"]]
    return pd.DataFrame(
        {
            "system": ceiling.z["system"] + CEILING,
            "rank": "–",
            OVERALL: ceiling.z[OVERALL],
            "raw": ceiling.raw[OVERALL],
            "n": ceiling.z["n"],
            "conversations": ceiling.z["n"] // len(analysis.run.criteria),
            "raters": [len(np.unique(sample.workers[rows])) for rows in with_them],
        }
    )


def z_scores(analysis: Analysis) -> Table:
    """Return z by criterion. The shading is strongest from 1 on."""
    return _scores(analysis.scores.z, "z", TWO, shade)


def raw_scores(analysis: Analysis) -> Table:
    """Return the raw scores by criterion."""
    return _scores(analysis.scores.raw, "raw", ONE)


def _scores(scores: pd.DataFrame, overall: str, form: Form, tone: Tone = no_tone) -> Table:
    """Return scores with the authors' headings in the file, and with our headings for a reader."""
    values = scores.drop(columns=["system", "n"])
    file = scores.rename(columns={"system": "model", "n": "N", OVERALL: overall})
    return matrix(file, "System", scores["system"], values.columns, values.to_numpy(np.float64), form, tone)


# Colour, marker, and whether it is filled.
Look = tuple[str, str, bool]
Looks = dict[str, Look]
LISTED = 12
PERSONA_KEY = (("●", MUTED, "with persona"), ("○", MUTED, "without"))


def draw_ranking(scores: Scores, looks: Looks, intervals: Intervals | None) -> Drawing | None:
    """Draw the overall z of every system, best first; None if no system has a score.

    Args:
        scores: scores of the systems.
        looks: colour, marker and filling of each system.
        intervals: intervals of the scores and ranks; None leaves them out.
    """
    names = scores.z["system"].to_list()
    z = scores.z["overall"].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    if intervals is None:
        low, high, right = np.full(len(z), np.nan), np.full(len(z), np.nan), []
    else:
        low, high = intervals.z_low[:, 0], intervals.z_high[:, 0]
        right = list(map(ranks, intervals.rank_low.tolist(), intervals.rank_high.tolist()))
    personas = len({filled for name, (_, _, filled) in looks.items() if name in names}) > 1

    def draw(width: float) -> Sheet:
        extent, legend = np.concatenate([z, low, high]), PERSONA_KEY if personas else ()
        panel = rows(width, names, "overall score (z)", extent, right, "rank", legend=legend)
        for i, name in enumerate(names):
            colour, marker, filled = looks[name]
            interval(panel, low[i], high[i], i, colour)
            point(panel, z[i], i, colour, marker, filled=filled)
            if not np.isfinite(z[i]):
                panel.page.beside(panel.at(0, i), " no kept conversation", MUTED)
        return panel.page

    return Drawing("Overall scores of the systems", _alt(names, z, intervals), draw)


def system_looks(systems: pd.DataFrame) -> Looks:
    """Return colour, marker and filling of each system: by its family, and hollow without persona.

    If families or personas do not distinguish the systems, all look the same.
    """
    competing = systems[~systems["is_qc"]]
    families = list(dict.fromkeys(competing["family"]))
    plain = len(families) == len(competing)
    persona = competing["has_persona"].nunique() > 1
    looks = {}
    for row in competing.itertuples():
        i = 0 if plain else families.index(row.family)
        colour, marker = FAMILY_COLOURS[i % len(FAMILY_COLOURS)], FAMILY_MARKERS[i % len(FAMILY_MARKERS)]
        looks[str(row.system)] = (colour, marker, bool(row.has_persona) or not persona)
    return looks


def _alt(names: list[str], z: NDArray[np.float64], intervals: Intervals | None) -> str:
    known = [f"{name} {decimal(value)}" for name, value in zip(names, z, strict=True) if np.isfinite(value)]
    sure = f", each with its {intervals.level:.0%} interval and range of ranks" if intervals else ""
    return f"Dot plot of overall z{sure}, best first: {listed(known, LISTED)}."


def _systems(analysis: Analysis) -> list[Json]:
    labels = analysis.run.criteria["label"].to_list()
    raters = raters_of(analysis.sample, analysis.scores)
    pairs = zip(analysis.scores.z.to_dict("records"), analysis.scores.raw.to_dict("records"), strict=True)
    return [
        {
            "system": z["system"],
            "n": z["n"],
            "conversations": z["n"] // len(labels),
            "raters": raters[row],
            "z": z["overall"],
            "raw": raw["overall"],
            **_certainty(analysis.intervals, row),
            "criteria": {
                label: {"z": z[label], "raw": raw[label], **_bounds(analysis.intervals, row, column)}
                for column, label in enumerate(labels, start=1)
            },
        }
        for row, (z, raw) in enumerate(pairs)
    ]


def _certainty(found: Intervals | None, row: int) -> Json:
    """Return the uncertainty of the overall score and the rank of the system at `row`."""
    if found is None:
        return {}
    overall = _bounds(found, row, 0)
    return {
        "interval": overall["z_interval"],
        "raw_interval": overall["raw_interval"],
        "effective_raters": found.effective_raters[row],
        "rank": {"low": found.rank_low[row], "high": found.rank_high[row]},
        "best_chance": found.best_chance[row],
    }


def _bounds(found: Intervals | None, row: int, column: int) -> Json:
    if found is None:
        return {}
    return {
        "z_interval": {"low": found.z_low[row, column], "high": found.z_high[row, column]},
        "raw_interval": {"low": found.raw_low[row, column], "high": found.raw_high[row, column]},
    }


_SYSTEMS_SCHEMA = schema.array(
    "Competing systems, best first.",
    {
        "type": "object",
        "properties": {
            "system": schema.text("Name."),
            "n": schema.integer(
                "Conversations × criteria; judgments × criteria in a run that rates transcripts."
            ),
            "conversations": schema.integer(
                "Conversations of workers who passed; judgments in a run that rates transcripts."
            ),
            "raters": schema.integer("Workers who passed and rated it."),
            "z": schema.number("Overall z.", null=True),
            "raw": schema.number("Overall raw score.", null=True),
            "effective_raters": schema.number("As how many raters who had done equally much they count."),
            "interval": schema.shared("interval", "Interval of `z`."),
            "raw_interval": schema.shared("interval", "Interval of `raw`."),
            "rank": schema.record(
                "Range of ranks, 1 for the best; 0 without a score.",
                low=schema.integer("Best."),
                high=schema.integer("Worst."),
            ),
            "best_chance": schema.number("Chance that it is truly the best.", null=True),
            "criteria": schema.by_name(
                "By label.",
                {
                    "description": "Scores on one criterion.",
                    "type": "object",
                    "properties": {
                        "z": schema.number("z.", null=True),
                        "raw": schema.number("Raw score, reversed if negative.", null=True),
                        "z_interval": schema.shared("interval", "Interval of `z`."),
                        "raw_interval": schema.shared("interval", "Interval of `raw`."),
                    },
                    "required": ["z", "raw"],
                    "additionalProperties": False,
                },
            ),
        },
        "required": ["system", "n", "conversations", "raters", "z", "raw", "criteria"],
        "additionalProperties": False,
    },
)


def _unfiled(analysis: Analysis) -> Mapping[str, Table]:
    return {"ranking": ranking(analysis)}


def _document(analysis: Analysis) -> Json:
    return {"systems": _systems(analysis)}


_OF_SYSTEMS = ("system", "rank", "overall", "low", "conversations", "raters", "raw")


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    yield TitledTable("Systems, best first", ranking(analysis).only(*_OF_SYSTEMS))


def _draw(analysis: Analysis) -> Drawing | None:
    return draw_ranking(analysis.scores, system_looks(analysis.run.systems), analysis.intervals)


SECTION = Section(
    id="ranking",
    title="Ranking",
    tables=(
        MadeFile("system_scores.csv", "z overall and by criterion, best system first", z_scores),
        MadeFile("system_raw_scores.csv", "the same without standardising", raw_scores),
    ),
    figures=(MadeFile("ranking.svg", "overall z with intervals and ranges of ranks", _draw),),
    document=_document,
    schema={"systems": _SYSTEMS_SCHEMA},
    summary=_summary,
    unfiled=_unfiled,
    is_shown=always,
    page="""\
{% call table("ranking", "The systems, best first.") %}
z compares systems: every worker’s ratings were first brought to mean 0 and standard deviation 1, so 0 is \
what the same workers gave on average to everything, {{ "the quality-control bot" if chatted else "control \
items" }} included. {% if not chatted %}A system’s score is the mean over its items, each the mean over \
the workers who passed. {% endif %}Raw is on the scale of the ratings. Higher is better; raters are the \
different workers behind a score.
{% if a.intervals %}
The interval says where z would lie with all workers of the same kind, that of the first allowing for its \
having been picked as the highest; Rank says which places are open, all systems taken together; First is \
the chance to be truly the best. All from {{ a.intervals.count | whole }} draws of whole workers.
{% endif %}
{% endcall %}
""",
)
