#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every screen and action of the page, in a real browser against a real server with real work."""
import base64
import gzip
import pathlib
import re
import subprocess
import unittest

from browser import AXE, DOCS_PICTURES, RECORDS, ROOT, PageTest, wait_until

REFUND = "instances/demo%2FRefundCase%401/r-2"
GRAPH = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "nightly"}, "spec": {"taskType": "echo", "graph": {"nodes": [
    {"name": "fetch"}, {"name": "report", "dependsOn": ["fetch"]}, {"name": "mail", "dependsOn": ["report"]}]}}}
LARGEST = "18446744073709551615"
SCHEDULE = {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin", "workflow": "demo/Order@1",
            "input": {"id": "{key}", "sku": "mug", "count": 1, "cents": 5}}
SCREENS = {"": "What everything waits for", "schedules": "Europe/Berlin", "schedules/nightly": "Nothing was due yet", "graphs": "nightly", "graphs/g-1": "fetch", "graphs/g-1/tasks": "report", "batches": "No batch was begun",
           "workers": "No worker has enrolled yet", "effects": "sys/timer.set@1", "instances": "r-2", "questions": "decide", "workflows": "demo/Order@1", "definitions": "demo/OrderPlaced@1",
           "journal": "records 1 to", "engine": "Sync p99", REFUND: "Step decide waits", REFUND + "/history": "receipt",
           REFUND + "/state": "requirements", REFUND + "/graph": "bank.busy", REFUND + "/stream": "give back 99.00", REFUND + "/family": "No other instance started it"}


