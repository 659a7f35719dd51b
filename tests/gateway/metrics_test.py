#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures: they are true, well-formed, and the dashboard shows no others."""
import json
import re
import unittest

from server import ROOT, TELLER, ServerTest, figure_in, wait_until

ALERTS = (ROOT / "docs" / "grafana" / "alerts.yaml").read_text()
DASHBOARD = json.loads((ROOT / "docs" / "grafana" / "holdfast.json").read_text())
LINE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? ([0-9.e+-]+|\+Inf)$')
ORDER = {"schema": "test/Order@1", "value": {"house": "a", "colour": "red"}}


class Metrics(ServerTest):
    program = TELLER

    def read(self):
        """Every sample, by its name and labels; and the kind of every family."""
        def whole():
            """A busy machine may not have all of them within a second."""
            text = self.metrics()
            parts = ("holdfast_open_effects", "holdfast_disk_free_bytes")
            has_all = all(figure_in(text, name) is not None for name in parts) and "# TYPE holdfast_instances " in text
            return text if has_all else None
        samples, kinds = {}, {}
        for line in wait_until(whole, "some figures are always left out").splitlines():
            if line.startswith("# TYPE "):
                name, kind = line[7:].split(" ")
                self.assertNotIn(name, kinds, "a family is written once")
                kinds[name] = kind
            elif not line.startswith("#"):
                found = LINE.match(line)
                self.assertTrue(found, line)
                labels = tuple(sorted(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', found[2] or "")))
                self.assertNotIn((found[1], labels), samples)
                samples[found[1], labels] = float(found[3])
        return samples, kinds

    def value(self, name, **labels):
        return self.read()[0].get((name, tuple(sorted(labels.items()))), 0)

    def test_they_say_what_happened(self):
        self.start()
        client = self.client()
        client.post("/v1/events", ORDER)
        client.get("/v1/instances/test/House@1/nobody")
        client.get("/nothing")
        client.post("/v1/instances/test/House@1/nobody/cancel", {})
        samples, _ = self.read()

        def value(name, **labels):
            return samples[name, tuple(sorted(labels.items()))]
        paint = {"effect": "test/paint@1", "executor": "outside"}
        self.assertEqual(value("holdfast_open_effects_by_kind", **paint), 1)
        self.assertLess(value("holdfast_oldest_effect_age_seconds", **paint), 60)
        self.assertEqual(value("holdfast_http_requests_total", route="send", status="200"), 1)
        self.assertEqual(value("holdfast_http_requests_total", route="instance", status="404"), 1)
        self.assertEqual(value("holdfast_http_requests_total", route="none", status="404"), 1)
        self.assertEqual(value("holdfast_http_request_seconds_count", route="send"), 1)
        self.assertEqual(value("holdfast_refused_inputs_total", code="not_found"), 1)
        self.assertEqual(value("holdfast_records_total"), value("holdfast_batch_records_sum"))
        self.assertEqual(value("holdfast_syncs_total"), value("holdfast_sync_seconds_count"))
        self.assertGreater(value("holdfast_sync_seconds_sum"), 0)
        self.assertGreater(value("holdfast_disk_free_bytes"), 0)
        self.assertGreater(value("holdfast_disk_journal_bytes"), 0)
        self.assertEqual(value("holdfast_records_behind_snapshot"), value("holdfast_next_record") - 1)
        self.assertEqual(value("holdfast_replay_bound_seconds"), 5)
        self.assertGreater(value("holdfast_replay_seconds"), 0)
        self.assertLess(value("holdfast_replay_seconds"), 5)

    def test_what_is_open_is_counted_after_a_kill_too(self):
        self.start()
        for _ in range(3):
            self.client().post("/v1/events", ORDER)
        self.kill()
        self.start()
        paint = {"effect": "test/paint@1", "executor": "outside"}
        self.assertEqual(self.value("holdfast_open_effects_by_kind", **paint), 3)
        self.assertGreater(self.value("holdfast_recovery_seconds"), 0)
        self.assertLess(abs(self.value("holdfast_clock_ahead_seconds")), 60)
        self.assertGreater(self.value("holdfast_replayed_records"), 0)
        self.client().post("/v1/instances/test/House@1/a/cancel", {})
        self.assertEqual(self.value("holdfast_open_effects_by_kind", **paint), 0)

    def test_histograms_are_whole(self):
        self.start()
        self.client().post("/v1/events", ORDER)
        samples, kinds = self.read()
        for name in [name for name, kind in kinds.items() if kind == "histogram"]:
            series = {}
            for (sample, labels), value in samples.items():
                if sample == name + "_bucket":
                    rest = tuple(label for label in labels if label[0] != "le")
                    bound = float(dict(labels)["le"].replace("+Inf", "inf"))
                    series.setdefault(rest, []).append((bound, value))
            self.assertTrue(series, name)
            for labels, steps in series.items():
                self.assertEqual(steps, sorted(steps), "bounds and counts grow")
                self.assertEqual(steps[-1], (float("inf"), samples[name + "_count", labels]))

    def test_the_dashboard_shows_only_what_is_served_and_all_of_it(self):
        self.start()
        client = self.client()
        client.post("/v1/events", ORDER)
        client.post("/v1/instances/test/House@1/nobody/cancel", {})  # so that something is refused
        _, kinds = self.read()
        shown = set()
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                shown |= set(re.findall(r"holdfast_[a-z_]+", target["expr"]))
        families = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in kinds else name for name in shown}
        self.assertEqual(families - set(kinds), set(), "the dashboard names what is not served")
        self.assertEqual(set(kinds) - families, set(), "what is served is not on the dashboard")

    def test_alert_rules_name_only_what_is_served(self):
        self.start()
        client = self.client()
        client.post("/v1/events", ORDER)
        client.post("/v1/instances/test/House@1/nobody/cancel", {})
        _, kinds = self.read()
        named = set(re.findall(r"holdfast_[a-z_]+", " ".join(re.findall(r"expr: (.*)", ALERTS))))
        self.assertGreater(len(named), 8)
        families = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in kinds else name for name in named}
        self.assertEqual(families - set(kinds), set())

    def test_instances_are_counted_by_workflow_and_status(self):
        self.start()
        self.client().post("/v1/events", ORDER)
        found = wait_until(lambda: [labels for (name, labels) in self.read()[0] if name == "holdfast_instances"])
        self.assertIn("test/House@1", str(found))


if __name__ == "__main__":
    unittest.main()
