"""What a service may ask a user: where (a partition of the states) times what (a matter).

One matter, one file: a module in this folder is found by itself. numpy and the standard library
alone, as everything on the user's side.
"""
