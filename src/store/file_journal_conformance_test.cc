// SPDX-License-Identifier: Apache-2.0
#include "store/testing_conformance.h"

namespace holdfast::store::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(OnSimulatedDisk, JournalConformance, SimWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(OnPosixDisk, JournalConformance, PosixWorld);

}  // namespace holdfast::store::testing
