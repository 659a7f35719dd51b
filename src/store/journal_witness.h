// SPDX-License-Identifier: Apache-2.0
// What the other files of a world know about its journal. The index, the seals and the list of
// snapshots are made of durable records only. So a journal that ends before the last record that
// one of them knows has lost acknowledged records.
#pragma once

#include <string>

#include "store/world_folder.h"

namespace holdfast::store {

struct JournalWitness {
  RecordNumber record = 0;  // the last one that was durable for certain; 0: nothing is known
  std::string path;         // of the file that knows it
};

// The witness that knows the latest record. A file that is missing or cannot be read is no witness;
// opening that file reports why. Changes nothing.
JournalWitness newest_witness(const WorldFolder& world);

// What is wrong with a journal that ends with this record; empty: nothing.
std::string describe_lost_records(const WorldFolder& world, RecordNumber last);

}  // namespace holdfast::store
