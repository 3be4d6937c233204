"""Rules of a study that hold for every session of a run. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.session.comparison import Comparison
from server.session.instrument import Consent, PostEdit, Tutorial
from server.session.plan import LineupSpec
from server.session.questionnaire import Questionnaires
from server.session.reply_time import ReplyTime


@dataclass(frozen=True)
class SessionRules:
    """What a study prescribes to every session of a run. `streaming`: replies are shown word by word.

    `criteria` are those that are rated; `points` has those of them that are rated on a Likert scale, with the
    number of its points. `rate_share`: the share of a system's conversations that are rated. `post_edit`,
    `tutorial`, `consent`, `debriefing` and `comparison` are None where the study has none. `questionnaires`:
    those about a conversation end with the criteria that are not rated. `scenarios`: what workers read, by
    the labels. Of pairs of conversations, `conversations` counts the pairs. `quiz_choices`: how many lines
    the quiz after a conversation has; None: there is no quiz. `records_writing`: how inputs were written is
    kept.
    """

    minimum_inputs: int
    maximum_inputs: int
    maximum_topic_changes: int
    criteria: tuple[str, ...]
    conversations: int
    lineup: LineupSpec
    reply_time: ReplyTime
    rate_share: float = 1.0
    post_edit: PostEdit | None = None
    tutorial: Tutorial | None = None
    comparison: Comparison | None = None
    streaming: bool = False
    consent: Consent | None = None
    debriefing: str | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    turn_points: int | None = None
    quiz_choices: int | None = None
    records_writing: bool = False
    questionnaires: Questionnaires = field(default_factory=Questionnaires)

    def scenario_text(self, label: str | None) -> str | None:
        """Return what the worker reads of a scenario, by its label; None where there is none."""
        return None if label is None else self.scenarios[label]
