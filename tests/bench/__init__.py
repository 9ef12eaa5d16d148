"""How fast it is, as ratios in one run: `python -m tests.bench` measures and writes docs/benchmarks.md.

Never part of the tests. `server` plays Telegram and the model in a process of its own and drives the load;
`floor` is the same work done bare; `figures` measures one figure each; `__main__` makes the table.
"""
