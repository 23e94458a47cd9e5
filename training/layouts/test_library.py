"""The library of printed pages: what its readers rely on.

python3 -m unittest training.layouts.test_library
"""

import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import cv2
import fitz
import numpy as np

from training import layouts
from training.common import real
from training.layouts import figures, fonts, library, press, text
from training.layouts.page import VARIANTS, Page


def blank_page(width=1000, height=800):
    return np.full((height, width, 3), 255, np.uint8)


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name)
        patch = mock.patch.object(library, "DATA", self.data)
        patch.start()
        self.addCleanup(patch.stop)

    def test_stored_page_is_read_back(self):
        picture = blank_page()
        picture[100:200, 100:300] = 0, 0, 200
        library.store("train", "a-1", picture, {"em": 32, "slots": []})
        read = cv2.imread(str(self.data / "pages/train/a-1.png"))
        np.testing.assert_array_equal(read[..., ::-1], picture)
        meta = json.loads((self.data / "pages/train/a-1.json").read_text())
        self.assertEqual(meta["em"], 32)
        self.assertTrue(library.is_stored("a-1"))
        self.assertFalse(library.is_stored("a-2"))

    def test_stored_pages_are_sources_that_nobody_wrote_on(self):
        library.store("train", "b-1", blank_page(), {"em": 30, "family": "form-3", "slots": []})
        library.store("val", "b-2", blank_page(), {"em": 31, "family": "form-4", "slots": []})
        with mock.patch.dict(os.environ, {"UNINK_DATA": str(self.data)}):
            (source,) = library.sources("train")
        self.assertEqual((source.em, source.hand, source.repo), (30, 0, "form-3"))
        image, label = real.read(source)
        self.assertEqual(image.shape, (800, 1000, 3))
        self.assertFalse(label.any())

    def test_grey_page_is_stored_grey(self):
        library.store("val", "g", blank_page(), {})
        read = cv2.imread(str(self.data / "pages/val/g.png"), cv2.IMREAD_UNCHANGED)
        self.assertEqual(read.ndim, 2)

    def test_json_appears_only_after_the_picture(self):
        seen = []
        real = library.write_whole

        def write(path, data):
            seen.append(path.suffix)
            real(path, data)

        with mock.patch.object(library, "write_whole", write):
            library.store("train", "b", blank_page(), {})
        self.assertEqual(seen, [".png", ".json"])

    def test_document_becomes_pages_with_words_and_space(self):
        path = self.data / "docs/texlive-games/usr/doc/sample/sample.pdf"
        path.parent.mkdir(parents=True)
        with fitz.open() as document:
            sheet = document.new_page()
            for line in range(20):
                sheet.insert_text(
                    (72, 100 + 14 * line), "Some words of a printed page", fontsize=10
                )
            document.save(path)
        self.assertEqual(library.render_document(str(path), "d1-x", 1), 1)
        (meta_path,) = (self.data / "pages").glob("*/d1-x-0.json")
        meta = json.loads(meta_path.read_text())
        self.assertAlmostEqual(meta["em"], library.BODY_EM, delta=1)
        self.assertEqual(meta_path.parent.name, library.split_of(meta["family"]))
        kinds = {slot["kind"] for slot in meta["slots"]}
        self.assertIn("word", kinds)
        self.assertTrue(kinds & {"area", "margin"})
        self.assertEqual(library.render_document(str(path), "d1-x", 1), 0, "stored twice")


