"""The answer in ten lines, for an issue or a chat."""

from dataclasses import replace

from why.test_diagnosis import NONE, finding, step

from kerascheck.runtime.why import summary
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.step import Part


def test_the_summary_has_at_most_ten_lines_and_nothing_private():
    made = step({Part.INPUT: 0.6, Part.COMPUTE: 0.3}, facts={"versions": {"tensorflow": "2.21.0", "keras": "3.15.0"}})
    made = replace(made, epochs=2, steps_per_epoch=1000, busy_others=0.1)
    lines = list(summary.lines(diagnose(made, [finding("KC101", 4)], NONE)))
    assert len(lines) <= 10 and max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert "tensorflow 2.21.0, keras 3.15.0" in text and "2 epochs of 1000 steps, about 20 s" in text
    assert "Time: waiting for data 60%, computing 30%" in text
    assert "Do first: KC101 " in text and "a.py" not in text and "ds.map" not in text
