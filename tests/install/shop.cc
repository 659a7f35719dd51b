// SPDX-License-Identifier: Apache-2.0
#include "every_header.h"

int main(int argc, char** argv) { return holdfast::main(argc, argv, {}); }