class Screens(PageTest):
    maxDiff = None

    def go_through(self, name, **options):
        self.serve_demo()
        self.client().post("/v1/graphs", {"id": "g-1", "document": GRAPH})
        self.client().post("/v1/schedules", SCHEDULE)
        browser = self.browser(**options)
        for path, words in SCREENS.items():
            browser.open("about:blank")
            browser.open(self.page(path))
            browser.wait_for_text(words)
            wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.assertLessEqual(wide, 0, f"{path} is wider than the window")
            self.assertEqual(browser.text(".problem"), "", path)
            browser.picture(f"{name}-{path.replace('/', '-') or 'overview'}")
            yield path, browser
        self.assertEqual(browser.complaints(), [], "script errors, or refusals of the content security policy")

    def test_every_screen_fits_a_wide_window_and_a_telephone_in_light_and_dark(self):
        for dark in (False, True):
            for width, height in ((1440, 900), (390, 844)):
                with self.subTest(width=width, dark=dark):
                    for _ in self.go_through(f"{'dark' if dark else 'light'}-{width}", width=width, height=height, dark=dark):
                        pass
                    self.kill()

    def test_axe_core_finds_nothing_serious(self):
        if not AXE:
            self.skipTest("HOLDFAST_AXE does not name axe.min.js of axe-core (npm install axe-core)")
        for dark in (False, True):
            faults = [(path, *fault) for path, browser in self.go_through("axe", dark=dark) for fault in self.faults_of_access(browser)]
            self.assertEqual(faults, [], "dark" if dark else "light")
            self.kill()

    @staticmethod
    def faults_of_access(browser):
        browser.run(pathlib.Path(AXE).read_text())
        found = browser.call("POST", "/execute/async", {"args": [], "script": "const done = arguments[arguments.length - 1];"
                             "axe.run().then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary)])))"})
        return [each for each in found if each[0] in ("serious", "critical")]

    def test_the_page_is_small(self):
        with self.subTest("bundled"):
            files = self.folder / "files"
            subprocess.run([ROOT / "tools" / "bundle_page.py", "--ui", ROOT / "ui", "--out", self.folder / "files.cc", "--files", files], check=True)
            sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in files.iterdir()}
            first = sum(size for name, size in sizes.items() if not name.startswith("part-"))
            self.assertLess(first, 80 * 1024, sizes)
            self.assertLess(sum(sizes.values()), 150 * 1024, sizes)

    def test_every_waiting_instance_shows_its_reason(self):
        self.serve_demo()
        client = self.client()
        for number in range(5):
            client.post("/v1/workflows/demo/RefundCase@1/start", {"input": {"id": f"r-1{number}", "order": "o-1", "cents": 9900}})
        browser = self.browser()
        browser.open(self.page("instances?status=waiting"))
        wait_until(lambda: len(browser.elements("tbody tr")) == 6 and browser.text("tbody").count("Step decide waits for") == 6,
                   lambda: "a row has no reason: " + browser.text("tbody"))
        self.assertEqual(browser.text("header.title .quiet"), "6", "how many there are")
        browser.open(self.page())
        browser.wait_for_text("decide ← demo/RefundDecided@1")
        counted = browser.run("return [...document.querySelectorAll('table.waits tbody td.number')].map(e => Number(e.innerText))")
        wait_until(lambda: sum(browser.run("return [...document.querySelectorAll('table.waits tbody td.number')].map(e => Number(e.innerText))")) == 6, str(counted))

    def test_a_long_history_keeps_few_rows_in_the_document(self):
        self.serve_demo()
        client = self.client()
        count = RECORDS
        for number in range(count):
            client.post("/v1/instances/demo/RefundCase@1/r-2/signal",
                        {"schema": "demo/RefundDecided@1", "value": {"id": "r-2", "by": f"somebody {number}", "approved": True}})
        browser = self.browser()
        browser.open(self.page(REFUND + "/history"))
        browser.wait_for_text("somebody")
        browser.wait_for_text("and more below")

        def at_the_end():
            browser.run("const box = document.querySelector('.virtual'); box.scrollTop = box.scrollHeight")
            return "demo/RefundRequested@1" in browser.text(".virtual")
        wait_until(at_the_end, "the first record does not come")
        self.assertLess(len(browser.elements(".record")), 100)
        self.assertRegex(browser.text(".bar"), rf"{count // 1000} ?\d{{3}} records")
        self.assertEqual(browser.complaints(), [])


    def test_a_large_task_graph_opens_collapsed(self):
        self.serve_demo()
        nodes = [{"name": "plan"}, *({"name": f"fetch-{i}", "dependsOn": ["plan"]} for i in range(400)),
                 {"name": "index", "dependsOn": [f"fetch-{i}" for i in range(400)]}]
        document = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "crawl"}, "spec": {"taskType": "echo", "graph": {"nodes": nodes}}}
        self.assertEqual(self.client().post("/v1/graphs", {"id": "large", "document": document}).status, 201)
        browser = self.browser()
        browser.open(self.page("graphs/large"))
        browser.wait_for_text("400 tasks", ".node.group")
        self.assertEqual(len(browser.elements(".node")), 3, "tasks whose names differ in digits only are one box")
        self.assertEqual(len(browser.elements(".drawing path")), 2)
        browser.click(".node.group", "fetch-#")
        browser.wait_for_text("fetch-0", ".virtual")
        self.assertNotIn("plan", browser.text(".virtual"))
        self.assertEqual(browser.complaints(), [])


class Documentation(PageTest):
    """The pictures of docs/page.md and README.md. HOLDFAST_DOCS_PICTURES=1 takes them again."""
    IMAGES = ROOT / "docs" / "images"

    def take(self, browser, name):
        picture = base64.b64decode(browser.call("GET", "/screenshot"))
        if DOCS_PICTURES:
            self.IMAGES.mkdir(exist_ok=True)
            (self.IMAGES / f"{name}.png").write_bytes(picture)

    def test_every_picture_of_the_page_is_taken_and_shown(self):
        self.start(self.world, "--live", "5", command="dev")
        client = self.client()
        client.post("/v1/graphs", {"id": "g-1", "document": GRAPH})
        client.post("/v1/schedules", SCHEDULE)
        client.post("/v1/schedules/nightly/run", {})
        wait_until(lambda: client.get("/v1/journal?limit=1").json()["last"] > 250, "there is no work")
        wait_until(lambda: client.get("/v1/schedules/nightly").json()["completed"] == 1, "the schedule starts nothing")
        browser = self.browser()
        for name, path, words in (("overview", "", "decide ← demo/RefundDecided@1"), ("instances", "instances", "the order was undone"),
                                  ("timeline", REFUND, "weigh"), ("schedules", "schedules/nightly", "completed"), ("state", REFUND + "/state", "requirements"), ("questions", "questions", "Answer")):
            browser.open("about:blank")
            browser.open(self.page(path))
            browser.wait_for_text(words)
            browser.wait_for_text("live", ".settings")
            self.take(browser, f"page-{name}")
        self.assertEqual(browser.complaints(), [])

    def test_the_documents_show_the_pictures_that_are_there(self):
        there = {path.name for path in self.IMAGES.glob("page-*.png")}
        for page in (ROOT / "docs" / "page.md", ROOT / "README.md"):
            shown = set(re.findall(r"images/(page-[a-z]+\.png)", page.read_text()))
            self.assertTrue(shown, page)
            self.assertLessEqual(shown, there, page)
        self.assertEqual(there, set(re.findall(r"images/(page-[a-z]+\.png)", (ROOT / "docs" / "page.md").read_text())))
        for name in there:
            self.assertLess((self.IMAGES / name).stat().st_size, 200_000, name)


