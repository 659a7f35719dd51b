// SPDX-License-Identifier: Apache-2.0
// How clients of ours talk to a server: which addresses they take, and the options that every
// transfer has. Certificates are verified, redirects not followed, proxies and passwords of the
// user's own settings not used. A token is never sent in the clear to another machine.
#pragma once

#include <memory>
#include <string>

#include "base/check.h"
#include "base/result.h"

using CURL = void;
struct curl_slist;

namespace holdfast::work {

// PEM files; empty: those of the system, and nothing that the server could know us by.
struct ServerTls {
  std::string authorities;
  std::string certificate;
  std::string key;
};

// The address without a slash at the end. kInvalid: it is not the address of a server, or the token
// would be sent in the clear. libcurl is ready to be used when this returns.
base::Result<std::string> checked_server(std::string url, const std::string& token);

// Sets the options. What is given must outlive the transfer.
void prepare_transfer(CURL* easy, const std::string& url, const ServerTls& tls);

// The error of a transfer that failed with this CURLcode. kIo: trying again is useless, as with a
// certificate that is not good; kUnavailable otherwise.
base::Error transfer_error(int code, const char* detail, const std::string& url);

struct FreeEasy {
  void operator()(CURL* easy) const noexcept;
};
struct FreeList {
  void operator()(curl_slist* list) const noexcept;
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

Easy make_easy();
void add_header(HeaderList& list, const std::string& field);

}  // namespace holdfast::work
