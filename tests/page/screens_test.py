#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every screen and action of the page, in a real browser against a real server with real work."""
import re
import unittest

from browser import PageTest, wait_until

REFUND = "instances/demo%2FRefundCase%401/r-2"
SCREENS = {"": "Workflows", "instances": "r-2", "questions": "decide", "workflows": "demo/Order@1", "definitions": "demo/OrderPlaced@1",
           "journal": "demo/OrderPlaced@1", "engine": "Sync p99", REFUND: "Step decide waits", REFUND + "/history": "receipt",
           REFUND + "/state": "requirements", REFUND + "/graph": "bank.busy", REFUND + "/stream": "give back 99.00"}


class Screens(PageTest):
    def go_through(self, name, **options):
        self.serve_demo()
        browser = self.browser(**options)
        for path, words in SCREENS.items():
            browser.open("about:blank")
            browser.open(self.page(path))
            browser.wait_for_text(words)
            wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.assertLessEqual(wide, 0, f"{path} is wider than the window")
            self.assertEqual(browser.text(".problem"), "", path)
            browser.picture(f"{name}-{path.rsplit('/', 1)[-1] or 'overview'}")
        self.assertEqual(browser.complaints(), [])

    def test_every_screen_shows_what_is_there_in_light_colours(self):
        self.go_through("light")

    def test_every_screen_fits_a_telephone_in_dark_colours(self):
        self.go_through("dark-390", width=390, height=844, dark=True)


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
        browser.click(".bar button", "cancel")
        browser.click("dialog button.primary")
        browser.wait_for_text("1 of 1 done", ".toasts")
        browser.open(self.page(REFUND))
        browser.wait_for_text("cancelled", ".badge")

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

    def test_a_server_with_tokens_asks_for_one(self):
        made = self.run_program("token", "add", "--new", "--world", self.world, "--role", "viewer", "--name", "v")
        token = re.search(r"hf_\S+", made.stdout)[0]
        self.start()
        browser = self.browser()
        browser.open(self.page())
        browser.type("#token", token)
        browser.click("dialog button[type=submit]")
        browser.wait_for_text("Workflows", "h2")


if __name__ == "__main__":
    unittest.main()
