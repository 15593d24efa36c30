"""Fixtures that tests of several folders use."""

import pytest


@pytest.fixture
def in_this_process(monkeypatch):
    """The command line checks files in this process: to fork one for each program takes longer than to check it."""
    monkeypatch.setattr("kerascheck.pool.can_fork", lambda: False)