class Pixels(unittest.TestCase):
    def test_blank_and_dark_pages_are_not_usable(self):
        self.assertFalse(library.is_usable(blank_page()))
        self.assertFalse(library.is_usable(blank_page() // 8))
        printed = blank_page()
        printed[100:140, 100:900] = 0
        self.assertTrue(library.is_usable(printed))

    def test_free_areas_hold_no_print_and_nothing_taken(self):
        picture = blank_page()
        picture[300:330] = 0
        taken = [[0, 500, 1000, 620]]
        areas = library.free_areas(picture, 32, taken)
        self.assertTrue(areas)
        for x0, y0, x1, y1 in areas:
            self.assertTrue((picture[y0:y1, x0:x1] == 255).all())
            self.assertTrue(y1 <= 500 or y0 >= 620)

    def test_largest_rectangle(self):
        free = np.zeros((6, 7), bool)
        free[1:5, 2:6] = True
        free[0, :] = True
        self.assertEqual(library.largest_rectangle(free), (2, 0, 6, 5))


class Splits(unittest.TestCase):
    def test_about_a_tenth_is_held_out(self):
        held_out = sum(library.split_of(f"name-{i}") == "val" for i in range(4000))
        self.assertTrue(300 < held_out < 500, held_out)

    def test_no_face_is_in_both_splits(self):
        face = fonts.Face("Some", "text", frozenset(["en"]), "a.ttf", None, "train")
        other = fonts.Face("Other", "text", frozenset(["en"]), "b.ttf", None, "val")
        with mock.patch.object(fonts, "faces", lambda: [face, other]):
            fonts.pool.cache_clear()
            self.assertEqual(fonts.pool("train", "en", "text"), [face])
            self.assertEqual(fonts.pool("val", "en", "text"), [other])
        fonts.pool.cache_clear()


class Layouts(unittest.TestCase):
    """Every family, with one face and one sentence: no data has to be fetched."""

    def setUp(self):
        faces = [
            fonts.Face("Noto Sans", "text", frozenset(["en"]), "local", None, split)
            for split in ("train", "val")
        ]
        for target, name, value in (
            (fonts, "faces", lambda: faces),
            (figures, "photographs", list),
            (figures, "clip_arts", list),
            (
                text,
                "messages",
                lambda lang: ["A sentence of moderate length for print", "Short term"],
            ),
        ):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        for cached in (
            fonts.pool,
            text.sentences,
            text.terms,
            text.words,
            text.characters,
            text.labels,
        ):
            cached.cache_clear()
            self.addCleanup(cached.cache_clear)

    def compose(self, family, variant, seed=0):
        page = Page(family, variant, "en", f"{seed}")
        return page.html(layouts.FAMILIES[family][0](page))

    def test_every_family_composes_in_every_variant(self):
        for family in layouts.FAMILIES:
            for variant in range(0, VARIANTS, 3):
                with self.subTest(family=family, variant=variant):
                    markup = self.compose(family, variant)
                    self.assertEqual(markup.count('class="page"'), 1)

    def test_the_same_seed_gives_the_same_page(self):
        for family in ("form", "sums", "newspaper", "sudoku", "engraved"):
            first, second = (self.compose(family, 3, "seed") for _ in range(2))
            self.assertEqual(strip_names(first), strip_names(second))
            self.assertNotEqual(strip_names(first), strip_names(self.compose(family, 3, "other")))

    def test_slots_use_known_kinds(self):
        known = {
            "line",
            "blank",
            "box",
            "cell",
            "comb",
            "combrow",
            "check",
            "bubble",
            "area",
            "margin",
            "option",
            "word",
            "sign",
        }
        for family in layouts.FAMILIES:
            for kind, want in press.SLOT_URI.findall(self.compose(family, 1)):
                self.assertIn(kind, known, family)
                self.assertTrue(want, family)


def strip_names(markup):
    """Drop the name of the @page rule, which is the object's own."""
    return markup.split("style=", 1)[1].split(";", 1)[1]


class Printing(unittest.TestCase):
    def test_slot_lies_where_the_blank_is_printed(self):
        section = (
            '<style>@page p{size:100mm 100mm;margin:0}</style><section class="page" '
            'style="page:p;width:100mm;height:99mm"><a class="s" '
            'href="https://slot.invalid/box/word" style="position:absolute;left:20mm;'
            'top:30mm;width:40mm;height:10mm;background:#000"></a></section>'
        )
        with tempfile.TemporaryDirectory() as folder:
            path = press.print_pdf(f"<style>{press.STYLE}</style>{section}", folder)
            with fitz.open(path) as document:
                picture = library.pixels(document[0], 2)
                (slot,) = press.slots_of(document[0], 2, picture)
        self.assertEqual((slot["kind"], slot["want"]), ("box", "word"))
        rows, columns = np.nonzero(picture[..., 0] < 128)
        black = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        self.assertLessEqual(max(abs(a - b) for a, b in zip(black, slot["rect"])), 3)


if __name__ == "__main__":
    unittest.main()