class Actions(PageTest):
    def test_a_question_is_answered_and_its_run_completes(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("questions"))
        browser.click(".card button", "Answer")
        browser.find("dialog[open]")
        browser.click("dialog input[type=checkbox]")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("No run waits for an answer.")
        browser.open(self.page(REFUND))
        browser.wait_for_text("completed", ".badge")
        client = self.client()
        self.assertEqual(client.get("/v1/instances/demo/RefundCase@1/r-2").json()["status"], "completed")
        self.assertEqual(browser.complaints(), [])

    def test_an_instance_is_paused_resumed_and_cancelled(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page(REFUND))
        for action, badge in (("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled")):
            browser.click(".actions button", action)
            browser.type("#act-reason", f"{action} in a test")
            browser.click("dialog button[type=submit]")
            browser.wait_for_text(badge, ".title .badge")
        browser.click(".tabs a", "History")
        browser.wait_for_text("cancel in a test")
        self.assertEqual(browser.complaints(), [])

    def test_an_instance_is_started_with_a_form_and_large_numbers_keep_their_digits(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("workflows"))
        browser.click(".card button", "Start")
        browser.type("dialog #field-\\.id", "from-page")
        browser.type("dialog #field-\\.sku", "mug")
        browser.run("document.querySelector('dialog #field-\\\\.cents').select()")
        browser.type("dialog #field-\\.cents", "18446744073709551615")
        browser.run("document.querySelector('dialog #field-\\\\.count').select()")
        browser.type("dialog #field-\\.count", "1")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("Started", ".toasts")
        browser.open(self.page("instances/demo%2FOrder%401/from-page/history"))
        browser.wait_for_text('"cents":18446744073709551615')
        self.assertEqual(browser.complaints(), [])

    def test_a_refusal_is_shown_with_its_place(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("workflows"))
        browser.click(".card button", "Start")
        browser.type("dialog #field-\\.id", "o-1")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("conflict", "dialog .problem")

    def test_selected_instances_are_cancelled_together(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("instances?status=waiting"))
        browser.click("tbody .tick input")
        browser.wait_for_text("1 selected", ".bar")
        browser.click(".bar button", "cancel")
        browser.wait_for_text("cancel 1", "dialog button[type=submit]")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("1 done of 1", "dialog")
        browser.click("dialog button", "Close")
        browser.open(self.page(REFUND))
        browser.wait_for_text("cancelled", ".badge")

    def test_all_that_match_are_counted_and_then_paused(self):
        self.serve_demo()
        client = self.client()
        for number in range(20):
            client.post("/v1/workflows/demo/RefundCase@1/start", {"input": {"id": f"b-{number}", "order": "o-1", "cents": 9900}})
        wait_until(lambda: client.get("/v1/waits").json()["waiting"] == 21)
        browser = self.browser()
        browser.open(self.page("instances?workflow=demo%2FRefundCase%401&status=waiting"))
        browser.click(".bar button", "pause all")
        browser.wait_for_text("pause 21 instances", "dialog h2")
        self.assertNotIn("paused", {row["paused"] for row in client.get("/v1/instances?limit=100").json()["instances"]})
        browser.wait_for_text("and 11 more", "dialog")
        browser.type("dialog #reason", "a test of many")
        browser.wait_for_text("pause 21", "dialog button[type=submit]")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("21 done of 21", "dialog")
        browser.picture("light-batch")
        browser.open(self.page("batches"))
        browser.wait_for_text("a test of many")
        self.assertEqual(sum(row["paused"] for row in client.get("/v1/instances?limit=100").json()["instances"]), 21)
        self.assertEqual(browser.complaints(), [])

    def test_a_viewer_is_offered_nothing_that_it_may_not_do(self):
        made = self.run_program("token", "add", "--new", "--world", self.world, "--role", "viewer", "--name", "v")
        token = re.search(r"hf_\S+", made.stdout)[0]
        self.start(self.world, command="dev")
        browser = self.browser()
        browser.open(self.page(REFUND))
        browser.type("#token", token)
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("v, viewer", ".settings")
        browser.wait_for_text("copy CLI", ".actions")
        for path, css in ((REFUND, ".actions"), ("instances?status=waiting", "main"), ("questions", "main"), ("workflows", "main")):
            browser.open(self.page(path))
            browser.wait_for_text("demo/")
            for word in ("signal", "cancel", "pause", "Answer", "Start"):
                self.assertNotIn(word, [text.strip() for text in browser.text(css + " button").split("\n")], path)

    def test_the_largest_number_survives_a_signal_and_a_copy(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page(REFUND))
        browser.click(".actions button", "signal")
        browser.run("const s = document.querySelector('#event-schema'); s.value = 'demo/RefundRequested@1'; s.dispatchEvent(new Event('change', {bubbles: true}))")
        browser.find("dialog #field-\\.cents")
        browser.run("document.querySelector('dialog #field-\\\\.cents').select()")
        browser.type("dialog #field-\\.cents", LARGEST)
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("was sent", ".toasts")
        browser.open(self.page(REFUND + "/history"))
        browser.wait_for_text('"cents":' + LARGEST)
        client = self.client()
        self.assertEqual(client.post("/v1/workflows/demo/Order@1/start", {"input": {"id": "large", "sku": "mug", "count": 1, "cents": int(LARGEST)}, "wait": True}).status, 200)
        browser.open(self.page("instances/demo%2FOrder%401/large"))
        browser.click(".actions button", "start like this")
        wait_until(lambda: browser.run("return document.querySelector('dialog #field-\\\\.cents')?.value") == LARGEST, "the form has lost digits")
        browser.run("document.querySelector('dialog #field-\\\\.id').select()")
        browser.type("dialog #field-\\.id", "large-again")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("Started", ".toasts")
        self.assertIn('"cents":' + LARGEST, client.get("/v1/instances/demo/Order@1/large-again/timeline").body.decode())

    def test_keys_lead_to_screens_and_instances(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page())
        browser.wait_for_text("Overview", "h1")
        browser.press("g", "i")
        browser.wait_for_text("Instances", "h1")
        browser.find("[data-row]")
        browser.press("j", "j", "\ue007")
        browser.find(".tabs")
        browser.press(("\ue009", "k"))
        browser.type("dialog input", "o-3")
        browser.press("\ue007")
        browser.wait_for_text("o-3", "h1")
        browser.press("?")
        browser.wait_for_text("Keys", "dialog")


    def test_every_action_of_an_instance_works_with_the_keyboard_alone(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page(REFUND))
        browser.find(".actions button", "pause")
        for action, badge in (("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled")):
            wait_until(lambda: self.focus_by_tab(browser, action), f"Tab does not lead to {action}")
            browser.press("\ue007")
            browser.find("dialog #act-reason")
            wait_until(lambda: self.focus_by_tab(browser, "", "act-reason"), "Tab does not lead to the reason")
            browser.press(*"tired", "\ue007")
            browser.wait_for_text(badge, ".title .badge")
        browser.press("?")
        browser.find("dialog[open]")
        browser.press("\ue00c")
        wait_until(lambda: not browser.elements("dialog[open]"), "Escape does not close the dialog")

    @staticmethod
    def focus_by_tab(browser, words, name=""):
        """Whether Tab comes to the element with these words, or this id."""
        for _ in range(60):
            here = browser.run("const e = document.activeElement; return [e.innerText ?? '', e.id]")
            if here[1] == name if name else here[0].strip() == words:
                return True
            browser.press("\ue004")
        return False

    def test_a_schedule_is_added_run_paused_and_removed(self):
        self.serve_demo()
        client = self.client()
        browser = self.browser()
        browser.open(self.page("schedules"))
        browser.click("header button", "New schedule")
        browser.type("#schedule-name", "at-night")
        browser.wait_for_text("Next: ", "dialog .preview")
        browser.run("document.querySelector('#schedule-cron').select()")
        browser.type("#schedule-cron", "61 * * * *")
        browser.wait_for_text("'61' is not a good minute", "dialog .preview")
        browser.run("document.querySelector('#schedule-cron').select()")
        browser.type("#schedule-cron", "30 2 * * *")
        browser.wait_for_text("Next: ", "dialog .preview")
        browser.type("#field-\\.sku", "mug")
        browser.run("document.querySelector('#field-\\\\.count').select()")
        browser.type("#field-\\.count", "1")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("at-night", "h1")
        browser.picture("light-schedule")
        self.assertEqual(client.get("/v1/schedules/at-night").json()["cron"], "30 2 * * *")
        browser.click(".actions button", "run now")
        browser.wait_for_text("completed", "tbody .badge")
        browser.click(".actions button", "pause")
        browser.wait_for_text("paused", ".title .badge")
        browser.click(".actions button", "resume")
        browser.wait_for_text("active", ".title .badge")
        browser.click(".actions button", "remove")
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("Nothing is scheduled.")
        self.assertEqual(client.get("/v1/schedules/at-night").status, 404)
        self.assertEqual([each for each in browser.complaints() if "v1/schedules/preview" not in each], [], "but for the refusal above")

    def test_a_family_is_shown_from_both_sides(self):
        self.serve_demo()
        client = self.client()
        client.post("/v1/schedules", SCHEDULE)
        client.post("/v1/schedules/nightly/run", {})
        key = wait_until(lambda: (shown := client.get("/v1/schedules/nightly").json())["completed"] == 1 and shown["recent"][-1]["key"])
        browser = self.browser()
        browser.open(self.page("instances/sys%2FSchedule%401/nightly/family"))
        browser.wait_for_text(key, "tbody")
        browser.wait_for_text("ok", "tbody .badge")
        browser.click("tbody a")
        browser.wait_for_text(key, "h1")
        browser.click(".tabs a", "Family")
        browser.wait_for_text("Started by nightly", "main")
        self.assertEqual(browser.complaints(), [])

    def test_a_proposal_is_tried_and_the_report_is_a_difference(self):
        self.serve_demo()
        client = self.client()
        definitions = client.get("/v1/manifest").json()["definitions"]
        self.assertIn(client.post("/v1/proposals", {"definitions": definitions, "description": "the same again"}).status, (200, 201))
        browser = self.browser()
        browser.open(self.page("definitions"))
        browser.wait_for_text("the same again")
        browser.click(".card button", "shadow")
        browser.wait_for_text("no difference", ".trial")
        browser.wait_for_text("demo/charge@1", ".trial")
        browser.picture("light-trial")
        self.assertEqual(browser.complaints(), [])

    def test_failed_attempts_are_shown_with_code_and_message(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page(REFUND))
        browser.wait_for_text("bank.busy ask again in a moment", ".attempts")
        browser.wait_for_text("bank.busy", ".waterfall .bad")
        browser.wait_for_text("check, attempt 2", ".waterfall")
        browser.click(".tabs a", "Stream")
        browser.wait_for_text("bank.busy ask again in a moment", ".entries")

    def test_a_view_is_saved_and_a_group_of_waits_leads_to_its_instances(self):
        self.serve_demo()
        client = self.client()
        for number in range(3):
            client.post("/v1/workflows/demo/RefundCase@1/start", {"input": {"id": f"later-{number}", "order": "sunday", "cents": 100}})
        wait_until(lambda: any(group["kind"] == "retry" and group["count"] == 3 for group in client.get("/v1/waits").json()["groups"]))
        browser = self.browser()
        browser.open(self.page())
        browser.click("table.waits td.number a", "3")
        browser.wait_for_text("later-2", "tbody")
        self.assertEqual(len(browser.elements("tbody tr")), 3)
        browser.click(".views button", "Save view")
        browser.type("#view-name", "closed banks")
        browser.click("dialog button[type=submit]")
        browser.open(self.page("instances"))
        browser.wait_for_text("r-2", "tbody")
        browser.click(".views a", "closed banks")
        wait_until(lambda: len(browser.elements("tbody tr")) == 3, "the view is not the one that was saved")
        browser.click(".views .own button")
        wait_until(lambda: not browser.elements(".views .own"), "the view is not removed")
        browser.open(self.page("instances?key=later-1"))
        wait_until(lambda: len(browser.elements("tbody tr")) == 1, "a key that begins so is not found")
        self.assertEqual(browser.complaints(), [])

    def test_a_telephone_has_a_menu(self):
        self.serve_demo()
        browser = self.browser(width=390, height=844)
        browser.open(self.page())
        browser.click("button.menu")
        browser.click("aside nav a", "Schedules")
        browser.wait_for_text("Schedules", "h1")
        self.assertEqual(browser.run("return document.querySelector('button.menu').getAttribute('aria-expanded')"), "false")


