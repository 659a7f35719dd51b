// SPDX-License-Identifier: Apache-2.0
// The requests of workers: enrolment, session, sync and leave (docs/worker-protocol.md).
#include <utility>

#include "codec/cbor_writer.h"
#include "gateway/body.h"
#include "gateway/desk_of.h"
#include "gateway/handlers.h"
#include "gateway/media.h"
#include "gateway/worker_bodies.h"

namespace holdfast::gateway {
namespace {

using workers::Refused;

// True: it is answered already.
bool refuse_if(Exchange& exchange, Refused refused) {
  switch (refused) {
    case Refused::kNo: return false;
    case Refused::kUnknown:
      exchange.refuse({ProblemCode::kNotFound, "no such worker; enrol first"});
      return true;
    case Refused::kNameTaken:
      exchange.refuse({ProblemCode::kNameTaken, "another live worker has this node and name"});
      return true;
    case Refused::kSession:
      exchange.refuse({ProblemCode::kSession, "begin a session, then sync"});
      return true;
    case Refused::kSuperseded: break;
  }
  exchange.refuse({ProblemCode::kSuperseded, "another process of this worker is active"});
  return true;
}

// The body as one value, read by `read`. Nothing: it is answered already.
template <class T>
std::optional<T> read_request(Exchange& exchange, base::Result<T> (*read)(codec::View)) {
  const auto form = form_of(exchange.request());
  if (!form) {
    exchange.refuse({ProblemCode::kMediaType, "application/json or application/cbor"});
    return std::nullopt;
  }
  const auto value = normalise(exchange.service().normaliser, codec::Schema::any(),
                               {*form, exchange.request().body});
  if (!value) {
    refuse_body(exchange, value.error());
    return std::nullopt;
  }
  auto request = read(codec::View::of(*value));
  if (request) return std::move(*request);
  const bool is_large = request.error().code() == base::ErrorCode::kTooLarge;
  exchange.refuse(
      problem_of(request.error(), "$", is_large ? ProblemCode::kTooLarge : ProblemCode::kBadBody));
  return std::nullopt;
}

}  // namespace

void enrol_worker(Exchange& exchange) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  const auto request = read_request(exchange, read_enrolment);
  if (!request) return;
  desk->enrol(*request, exchange.later<workers::EnrolAnswer>(
                            [desk](Exchange& self, const Result<workers::EnrolAnswer>& answer) {
                              if (!answer) return self.refuse(answer.error());
                              if (refuse_if(self, answer->refused)) return;
                              put_enrolled(self.document(), *answer, *desk);
                              self.answer(answer->is_new ? 201 : 200);
                            }));
}

void begin_worker_session(Exchange& exchange) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  auto request = read_request(exchange, read_session);
  if (!request) return;
  request->worker = exchange.path_value(0);
  desk->begin_session(std::move(*request),
                      exchange.later<workers::SessionAnswer>(
                          [desk](Exchange& self, const Result<workers::SessionAnswer>& answer) {
                            if (!answer) return self.refuse(answer.error());
                            if (refuse_if(self, answer->refused)) return;
                            put_session(self.document(), *answer, *desk);
                            self.answer(200);
                          }));
}

void sync_worker(Exchange& exchange) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  auto request = read_request(exchange, read_sync);
  if (!request) return;
  request->worker = exchange.path_value(0);
  if (exchange.service().is_stopping) request->wait_ms = 0;
  exchange.if_let_go(desk->sync(std::move(*request),
                                exchange.later<workers::SyncAnswer>(
                                    [](Exchange& self, const Result<workers::SyncAnswer>& answer) {
                                      if (!answer) return self.refuse(answer.error());
                                      if (refuse_if(self, answer->refused)) return;
                                      put_sync(self.document(), *answer);
                                      self.answer(200);
                                    })));
}

void leave_worker(Exchange& exchange) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  auto request = read_request(exchange, read_leave);
  if (!request) return;
  request->worker = exchange.path_value(0);
  desk->leave(*request, exchange.later<workers::LeaveAnswer>(
                            [](Exchange& self, const Result<workers::LeaveAnswer>& answer) {
                              if (!answer) return self.refuse(answer.error());
                              if (refuse_if(self, answer->refused)) return;
                              codec::write_map_head(self.document(), 0);
                              self.answer(200);
                            }));
}

}  // namespace holdfast::gateway
