"""HTML report of a made-up diagnosis, with a hostile script."""

import html.parser
import json
import os
import re

import pytest
from verify.made_up import WIRE_FACTS, ended

from kerascheck.catalog import registry
from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Related, Severity
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.analysis import stages
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.messages import parse_facts
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.json_report import report
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.report_html import render
from kerascheck.runtime.why.step import HotLine, Part, Step
from kerascheck.source import Cell, Source

EVIL = "</style></title><script>alert(1)</script>\"'&\x1b[31m\u202e"
PATH = f"/home/{EVIL}/a.py"
TEXT = "\n".join(
    (
        "import keras",
        "",
        f"x = '{EVIL}'",
        "ds = ds.map(f)",
        "ds = ds.batch(8)",
        "",
        "model.fit(ds)",
        "print('done')",
        "",
    )
)
VOID = {"meta"}
SELF_CLOSED = {"rect", "line", "polyline"}


class Page(html.parser.HTMLParser):
    """Parser that rejects scripts, external resources and unbalanced tags."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base")
        for name, value in attributes:
            assert not name.startswith("on")
            assert name not in ("src", "href", "srcset", "xlink:href", "action", "data"), f"{tag} loads {value}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in SELF_CLOSED
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data


def finding(code, line, fix=None, **more):
    return Finding(
        code,
        registry.find(code).name,
        Severity.WARNING,
        Location(PATH, None, line, 1, line, 10),
        f"{code} says {EVIL}",
        fix=fix,
        **more,
    )


def parallel():
    start = TEXT.index("map(f)") + len("map(f")
    return Fix(Applicability.UNSAFE, f"Make it parallel {EVIL}", (Edit(start, start, ", num_parallel_calls=4"),))


FACTS_HERE = WIRE_FACTS | {
    "chain": [stage | {"place": [PATH, stage["place"][1]]} for stage in WIRE_FACTS["chain"]],
    "versions": {"keras": "3.15.1", "tensorflow": "2.21.0"},
    "timeline": {
        "main": [[5.0, 5.1, "executing"], [5.1, 5.2, "python"], [5.2, 5.3, "tracing"], [5.3, 5.4, "callback"], [5.4, 5.5, "input"]],
        "steps": [4.0, 5.02, 5.12, 5.22, 5.32, 5.42, 9.0],
    },
    "step_trace": {
        "rows": [
            ["layer", f"a{EVIL}", f"Dense{EVIL}", 2, 0.001, 0.002, [PATH, 4], f"Net{EVIL}", 2e6, 1e6, f"{EVIL}"],
            ["loss", "loss", "", 1, 0.0005, 0.0, None, None, None, None, ""],
        ],
        "unattributed_seconds": 0.0005, "fused_seconds": 0.0, "total_seconds": 0.004, "steps": 9, "overhead_seconds": 1.5,
        "layers": [["layer", f"a{EVIL}", f"Dense{EVIL}", None, 0.001, 0.002, [PATH, 4], None, None, ""]],
    },
}  # fmt: skip
HOT = [
    HotLine(PATH, 3, f"load{EVIL}", "numpy", 0.5),
    HotLine(PATH, 3, f"load{EVIL}", None, 0.25),
    HotLine("", 0, "decode", EVIL, 0.1),
]


def look(parts, findings=(), source=None, **more):
    source = source or Source(PATH, TEXT)
    given = {
        "kind": "fit", "place": (PATH, 7), "used": [(PATH, 1, 7)], "stages": stages(parse_facts(FACTS_HERE)), "facts": FACTS_HERE,
        "batch_size": 8, "steps_per_epoch": 100, "first_step_seconds": 7.5, "input_lines": HOT,
    } | more  # fmt: skip
    given["facts"] = parse_facts(given["facts"])
    parts = {part: share * 0.010 for part, share in parts.items()}
    step = Step(seconds=0.010, parts=parts, **given)
    lines = Lines({PATH: source})
    problems = [(f"no GPU {EVIL}", "run kerascheck doctor")]
    diagnosis = diagnose(step, findings, lines, problems)
    return WhyResult(ended(), Linted(PATH, {PATH: source}, list(findings)), diagnosis)


def full(**more):
    one = finding(
        "KC107",
        4,
        parallel(),
        because=f"because {EVIL}",
        related=(Related(Location(PATH, None, 5, 1, 5, 9), f"there {EVIL}"),),
    )
    findings = [one, finding("KC119", 5), finding("KC401", 7)]
    shares = {Part.INPUT: 0.7, Part.COMPUTE: 0.2, Part.OVERHEAD: 0.1}
    return look(
        shares,
        findings,
        unknown=[f"how long {EVIL}"],
        main_lines={Part.PYTHON: [HotLine(PATH, 8, "<module>", None, 0.3)]},
        **more,
    )


def gpus(trouble=None, **more):
    series = {"seconds": [0.5, 1.0, 1.5], "utilisation": [0.0, None, 1.0], "memory_bytes": [0, 1e9, 2e9]}
    medians = {
        "name": f"T4 {EVIL}",
        "samples": 3,
        "utilisation": 0.5,
        "memory_bytes": 1e9,
        "watts": None,
        "megahertz": None,
    }
    device = medians | {"index": 0, "used": True, "slowed": {}, "memory_total_bytes": 4e9, "time": series} | more
    return restored(GpuSummary, {**medians, "driver": "1", "devices": [device], "trouble": trouble})


def test_page_is_whole_escaped_and_loads_nothing():
    text = render(full(gpus=(f"T4 {EVIL}",), backend=f"tensorflow{EVIL}"), gpus(f"another program {EVIL}"))
    page = Page(text)
    assert page.tags.count("style") == 1 and page.tags.count("title") >= 1
    assert "alert(1)" in page.text
    assert "\x1b" not in text and "\u202e" not in text
    assert not re.search(r"https?:|url\(|@import", text)


def test_layers_are_listed_with_their_lines():
    text = Page(render(full(), None)).text
    assert "2 Dense" in text and "1 ms forward, 2 ms backward" in text
    assert "forward 25%, backward 50%, loss 12%, not attributed 12%" in text
    assert "tracing and reading took 1.5 s" in text


def test_layers_are_drawn():
    peaks = {
        "hardware": f"Xeon{EVIL}",
        "flops": {f"float32{EVIL}": 1e11},
        "bytes": 1e10,
        "measured": True,
        "source": "",
    }
    page = Page(render(full(facts={**FACTS_HERE, "peaks": peaks}), None))
    assert "all operations of a step" in page.text and page.tags.count("circle") == 1
    assert "The roof is that of Xeon" in page.text and "measured" in page.text
    assert "The roof is missing" in Page(render(full(), None)).text


@pytest.mark.parametrize("part", Part, ids=lambda part: part.name)
def test_every_part_has_a_segment_a_colour_and_its_time(part):
    text = render(look({part: 0.9}), None)
    assert f'<span class="{part.name.lower()}" style="width:90.00%"' in text
    assert f"--{part.name.lower()}: #" in text
    assert f"{part.value}9 ms90%" in Page(text).text


def test_the_cause_is_shown_with_its_line_and_two_around():
    made = render(full(input_lines=()), None)
    assert "MapAndBatch, a.py:4, 91% of the time of all stages" in Page(made).text
    assert '</span><span class="hit"><i>4</i>ds = ds.map(f)</span><span><i>5</i>ds = ds.batch(8)</span></pre>' in made
    assert "<i>2</i>" not in made  # a blank line


def test_a_recommendation_shows_finding_cause_related_place_and_diff():
    made = render(full(), None)
    text = Page(made).text
    assert "steps could become at most ×3.3 as fast by this" in text
    for expected in (
        "KC107 py-function-in-map",
        "KC107 says",
        "because",
        "a.py:5: there",
        "Make it parallel",
        "Results may change",
        "--fix --unsafe-fixes",
    ):
        assert expected in text
    assert '<span class="add">+ds = ds.map(f, num_parallel_calls=4)</span>' in made
    assert "1 more about this" in text and "KC119" in text


def test_a_problem_of_the_machine_comes_first():
    text = Page(render(full(), None)).text
    assert text.index("No GPU") < text.index("KC107 py-function-in-map")


def test_the_pipeline_goes_from_its_source_to_the_training():
    text = Page(render(full(), None)).text
    pipeline = text[text.index("The input pipeline") :]
    assert pipeline.index("TensorSlice") < pipeline.index("MapAndBatch") < pipeline.index("Prefetch")
    assert "added by TensorFlow for a.py:7" in pipeline


def test_the_same_line_in_two_libraries_is_one_busy_line():
    text = Page(render(full(), None)).text
    assert "75%a.py:3 in load" in text
    assert "30%a.py:8" in text and "print('done')" in text
    assert "10%decode of" in text


def test_the_line_that_trains_is_listed_only_for_loops():
    lines = {Part.PYTHON: [HotLine(PATH, 7, "<module>", "tensorflow", 0.9)]}
    assert "90%a.py:7" not in Page(render(look({Part.EAGER: 1.0}, main_lines=lines), None)).text
    assert "90%a.py:7" in Page(render(look({Part.EAGER: 1.0}, main_lines=lines, kind="optimizer loop"), None)).text


def test_the_cause_of_a_part_that_takes_no_time_is_left_out():
    assert "of the Python of this part" in render(look({Part.INPUT: 0.1, Part.COMPUTE: 0.9}), None)
    assert "of the Python of this part" not in render(look({Part.INPUT: 0.01, Part.COMPUTE: 0.99}), None)


def test_the_timeline_shows_the_steps_that_were_sampled():
    made = render(full(), None)
    text = Page(made).text
    assert "4 steps, one after the other" in text
    assert len(re.findall(r'<rect class="(?:even|odd)"', made)) == 4
    for words in ("tracing a graph", "callbacks", "getting the next batch", "other Python"):
        assert words in text


def test_waiting_inside_a_compiled_step_is_not_shown_as_computing():
    assert "computing, or waiting for its data" in render(full(), None)
    assert "computing, or waiting for its data" not in render(full(backend="jax"), None)
    assert "computing, or waiting for its data" not in render(
        full(facts=FACTS_HERE | {"model": {"run_eagerly": True}}), None
    )


@pytest.mark.parametrize(
    "timeline", [{}, {"main": [], "steps": [1.0, 2.0]}, {"main": [[1.0, 2.0, "python"]], "steps": [1.5]}]
)
def test_without_steps_there_is_no_timeline(timeline):
    assert "one after the other" not in Page(render(full(facts=FACTS_HERE | {"timeline": timeline}), None)).text


def test_gpu_series_are_shown():
    made = render(full(), gpus())
    assert 'points="0.0,100.0 1000.0,0.0"' in made and 'points="0.0,100.0 500.0,75.0 1000.0,50.0"' in made
    assert "50% busy" in Page(made).text
    assert "<h2>GPU</h2>" in made and "<h2>GPU</h2>" not in render(full(), None)


def test_minor_and_unused_findings_are_listed():
    answer = full()
    text = Page(render(answer, None)).text
    assert [f.code for f in answer.diagnosis.little] == ["KC401"]
    assert text.index("Matters little here") < text.index("KC401 says")
    away = finding("KC309", 8)
    answer.diagnosis = diagnose(answer.diagnosis.step, [away], answer.diagnosis.lines)
    text = Page(render(answer, None)).text
    assert text.index("Not run by this training") < text.index("KC309 says")


def test_remarks_versions_and_machine():
    text = Page(render(full(), None)).text
    assert "Not measured: how long" in text and "No GPU was used" in text
    assert "keras 3.15.1, tensorflow 2.21.0 on " in text and f"{os.cpu_count()} cores" in text


def test_nothing_to_do_says_so():
    shares = {Part.COMPUTE: 0.1, Part.INPUT: 0.1}
    answer = look(shares)
    answer.diagnosis = diagnose(answer.diagnosis.step, [], answer.diagnosis.lines)
    assert "no part of a step stands out" in Page(render(answer, None)).text


def test_a_notebook_counts_lines_in_its_cells():
    first, second = "import keras\n", "ds = ds.map(f)\nmodel.fit(ds)\n"
    cells = (Cell(1, 0, len(first)), Cell(3, len(first), len(first + second)))
    source = Source(PATH, first + second, cells=cells)
    step_lines = [HotLine(PATH, 2, "f", None, 0.5)]
    answer = look(
        {Part.INPUT: 0.8, Part.COMPUTE: 0.2}, source=source, place=(PATH, 3), stages=(), input_lines=step_lines
    )
    made = render(answer, None)
    assert "a.py cell 4:2 · fit" in Page(made).text
    assert '<span class="hit"><i>1</i>ds = ds.map(f)</span><span><i>2</i>model.fit(ds)</span></pre>' in made


def test_a_failure_is_a_page_too():
    answer = WhyResult(
        Run(output=f"Traceback\nValueError: {EVIL}\n"),
        Linted(PATH, {PATH: Source(PATH, TEXT)}, []),
        None,
        f"it ended {EVIL}",
    )
    page = Page(render(answer, gpus()))
    assert "not run" in page.text and "it ended" in page.text and "ValueError: " in page.text


@pytest.mark.parametrize("part", Part, ids=lambda part: part.name)
def test_the_answer_is_json_without_nan(part):
    told = json.loads(json.dumps(report(full(), None, None), allow_nan=False))
    assert told["timeline"]["steps"][1] == 5.02
    json.dumps(report(look({part: 1.0}), None, None), allow_nan=False)
    json.dumps(report(look({part: 1e-9, Part.INPUT: 0.0}), None, None), allow_nan=False)
