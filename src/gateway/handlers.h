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
void list_instances(Exchange& exchange);
void get_instance(Exchange& exchange);
void get_state(Exchange& exchange);
void get_why(Exchange& exchange);
void get_timeline(Exchange& exchange);
void stream_instance(Exchange& exchange);

void cancel_instance(Exchange& exchange);
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
