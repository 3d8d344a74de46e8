"""The loop over HTTP: reports come in, sums are kept, plans go out."""
