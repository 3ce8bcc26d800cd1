"""Attacks on the event engine: many seeded runs against closed forms and brute force; see tally.py."""
