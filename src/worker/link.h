// SPDX-License-Identifier: Apache-2.0
// Link: sends requests to a server and waits for whatever comes first: an answer, a descriptor of
// somebody else, a call to wake up, or a time. Connections are kept open and used again. Answers
// are bounded in size and time. One thread; only wake() is for any.
#pragma once

#include <poll.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/conversation.h"
#include "worker/server_transfer.h"

namespace holdfast::work {

class Link {
 public:
  struct Done {
    std::uint64_t id;
    base::Result<Answer> answer;
  };

  // kInvalid: as checked_server.
  static base::Result<std::unique_ptr<Link>> to(std::string url, const std::string& token,
                                                ServerTls tls);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void send(Request request);

  // What has ended. `others` are told what happened to them.
  std::vector<Done> wait(std::vector<pollfd>& others, int timeout_ms);
  void wake() noexcept;

 private:
  struct Transfer;
  Link(std::string url, ServerTls tls);
  void take_ended(std::vector<Done>& done);

  const std::string url_;
  const ServerTls tls_;
  void* multi_;  // CURLM
  std::list<Transfer> transfers_;
};

}  // namespace holdfast::work
