"""What a service may ask a user: where (a partition of the states) times what (an observable).

Each observable is one file, found by its place in this folder. numpy and the standard library
alone, as everything on the user's side.
"""
