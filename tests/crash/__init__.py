"""Kills and faults under traffic, on real processes; afterwards the promises of design.md section 8 still hold.

`world` is the bot, the people and what must be true of them; `test_crash.py` is the short form, and
`python -m tests.crash` the long one, seeded and reproducible.
"""
