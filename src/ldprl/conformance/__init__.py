"""Checks a client program, in whatever language, against the protocol (docs/service/protocol.md).

The program speaks a contract of JSON lines; a scripted service on this machine, and a real one,
talk to it, and :mod:`ldprl.audit` attacks what it draws.
"""
