"""Rules of a run from a YAML file."""

from itertools import islice

import yaml
from pydantic import ValidationError

from server.errors import RulesInvalid
from server.run_rules.mistakes import mistakes
from server.run_rules.rules import RunRules
from server.settings_file import MOST_MISTAKES, YamlTexts


def parse_rules(text: str, source: str) -> RunRules:
    """Return the rules that `text` gives, every value of it as it is written: 17:00 is no number, 0.3 exact.

    Args:
        text: YAML.
        source: the file's name, for what is wrong in it.

    Raises:
        RulesInvalid: it is no YAML, or there are mistakes in it: all of them, each with its place.
    """
    try:
        content = yaml.load(text, Loader=YamlTexts)  # noqa: S506 - it makes nothing but texts, lists, maps
        return RunRules.model_validate({} if content in (None, "") else content)
    except ValidationError as error:
        found = mistakes(error, RunRules, yaml.compose(text, Loader=YamlTexts))
        told = [f"{source}:{mistake}" for mistake in islice(found, MOST_MISTAKES)]
        if error.error_count() > MOST_MISTAKES:
            told.append(f"{source}: there are more than {MOST_MISTAKES} mistakes; fix these first")
        raise RulesInvalid("\n".join(told)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise RulesInvalid(f"{source}: not valid YAML: {error}") from error
