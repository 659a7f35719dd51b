// SPDX-License-Identifier: Apache-2.0
// Who answers which route; the table is in gateway/routes.cc.
#pragma once

#include "gateway/exchange.h"

namespace holdfast::gateway {

void get_page(Exchange& exchange);
void get_page_file(Exchange& exchange);
void get_health(Exchange& exchange);
void get_ready(Exchange& exchange);
void get_openapi(Exchange& exchange);
void get_metrics(Exchange& exchange);
void get_limits(Exchange& exchange);

void post_event(Exchange& exchange);
void start_instance(Exchange& exchange);

void get_overview(Exchange& exchange);
void get_waits(Exchange& exchange);
void watch_world(Exchange& exchange);
void get_me(Exchange& exchange);
void kill_server(Exchange& exchange);

void post_batch(Exchange& exchange);
void list_batches(Exchange& exchange);
void get_batch(Exchange& exchange);
void abort_batch(Exchange& exchange);

void list_instances(Exchange& exchange);
void get_instance(Exchange& exchange);
void get_state(Exchange& exchange);
void get_why(Exchange& exchange);
void get_timeline(Exchange& exchange);
void stream_instance(Exchange& exchange);

void cancel_instance(Exchange& exchange);
void retry_instance(Exchange& exchange);
void restart_instance(Exchange& exchange);
void migrate_instances(Exchange& exchange);
void pause_instance(Exchange& exchange);
void resume_instance(Exchange& exchange);
void signal_instance(Exchange& exchange);

void list_workflows(Exchange& exchange);
void get_workflow_graph(Exchange& exchange);
void get_instance_graph(Exchange& exchange);

void post_receipt(Exchange& exchange);
void post_progress(Exchange& exchange);
void get_effect(Exchange& exchange);
void list_effects(Exchange& exchange);

void enrol_worker(Exchange& exchange);
void begin_worker_session(Exchange& exchange);
void sync_worker(Exchange& exchange);
void leave_worker(Exchange& exchange);
void list_workers(Exchange& exchange);
void get_worker(Exchange& exchange);
void drain_worker(Exchange& exchange);
void cordon_worker(Exchange& exchange);
void uncordon_worker(Exchange& exchange);
void get_task_logs(Exchange& exchange);
void get_task_result(Exchange& exchange);

// event_cursors.cc
void list_cursors(Exchange& exchange);
void create_cursor(Exchange& exchange);
void get_cursor(Exchange& exchange);
void remove_cursor(Exchange& exchange);
void read_cursor(Exchange& exchange);
void acknowledge_event(Exchange& exchange);
void reject_event(Exchange& exchange);
void list_quarantine(Exchange& exchange);
void replay_event(Exchange& exchange);
void reset_cursor(Exchange& exchange);

void post_graph(Exchange& exchange);
void list_graphs(Exchange& exchange);
void get_graph(Exchange& exchange);
void list_tasks(Exchange& exchange);
void cancel_graph(Exchange& exchange);
void cancel_task(Exchange& exchange);
void rerun_graph(Exchange& exchange);

void post_schedule(Exchange& exchange);
void list_schedules(Exchange& exchange);
void get_schedule(Exchange& exchange);
void pause_schedule(Exchange& exchange);
void resume_schedule(Exchange& exchange);
void run_schedule(Exchange& exchange);
void remove_schedule(Exchange& exchange);
void preview_schedule(Exchange& exchange);

void get_journal(Exchange& exchange);
void take_snapshot(Exchange& exchange);
void make_backup(Exchange& exchange);
void list_backups(Exchange& exchange);
void get_manifest(Exchange& exchange);

void post_manifest(Exchange& exchange);
void get_proposals(Exchange& exchange);
void post_proposal(Exchange& exchange);
void try_proposal(Exchange& exchange);
void approve_proposal(Exchange& exchange);
void reject_proposal(Exchange& exchange);
void apply_proposal(Exchange& exchange);

}  // namespace holdfast::gateway
