"""The documentation site that MkDocs builds."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kerascheck.catalog import measured, pages, published, registry

ROOT = Path(__file__).resolve().parent.parent

pytest.importorskip("material", reason='needs the extra "docs"')
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def loaded(page):
    """Resources that a browser loads for a page."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            given = dict(attributes)
            if tag in ("img", "script", "iframe"):
                found.append(given.get("src") or "")
            elif tag == "link":
                found.append(given["href"])

    Reader().feed(page)
    return found


def test_every_rule_has_the_page_that_findings_link_to(site):
    table = {row["code"]: row for row in measured.read_table()}
    for spec in registry.rule_specs():
        page = (site / pages.path(spec.name) / "index.html").read_text(encoding="utf-8")
        assert f"{spec.name} ({spec.code})" in page and 'id="what-it-does"' in page
        ratios = [table[spec.code][each]["ratio"] for each in measured.DEVICES if each in table.get(spec.code, ())]
        assert ('<svg role="img"' in page) is any(ratios), spec.name
        measured_here = (table.get(spec.code, {}).get("gpu") or {}).get("ratio")
        assert ("not measured by us" in page) is bool(published.for_rule(spec.code) and not measured_here), spec.name
        assert pages.path(spec.name).removeprefix("rules/") in (site / "rules" / "index.html").read_text(
            encoding="utf-8"
        )


def test_pages_load_no_external_resources(site):
    found = {each for page in site.rglob("*.html") for each in loaded(page.read_text(encoding="utf-8"))}
    assert found and not [each for each in found if re.match(r"(https?:)?//", each)]


def test_lists_are_rendered_as_lists(site):
    for page in site.rglob("*.html"):
        for paragraph in re.findall(r"<p>(.*?)</p>", page.read_text(encoding="utf-8"), re.DOTALL):
            assert not re.search(r"^(- |\| |\d\. )", paragraph, re.MULTILINE), (page, paragraph)
