"""Reports on a made-up verification, with a hostile script."""

import html.parser
import json
import re
from dataclasses import replace

import click
import pytest
from verify.made_up import WIRE_FACTS, ended

from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Severity
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify import report_html, report_text
from kerascheck.runtime.verify.analysis import analyse, stages
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.findings import Linted, Repair
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.machine_class import MachineClass
from kerascheck.runtime.verify.messages import parse_facts
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status, Verdict
from kerascheck.source import Source

EVIL = "</style><script>alert(1)</script>\x1b[31m\u202e"
PATH = f"/home/{EVIL}/train.py"
TEXT = f"x = '{EVIL}'\nds = ds.map(f)\n"


def verification(*verdicts, failure=None):
    scout = ended(
        **WIRE_FACTS,
        versions={"keras": "3.15.1", "tensorflow": "2.21.0"},
        backend="tensorflow",
        model={"jit_compile": False},
    )
    analyses = [analyse(0.01, scout, 1.01)]
    comparison = Comparison(PATH, scout, [scout], analyses, list(verdicts), failure, [f"note {EVIL}"], 61.0)
    fix = Fix(Applicability.SAFE, "Do", (Edit(0, 0, ""),))
    finding = Finding("KC101", "serial-map", Severity.WARNING, Location(PATH, None, 2, 1, 2, 3), "m", fix=fix)
    repair = Repair(Variant("KC101", {PATH: TEXT.replace("map(f)", "map(f, 2)")}), (finding,))
    linted = Linted(
        PATH,
        {PATH: Source(PATH, TEXT)},
        [finding, replace(finding, code="KC107", fix=None), replace(finding, code="KC306")],
    )
    machine = MachineClass("Linux", "x86_64", 2)
    return Verification(comparison, linted, {v.name: repair for v in verdicts}, machine, f"python {EVIL}")


def verdict(status, ratio=None, **options):
    ticks = ([0.01, 0.011, 0.02] * 9, [0.005, 0.006] * 9)
    return Verdict(
        f"KC101 {EVIL}", status, f"because {EVIL}", ratio, ticks=ticks, step_seconds=(0.01, 0.005), **options
    )


CASES = [
    verdict(Status.CONFIRMED, Ratio(1.9, 1.8, 2.0)),
    verdict(Status.NO_EFFECT, Ratio(1.0, 0.98, 1.02)),
    verdict(Status.INCONCLUSIVE, Ratio(1.18, 0.57, 2.85), others=0.59),
    verdict(Status.SLOWER, Ratio(0.5, 0.4, 0.6)),
    verdict(Status.CHANGES_RESULTS, Ratio(1.9, 1.8, 2.0), losses=([1.0, 0.9], [1.0, 0.5])),
    verdict(Status.NOT_RUN, output=f"Traceback {EVIL}"),
]


