"""The suite: a fixed list of worlds, ε and learners; scores are kept with the code behind them.

``python -m studies.suite`` runs what is missing, keeps it in ``results.jsonl`` and writes the page
``docs/scoreboard.md`` from it.
"""
