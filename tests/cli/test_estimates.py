"""The command ``count --estimate``; the session ``estimates`` has its output and its errors."""

from __future__ import annotations

import json

from gpusudoku.enumeration.splitting import Splitting


def test_a_command_that_is_resumed(checkpointed, monkeypatch):
    """It draws the last sample of the first run again, and those that are missing."""
    draw = Splitting.sample
    numbers = []

    def interrupted(self, number):
        if number == 20 and 20 not in numbers:
            numbers.append(number)
            raise KeyboardInterrupt
        numbers.append(number)
        return draw(self, number)

    boards = f"{'.' * 36}\n{'.' * 36}\n"
    command = ["count", "--estimate", "--samples", "30", "--json", "-j", "1"]
    saved_run = checkpointed(command, boards)
    status, expected, _ = saved_run.run_without_checkpoint()
    assert status == 0
    monkeypatch.setattr(Splitting, "sample", interrupted)
    status, _, err = saved_run()
    assert status == 130
    assert "0 boards done" in err
    assert saved_run.resume()[0] == 0
    assert saved_run.out.read_text() == expected
    assert numbers == [*range(21), *range(19, 30), *range(30)]
    for line in expected.splitlines():
        record = json.loads(line)
        assert "count" not in record
        assert record["low"] < 28_200_960 < record["high"]
