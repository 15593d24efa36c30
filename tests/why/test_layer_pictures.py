"""Flame graph and roofline of made-up traces."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from why.test_report_html import EVIL, Page

from kerascheck.report.html import STYLE as PAGE_STYLE
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import LayerTime, OwnerTime, StepTrace
from kerascheck.runtime.why import flame_graph, layers_html, roofline_chart
from kerascheck.runtime.why.lines import Lines

PEAKS = Peaks("Xeon", {"float32": 1e11, "bfloat16": 2e11, "float16": 2e11}, 1e10, measured=True)


def layer(name, forward, backward=0.0, parent=None, role="layer", kind="Dense"):
    return LayerTime(role, name, kind, parent, forward, backward, ("/a.py", 3))


def trace_of(*layers, rest=0.0, rows=()):
    total = sum(each.seconds for each in layers) + rest
    return StepTrace(tuple(rows), rest, 0.0, total, 9, total, 1.0, layers=layers)


def row(name="Dense", seconds=0.01, flops=1e8, moved=1e7, dtype="float32", count=1):
    return OwnerTime("layer", name, name, count, seconds / 2, seconds / 2, None, None, flops, moved, dtype)


NESTED = trace_of(
    layer("conv", 1.0, 2.0, parent=2, kind="Conv2D"),
    layer("norm", 0.5, 0.5, parent=2),
    layer("block", 0.25, 0.75, parent=3, kind="Block"),
    layer("model", 0.0, parent=None, kind="Functional"),
    layer("loss", 0.25, 0.25, role="loss"),
    layer("adam", 1.0, role="optimizer"),
    layer("accuracy", 1.0, role="metric"),
    rest=0.5,
)


def drawn(trace):
    """(left, width, row, tooltip, label) of each box in per cent, and the elements of the picture."""
    parts = list(flame_graph.html(trace, Lines({})))
    Page("".join(parts))
    root = ET.fromstring(f"<div>{''.join(parts)}</div>")
    boxes = []
    for each in root.find(".//div[@role='img']"):
        style = dict(part.split(":") for part in each.get("style").split(";"))
        measures = [float(style[name].rstrip("%rem")) for name in ("left", "width", "top")]
        boxes.append((*measures, each.get("title"), each.find("span").text))
    return boxes, root


def by_label(trace):
    return {box[4]: box for box in drawn(trace)[0]}


def assert_no_overlap(boxes):
    """Every row fits, and no two of its boxes overlap."""
    rows = {}
    for left, width, top, *_ in boxes:
        rows.setdefault(top, []).append((left, left + width))
    for spans in rows.values():
        spans.sort()
        assert spans[0][0] >= 0 and spans[-1][1] <= 100.02
        for (_, end), (start, _) in zip(spans, spans[1:]):
            assert start >= end - 0.01


def test_widths_are_shares_of_the_operations():
    boxes = by_label(NESTED)
    assert_no_overlap(boxes.values())
    total = NESTED.total_seconds
    shares = {name: 100 * seconds / total for name, seconds in
              {"model": 5.0, "block": 5.0, "conv": 3.0, "norm": 1.0, "loss": 0.5, "adam": 1.0, "accuracy": 1.0,
               "not attributed": 0.5, "all operations of a step": total}.items()}  # fmt: skip
    assert {name: box[1] for name, box in boxes.items()} == pytest.approx(shares, abs=0.001)


def test_a_layer_lies_below_the_one_around_it():
    boxes = by_label(NESTED)
    for outer, inner in (("all operations of a step", "model"), ("model", "block"), ("block", "conv")):
        assert boxes[inner][2] > boxes[outer][2]
        assert boxes[outer][0] <= boxes[inner][0]
        assert boxes[inner][0] + boxes[inner][1] <= boxes[outer][0] + boxes[outer][1] + 0.01


def test_directions_are_told_apart():
    boxes, root = drawn(NESTED)
    conv = next(each for each in root.iter("div") if (each.get("title") or "").startswith("conv "))
    assert "--part:33.3%" in conv.get("style")
    assert by_label(NESTED)["block"][3].endswith(
        "1.75 s forward, 3.25 s backward, 1.00 s of that its own operations; a.py:3"
    )
    assert by_label(NESTED)["adam"][3] == "adam (Dense), 12% of the operations: 1.00 s; a.py:3"
    text = "".join(root.find(".//ul").itertext())
    assert text == "forward passbackward passoptimizer and metricsbelongs to no listed layer"


def test_the_picture_has_an_alternative_text():
    (picture,) = drawn(NESTED)[1].findall(".//div[@role='img']")
    assert picture.get("aria-label").startswith(
        "Flame graph of the operations of a step: model 62% (block 62%), loss 6%"
    )


def test_hostile_names_are_escaped():
    text = "".join(flame_graph.html(trace_of(layer(EVIL, 1.0, kind=EVIL)), Lines({})))
    assert "<script" not in text and "\x1b" not in text and "&lt;script&gt;" in text
    assert "<script" not in "".join(roofline_chart.html(trace_of(rows=[row(EVIL, dtype=EVIL)]), PEAKS))


@pytest.mark.parametrize("trace", [StepTrace(), trace_of(layer("a", 0.0)), StepTrace(total_seconds=1.0)])
def test_without_layers_there_is_no_flame_graph(trace):
    assert list(flame_graph.html(trace, Lines({}))) == []


def test_one_layer_is_a_flame_graph():
    assert list(by_label(trace_of(layer("a", 1.0)))) == ["all operations of a step", "a"]


def test_layers_that_were_left_out_keep_their_time():
    trace = replace(trace_of(layer("a", 1.0)), total_seconds=4.0)
    assert by_label(trace)["shorter layers"][1] == 75.0


def resnet(blocks=4):
    names = [
        f"conv{stage}_block{block}_{number}_{part}"
        for stage in (2, 3, 4)
        for block in range(1, blocks + 1)
        for number in (1, 2, 3)
        for part in ("conv", "bn", "relu")
    ]
    return trace_of(layer("resnet", 0.0), *(layer(name, 1.0, parent=0) for name in names))


def test_layers_of_a_flat_model_form_blocks_by_their_names():
    boxes = drawn(resnet())[0]
    assert_no_overlap(boxes)
    labels = [label for *_, label in boxes]
    assert labels[:5] == ["all operations of a step", "resnet", "conv2", "block1", "1_conv"]
    assert labels.count("block4") == 3 and labels.count("3_relu") == 12
    assert boxes[4][3].startswith("conv2_block1_1_conv (Dense)")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("conv2_block1_1_conv", ["conv2", "block1", "1", "conv"]),
        ("block_12_expand_BN", ["block_12", "expand", "BN"]),
        ("batch_normalization_3", ["batch", "normalization_3"]),
        ("_", []),
    ],
)
def test_words_of_a_name(name, words):
    assert flame_graph._words(name) == words


def siblings(box):
    yield len(box.inside)
    for each in box.inside:
        yield from siblings(each)


@pytest.mark.parametrize(
    "name_of",
    [
        lambda n: f"dense_{n}",
        lambda n: "same",
        lambda n: "_",
        lambda n: f"{('conv2d', 'norm')[n % 2]}_{n}",
        lambda n: f"block_{n // 3}_{n % 3}",
        lambda n: f"conv2d_{n}",
    ],
    ids=["dense", "same", "no words", "alternating", "blocks", "digits"],
)
def test_four_hundred_layers_stay_in_small_blocks(name_of):
    trace = trace_of(layer("model", 0.0), *(layer(name_of(n), 1.0 + n % 5, parent=0) for n in range(399)))
    assert max(siblings(flame_graph.tree(trace))) <= flame_graph._MOST_SIBLINGS
    boxes = drawn(trace)[0]
    assert_no_overlap(boxes)
    assert max(top for _, _, top, *_ in boxes) <= 6 * flame_graph._ROW_REM


def test_a_block_whose_name_comes_again_is_named_by_its_first_and_last_layer():
    names = [f"conv_a{n}" for n in range(5)] + ["pool"] + [f"conv_b{n}" for n in range(8)]
    trace = trace_of(*(layer(name, 1.0) for name in names))
    assert [each.name for each in flame_graph.tree(trace).inside] == [
        "conv_a0 to conv_a4",
        "pool",
        "conv_b0 to conv_b7",
    ]


def test_narrow_layers_are_merged():
    trace = trace_of(layer("wide", 1.0), *(layer(f"d{n}", 0.001) for n in range(5)), layer("last", 1.0))
    boxes = by_label(trace)
    assert list(boxes) == ["all operations of a step", "wide", "5 more, d0 to d4", "last"]
    assert_no_overlap(boxes.values())


# Roofline -----------------------------------------------------------------------------------------------------------


def roofline(rows, peaks):
    text = "".join(roofline_chart.html(trace_of(rows=rows, rest=0.1), peaks))
    Page(text)
    return text, ET.fromstring(f"<div>{text}</div>")


def centre(circle):
    return float(circle.get("cx").rstrip("%")), float(circle.get("cy"))


def test_a_dot_lies_below_the_roof_that_limits_it():
    slow, fast = row(seconds=0.1, flops=1e9, moved=1e7), row("Other", seconds=0.02, flops=1e9, moved=1e7)
    text, root = roofline([slow, fast], PEAKS)
    first, second = map(centre, root.iter("circle"))
    assert first[0] == second[0] and first[1] > second[1]
    roofs = [each for each in root.iter("line") if each.get("class").startswith("roof")]
    assert second[1] > max(float(each.get("y2")) for each in roofs[1:])
    assert all(0 <= centre(each)[0] <= 100 for each in root.iter("circle"))
    for each in roofs:
        assert 0 <= float(each.get("x1").rstrip("%")) < float(each.get("x2").rstrip("%")) <= 100
        assert all(40 <= float(each.get(name)) <= 360 for name in ("y1", "y2"))
    assert "measured on this machine" in text and "10 GFLOP/s, 100 FLOP per byte, float32" in text


def test_types_with_the_same_peak_share_a_roof():
    text, root = roofline([row()], PEAKS)
    assert "bfloat16, float16 200 GFLOP/s" in text and "float32 100 GFLOP/s" in text and "memory 10 GB/s" in text
    assert len(root.findall(".//line[@class='roof unused']")) == 1
    assert "A dashed roof" in text
    assert "A dashed roof" not in roofline([row()], replace(PEAKS, flops={"float32": 1e11}))[0]


def test_published_peaks_name_their_source():
    assert "published: data sheet." in roofline([row()], replace(PEAKS, measured=False, source="data sheet"))[0]


def test_without_peaks_there_are_only_dots():
    text, root = roofline([row()], None)
    assert "The roof is missing" in text and len(list(root.iter("circle"))) == 1
    assert not [each for each in root.iter("line") if each.get("class").startswith("roof")]


@pytest.mark.parametrize("rows", [[], [row(flops=None)], [row(moved=None)], [row(flops=0.0)], [row(seconds=0.0)]])
def test_without_known_operations_there_is_no_roofline(rows):
    assert list(roofline_chart.html(trace_of(rows=rows, rest=0.1), PEAKS)) == []


def test_a_dot_above_the_slanted_roof_is_explained():
    above = row(seconds=0.001, flops=1e8, moved=1e8)
    assert "that a cache holds" in roofline([above], PEAKS)[0]
    assert "that a cache holds" not in roofline([row(seconds=1.0)], PEAKS)[0]


def test_numbers_of_dots_do_not_overlap_on_a_narrow_screen():
    same = [row(f"D{n}", seconds=0.01 + n / 1e4) for n in range(10)]
    _, root = roofline(same, PEAKS)
    numbers = root.findall(".//text[@class='number']")
    assert len(numbers) == 10 and [each.text for each in numbers] == [str(n) for n in range(1, 11)]
    at = [
        (float(each.get("x").rstrip("%")) * roofline_chart._NARROW / 100 + float(each.get("dx")),
         float(each.get("y")) + float(each.get("dy")))
        for each in numbers
    ]  # fmt: skip
    close = [1 for n, a in enumerate(at) for b in at[:n] if abs(a[0] - b[0]) < 14 and abs(a[1] - b[1]) < 12]
    assert not close


def test_labels_of_close_roofs_do_not_overlap():
    close = replace(PEAKS, flops={"float32": 1e11, "bfloat16": 1.1e11, "float16": 1.25e11})
    _, root = roofline([row()], close)
    ends = sorted(float(each.get("y")) for each in root.findall(".//text[@text-anchor='end']"))
    roofs = [float(each.get("y1")) for each in root.iter("line") if each.get("class").startswith("roof")]
    assert ends[-1] < min(roofs[1:])
    assert len(ends) == 3 and all(b - a >= 15.9 for a, b in zip(ends, ends[1:]))


# Page ---------------------------------------------------------------------------------------------------------------


def colours(style):
    """(Light, dark) colours by name."""
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    found = [dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})\b", part)) for part in (light, dark.split("} }")[0])]
    return found


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("box", ["forward", "backward", "update", "none"])
def test_labels_have_the_contrast_of_wcag_aa(scheme, box):
    pair = luminance(colours(PAGE_STYLE)[scheme]["ink"]), luminance(colours(flame_graph.STYLE)[scheme][box])
    assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5


def test_the_optimizer_has_no_direction():
    optimizer = OwnerTime("optimizer", "adam", "Adam", 1, 0.002, 0.0)
    text = Page("".join(layers_html.html(trace_of(layer("a", 1.0), rows=[optimizer]), Lines({}), None))).text
    assert "optimizer Adam 2 ms" in text and "2 ms forward" not in text
