"""A model server that answers in every way that has broken somebody's client. Loopback only.

By hand: ``python -m tests.bad_server [port]``. In a test: ``async with bad_server() as server``.
"""
