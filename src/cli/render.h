// SPDX-License-Identifier: Apache-2.0
// What commands print of the documents of a world, for people. The same for a folder and a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/world_source.h"

namespace holdfast::cli {

void print_json(codec::View document);

// As JSON where that was asked for, otherwise with `print`.
ExitCode print_either(const Where& where, codec::View document, void (*print)(codec::View));

// What a member is; empty, 0 or false where it is not there, or something else.
std::string text_in(codec::View map, std::string_view name);
std::uint64_t number_in(codec::View map, std::string_view name);
bool flag_in(codec::View map, std::string_view name);
std::vector<codec::View> list_in(codec::View map, std::string_view name);

// A value on one line, cut where it is long.
std::string shown(const std::optional<codec::View>& value, std::size_t most = 100);

InstanceId id_in(codec::View row);
std::string status_in(codec::View instance);  // "waiting, paused"
bool is_over(std::string_view status);

void print_instances(codec::View document);
// `reason`: why somebody has ended it; empty: nobody has, or did not say.
void print_instance(codec::View document, const std::string& reason = {}, bool with_code = false);

// Records: number, time, what came, and what it did to whom.
void print_records(const std::vector<codec::View>& records);
std::string record_line(codec::View record);
void print_why(codec::View document);
void print_definitions(codec::View document);
void print_workflows(codec::View document);
void print_proposals(codec::View document);

// cli/render_proposal.cc: one proposal and what its trial has shown; the report alone.
void print_proposal(codec::View proposal);
void print_shadow(codec::View report);

}  // namespace holdfast::cli
