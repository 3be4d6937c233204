"""Store recruitments, submissions, pay decisions, bonuses and credits."""
