"""Recruiting and pay: studies on the platform, reconciliation, pay decisions and bonuses."""
