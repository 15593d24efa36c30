"""Observations about findings without a fix, from made-up analyses."""

from verify.made_up import WIRE_FACTS, at, ended

from kerascheck.finding import Finding, Location, Severity
from kerascheck.runtime.verify.analysis import analyse, stages
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.verify.messages import Frame, parse_facts
from kerascheck.runtime.verify.observed import NOTHING_SEEN, observations
from kerascheck.source import Source

TEXT = "".join(f"line{number}\n" for number in range(1, 30))


def finding(line, code="KC107"):
    return Finding(code, "n", Severity.WARNING, Location("/a.py", None, line, 1, line, 4), "m")


def seen(*findings, gain=1.96, **facts):
    linted = Linted("/a.py", {"/a.py": Source("/a.py", TEXT)}, list(findings))
    return observations(linted, [analyse(0.01, ended(**{**WIRE_FACTS, **facts}), gain)], [])


def test_a_stage_is_observed_at_its_creation():
    (each,) = seen(finding(4))
    assert each.seen == "MapAndBatch takes 91% of the pipeline; an input fix can win x1.96 at most"
    assert (each.training, round(each.share, 2)) == (0, 0.91)


def test_a_stage_is_observed_in_its_function():
    chain = [
        {**stage, "function": ["/a.py", 20, 25] if stage["name"] == "Map" else None} for stage in WIRE_FACTS["chain"]
    ]
    assert stages(parse_facts({**WIRE_FACTS, "chain": chain}))[1].function == ("/a.py", 20, 25)
    assert seen(finding(22), chain=chain)[0].seen.startswith("MapAndBatch takes 91%")
    assert seen(finding(26), chain=chain)[0].seen == NOTHING_SEEN


def test_an_unknown_ceiling_is_not_mentioned():
    assert seen(finding(4), gain=None)[0].seen == "MapAndBatch takes 91% of the pipeline"


def test_observations_are_sorted_by_share():
    found = seen(finding(12), finding(3), finding(4))
    assert [each.finding.location.line for each in found] == [4, 3, 12]
    assert found[2].seen == NOTHING_SEEN and found[2].share is None


def test_measured_findings_and_those_not_about_speed_are_left_out():
    assert not seen(finding(4, "KC108"))
    linted = Linted("/a.py", {"/a.py": Source("/a.py", TEXT)}, [finding(4)])
    assert not observations(linted, [], [finding(4)])
    assert observations(linted, [], [])[0].seen == NOTHING_SEEN


def test_data_with_stages_made_by_fit_is_observed_there():
    text = "gen = make()\ndata = gen.flow(x)\nother = 1\nmodel.fit(data)\n"
    nodes = [
        {"name": name, "elements": 10, "seconds": seconds, "parallelism": 1, "reader": reader}
        for name, seconds, reader in (("FlatMap", 1.0, None), ("Generator", 0.1, 0))
    ]
    scout = ended(runtime_nodes=nodes, chain=[{"name": "FlatMap", "place": ["/a.py", 4]}])
    scout.end.stack = at("/a.py", 4)
    linted = Linted(
        "/a.py", {"/a.py": Source("/a.py", text)}, [finding(1, "KC111"), finding(3, "KC111"), finding(1, "KC401")]
    )
    found = observations(linted, [analyse(0.01, scout, 1.44)], [], [[Frame("/a.py", 4, 0)]])
    assert (
        found[0].seen
        == "it feeds /a.py:4, whose own stages take 100% of the pipeline; an input fix can win x1.44 at most"
    )
    assert [each.seen for each in found[1:]] == [NOTHING_SEEN] * 2
