"""Recruiting and pay: what a platform says held against what we know, decisions, bonuses, who does them."""
