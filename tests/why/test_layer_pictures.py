"""The flame graph of layers and the roofline picture, from made-up traces."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import LayerTime, OwnerTime, StepTrace
from kerascheck.runtime.why.layer_pictures import flame, roofline
from kerascheck.runtime.why.lines import Lines

KNOWN = Lines({})
H100 = Peaks("H100", {"float32": 67e12, "bfloat16": 989e12}, 3.35e12, False, "a data sheet")


def layer(name, parent=None, forward=1e-3, backward=1e-3, role="layer"):
    return LayerTime(role, name, "Dense", parent, forward, backward, ("/a.py", 3))


def trace(*layers, unattributed=0.0, rows=()):
    total = sum(each.seconds for each in layers) + unattributed
    return StepTrace(tuple(rows), unattributed, 0.0, total, 3, 0.1, 0.5, tuple(layers))


def drawn(found):
    """The picture as XML, and the names of its blocks."""
    text = "".join(found)
    tree = ElementTree.fromstring(f"<page>{text}</page>")
    return tree, [bar.text for bar in tree.iter("span") if bar.get("class") == "bar"]


def widths(tree):
    """Sums of the widths of blocks that share a row."""
    rows = [[node for node in inner if "node" in node.get("class", "")] for inner in tree.iter("div")]
    grows = [[float(node.get("style").partition(":")[2]) for node in row] for row in rows if row]
    return [sum(row) for row in grows]


def test_blocks_contain_the_layers_inside_them():
    tree, names = drawn(
        flame(trace(layer("inner", 1), layer("model"), layer("adam", None, 2e-3, 0.0, "optimizer")), KNOWN)
    )
    assert names == ["a step 100%", "model 67%", "inner 33%", "optimizer Dense 33%"]
    assert widths(tree) == pytest.approx([1.0] * len(widths(tree)), abs=1e-3)
    tip = next(node.get("title") for node in tree.iter("div") if (node.get("title") or "").startswith("Dense inner"))
    assert tip == "Dense inner, a.py:3: 33.3%, 1 ms forward, 1 ms backward"


def test_a_flat_model_gets_the_blocks_of_its_names():
    flat = [layer(name) for name in ("conv1_bn", "conv2_block1_1_conv", "conv2_block1_2_conv", "dense", "dense_1")]
    assert drawn(flame(trace(*flat), KNOWN))[1] == [
        "a step 100%", "conv1_bn 20%", "conv2_block1 40%", "conv2_block1_1_conv 20%", "conv2_block1_2_conv 20%",
        "dense 20%", "dense_1 20%",
    ]  # fmt: skip


def test_layers_that_are_too_small_to_see_are_one_block():
    small = [layer(f"dense_{number}", None, 1e-5, 0.0) for number in range(37)]
    tree, names = drawn(flame(trace(layer("big", None, 1.0), *small), KNOWN))
    assert names == ["a step 100%", "big 100%", None]  # too small for its name
    assert any((node.get("title") or "").startswith("dense_0, dense_1") for node in tree.iter("div"))


def test_operations_without_a_layer_are_shown():
    assert drawn(flame(trace(layer("a"), unattributed=2e-3), KNOWN))[1][-1] == "not attributed 50%"


def test_four_hundred_layers_are_drawn():
    tree, names = drawn(flame(trace(*[layer(f"block_{n // 4}_{'abcd'[n % 4]}") for n in range(400)]), KNOWN))
    assert len(names) > 100 and widths(tree) == pytest.approx([1.0] * len(widths(tree)), abs=1e-3)


def test_hostile_names_stay_text():
    tree, _ = drawn(flame(trace(layer("<script>alert(1)</script>")), KNOWN))
    assert not list(tree.iter("script"))


@pytest.mark.parametrize("parent", [7, -1])
def test_a_layer_around_that_is_not_there_is_ignored(parent):
    assert drawn(flame(trace(layer("a", parent)), KNOWN))[1] == ["a step 100%", "a 100%"]


def test_without_layers_there_is_no_flame():
    assert list(flame(StepTrace(), KNOWN)) == list(roofline(StepTrace(), H100, KNOWN)) == []


def row(kind="Dense", seconds=1e-3, flops=1e9, size=1e7, dtype="float32"):
    return OwnerTime("layer", "a", kind, 1, seconds, 0.0, ("/a.py", 3), None, flops, size, dtype)


def test_dots_lie_below_the_roofs_of_their_types():
    tree, _ = drawn(roofline(trace(layer("a"), rows=[row(), row("Conv2D", 2e-3)]), H100, KNOWN))
    texts = [each.text for each in tree.iter("text")]
    assert {"float32: 67 TFLOP/s", "bfloat16: 989 TFLOP/s", "1", "2"} <= set(texts)
    tops = [min(float(p.split(",")[1]) for p in line.get("points").split()) for line in tree.iter("polyline")]
    dots = [float(dot.get("cy")) for dot in tree.iter("circle")]
    assert len(tops) == 2 and max(tops) < min(dots)
    assert "1 TFLOP/s, 100 FLOP per byte" in "".join(tree.itertext())
    assert "the roofs are published: a data sheet" in "".join(tree.itertext())


def test_rows_without_counts_have_no_dot():
    rows = [row(), row(flops=None), row(size=None), row(seconds=0.0)]
    tree, _ = drawn(roofline(trace(layer("a"), rows=rows), None, KNOWN))
    assert len(list(tree.iter("circle"))) == 1 and not list(tree.iter("polyline"))
    assert list(roofline(trace(layer("a"), rows=rows[1:]), H100, KNOWN)) == []


def test_measured_roofs_are_called_so():
    found = "".join(roofline(trace(layer("a"), rows=[row()]), replace(H100, measured=True), KNOWN))
    assert "the roofs were measured on this machine" in found and not re.search(r"nan|inf\b", found)
