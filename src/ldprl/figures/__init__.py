"""Every figure and table of the paper: a folder each, with what is run, drawn and found.

A folder holds ``sweep.py`` (what is varied), ``run.py`` (settings in, a table out), ``plot.py``
(table in, pictures out) and ``findings.py`` (table in, sentences out). Read one, and you know all.
"""
