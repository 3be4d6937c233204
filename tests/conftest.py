"""What every test shares: hypothesis without a stopwatch, for a machine that may be busy."""

from hypothesis import settings

settings.register_profile("candor", deadline=None)
settings.load_profile("candor")
