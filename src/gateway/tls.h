// SPDX-License-Identifier: Apache-2.0
// What a server needs to speak TLS, made of files. TLS 1.2 with ephemeral keys and authenticated
// encryption, and 1.3.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/result.h"
#include "gateway/server.h"

namespace holdfast::gateway {

// Null: no certificate is named, and the server speaks plain HTTP. kInvalid: what is named is not
// enough. kIo: a file cannot be read, or is not what it should be.
base::Result<std::shared_ptr<boost::asio::ssl::context>> make_tls(const TlsOptions& files);

}  // namespace holdfast::gateway