class Page(html.parser.HTMLParser):
    """Parser that collects tags, and rejects scripts, external resources and unbalanced tags."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            assert not name.startswith("on")
            assert name not in ("src", "href"), f"{tag} loads {value}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.status.value)
def test_page_is_escaped_and_loads_nothing(case):
    text = report_html.render(verification(case))
    page = Page()
    page.feed(text)
    assert "script" not in page.tags
    assert page.tags.count("style") == 1
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text and "\u202e" not in text
    assert case.status.value in text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.status.value)
def test_terminal_shows_the_verdict_and_no_control_characters(case):
    text = "\n".join(report_text.render(verification(case)))
    assert case.status.value in text and "\x1b" not in text and "\u202e" not in text
    if case.ratio:
        assert f"x{case.ratio.value:.2f} [{case.ratio.low:.2f}-{case.ratio.high:.2f}]" in text


def test_start_up_logs_of_tensorflow_do_not_hide_errors():
    log = "2026-11-28 18:02:11.5: I tensorflow/core/platform/cpu.cc:213] oneDNN\nI0000 00:00:17 cpu.cc:4] rebuild\n"
    lines = list(report_text.printed_last(f"{log}ValueError: no data\n{log * 5}"))
    assert lines == ["    it printed last:", "    | ValueError: no data"]


def test_lines_fit_the_terminal_except_output_of_the_script():
    printed = "word " * 40
    result = verification(CASES[0], verdict(Status.NOT_RUN, output=printed))
    lines = list(report_text.render(result))
    fitted = list(report_text.fitted(iter(lines), 80))
    assert max(map(len, lines)) > 200
    assert [line for line in fitted if len(line) > 80] == [f"    | {printed.strip()}"]
    assert " ".join(fitted).split() == " ".join(lines).split()
    method = next(place for place, line in enumerate(fitted) if line.startswith("A ratio"))
    assert fitted[method + 1].startswith("  ")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.status.value)
@pytest.mark.parametrize("width", [40, 57, 80, 200])
def test_styles_survive_wrapping_and_change_no_text(case, width):
    result = verification(case)
    styled = list(report_text.fitted(report_text.render(result, click.style), width))
    assert [click.unstyle(line) for line in styled] == list(report_text.fitted(report_text.render(result), width))
    assert not any(r"\x1b[0m" in line for line in styled)
    for line in styled:
        codes = re.findall(r"\x1b\[\d+m", line)
        assert not codes or codes[-1] == "\x1b[0m"
    method = next(place for place, line in enumerate(styled) if "A ratio is the mean" in line) if case.ratio else None
    assert method is None or all(
        line.startswith(click.style("", fg="bright_black", reset=False)) for line in styled[method:]
    )


def test_both_reports_explain_how_ratios_are_measured():
    for show in (report_html.render, lambda result: "\n".join(report_text.render(result))):
        assert "mean of the middle half of the ratios of neighbouring blocks" in show(verification(CASES[0]))
        assert "mean of the middle half" not in show(verification(CASES[5]))


def test_differing_losses_are_shown():
    text = "\n".join(report_text.render(verification(CASES[4])))
    assert "1 0.9" in text and "1 0.5" in text


def test_gpu_activity_is_reported():
    result = verification(CASES[0])
    medians = {
        "name": EVIL,
        "samples": 12,
        "utilisation": 0.53,
        "memory_bytes": 7.3e9,
        "watts": 312.4,
        "megahertz": 1500,
    }
    time = {
        "seconds": [0.5, 1.0, 1.5],
        "utilisation": [0.0, None, 1.0],
        "memory_bytes": [0, 1e9, 2e9],
        "watts": [1, 2, 3],
        "megahertz": [1, 2, 3],
    }
    device = {
        **medians,
        "index": 0,
        "used": True,
        "slowed": {"power limit": 0.4},
        "memory_total_bytes": 4e9,
        "time": time,
    }
    result.gpu = restored(GpuSummary, {**medians, "devices": [device], "trouble": None})
    page = report_html.render(result)
    assert 'points="0.0,100.0 1000.0,0.0"' in page and 'points="0.0,100.0 500.0,75.0 1000.0,50.0"' in page
    for text in (report_html.render(result), "\n".join(report_text.render(result))):
        assert (
            "53% busy, 7.3 GB of memory, 312 W, 1500 MHz, clocks lowered 40% of the time (power limit) (medians of 12 looks"
            in text
            and "\x1b" not in text
        )


def test_tabs_in_code_are_kept():
    result = verification(CASES[0])
    result.repairs[CASES[0].name].variant.sources[PATH] = TEXT.replace("ds =", "\tds =")
    assert "+\tds = ds.map" in report_html.render(result)


def test_confirmed_findings_are_not_called_pointless():
    assert "does not wait for data" not in "\n".join(report_text.render(verification(CASES[0])))
    assert "does not wait for data" not in report_html.render(verification(CASES[0]))


def test_pointless_fixes_are_explained():
    assert "does not wait for data" in "\n".join(report_text.render(verification(CASES[1])))
    assert "does not wait for data" in report_html.render(verification(CASES[1]))


def test_a_failure_has_one_reason():
    result = verification(failure="the script reads standard input")
    assert "the script reads standard input" in "\n".join(report_text.render(result))
    assert "the script reads standard input" in report_html.render(result)
    assert result.exit_code == 2


def test_findings_that_are_not_measured_are_listed():
    for text in (report_html.render(verification(CASES[0])), "\n".join(report_text.render(verification(CASES[0])))):
        assert "KC107" in text and "no stage of an input pipeline was seen at its lines" in text
        assert "Not about speed, so not measured: KC306 train.py:2" in text


def test_exit_codes():
    assert verification(CASES[0]).exit_code == 1
    assert verification(*CASES[1:]).exit_code == 0
    several = verification(CASES[0])
    repair = several.repairs[CASES[0].name]
    several.repairs[CASES[0].name] = replace(repair, findings=repair.findings * 2)
    assert several.exit_code == 0  # a confirmed combination confirms none of its fixes


def test_a_nan_loss_is_null_in_json():
    case = verdict(Status.CHANGES_RESULTS, Ratio(1.0, 1.0, 1.0), losses=([1.0], [float("nan")]))
    result = json.loads(json.dumps(verification(case).as_dict(), allow_nan=False))
    assert result["verdicts"][0]["losses"] == {"as_written": [1.0], "repaired": [None]}


def test_json_is_json():
    result = json.loads(json.dumps(verification(*CASES[:1]).as_dict(), allow_nan=False))
    assert result["version"] == 1
    assert result["verdicts"][0]["status"] == "confirmed"
    assert [each["code"] for each in result["observations"] + result["not_about_speed"]] == ["KC107", "KC306"]
    assert result["verdicts"][0]["ratio"] == {"value": 1.9, "low": 1.8, "high": 2.0}
    assert result["trainings"][0]["stages"][1]["place"] == ["/a.py", 4]


def test_elements_below_a_repeat_are_counted_per_pass():
    nodes = [
        {"name": "Root", "elements": 288, "seconds": 0.01, "parallelism": 1, "reader": None},
        {"name": "FiniteRepeat", "elements": 288, "seconds": 0.0288, "parallelism": 1, "reader": 0},
        {"name": "MapAndBatch", "elements": 2, "seconds": 0.06, "parallelism": 1, "reader": 1},
        {"name": "TensorSlice", "elements": 64, "seconds": 0.064, "parallelism": 1, "reader": 2},
    ]
    found = stages(parse_facts({"runtime_nodes": nodes}))
    assert [round(stage.seconds_per_batch, 6) for stage in found] == [0.0001, 0.03, 0.032]