class Restart(PageTest):
    def test_the_page_finds_the_server_again_after_it_was_killed(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("instances"))
        browser.wait_for_text("r-2")
        port = self.port
        self.kill()
        browser.wait_for_text("No connection.")
        self.start(self.world, "--listen", f"127.0.0.1:{port}", command="dev")
        wait_until(lambda: "No connection." not in browser.text(), "the page does not notice that the server is back")
        browser.wait_for_text("r-2")

    def test_the_page_kills_the_server_and_proves_that_nothing_was_lost(self):
        self.start(self.world, "--live", "10", "--supervise", command="dev")
        browser = self.browser()
        browser.open(self.page())
        browser.wait_for_text("demo/Order@1")
        browser.click(".settings button", "Kill -9")
        browser.click("dialog button", "Kill it")
        browser.wait_for_text("0 lost, 0 counted twice.", ".report.good")
        browser.wait_for_text("the counters say the same", ".report.good")
        browser.picture("light-killed")
        browser.wait_for_text("live", ".settings")
        before = self.client().get("/v1/journal?limit=1").json()["last"]
        wait_until(lambda: self.client().get("/v1/journal?limit=1").json()["last"] > before, "the work does not go on")

    def test_ten_tabs_share_one_stream_and_all_of_them_see_a_change(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("instances"))
        tabs = [browser.call("GET", "/window")]
        for _ in range(9):
            tabs.append(browser.call("POST", "/window/new", {"type": "tab"})["handle"])
            browser.call("POST", "/window", {"handle": tabs[-1]})
            browser.open(self.page("instances"))
            browser.wait_for_text("live", ".settings")
            browser.wait_for_text("r-2")
        self.assertEqual(self.figure("holdfast_http_streams"), 1)
        self.assertEqual(self.client().post("/v1/instances/demo/RefundCase@1/r-2/cancel", {"reason": "now"}).status, 200)
        for tab in tabs:
            browser.call("POST", "/window", {"handle": tab})
            browser.wait_for_text("cancelled", "tbody .badge")
        # The one that reads the stream is closed: another takes its place.
        browser.call("POST", "/window", {"handle": tabs[0]})
        browser.call("DELETE", "/window")
        browser.call("POST", "/window", {"handle": tabs[1]})
        wait_until(lambda: self.figure("holdfast_http_streams") == 1 and "live" in browser.text(".settings"), "no other tab reads the stream")

    def test_a_change_is_shown_without_asking_by_the_clock(self):
        self.serve_demo()
        browser = self.browser()
        browser.open(self.page("instances"))
        browser.wait_for_text("live", ".settings")
        browser.wait_for_text("r-2")
        asked = lambda: browser.run("return performance.getEntriesByType('resource').filter(e => e.name.includes('v1/instances')).length")
        before = wait_until(asked)
        self.assertEqual(self.client().post("/v1/instances/demo/RefundCase@1/r-2/cancel", {"reason": "now"}).status, 200)
        browser.wait_for_text("cancelled", "tbody .badge")
        self.assertGreater(asked(), before)

    def test_a_server_with_tokens_asks_for_one(self):
        made = self.run_program("token", "add", "--new", "--world", self.world, "--role", "viewer", "--name", "v")
        token = re.search(r"hf_\S+", made.stdout)[0]
        self.start()
        browser = self.browser()
        browser.open(self.page())
        browser.type("#token", token)
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("What everything waits for", "h2")


if __name__ == "__main__":
    unittest.main()
