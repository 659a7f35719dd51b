// SPDX-License-Identifier: Apache-2.0
// The page: static files that are part of the program.
#include "gateway/handlers.h"
#include "page/files.h"

namespace holdfast::gateway {
namespace {

// Nothing from elsewhere, no script or style in the document itself, and no text that becomes
// script.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'";

void answer_file(Exchange& exchange, const page::File& file, std::string_view caching) {
  exchange.cache(caching);
  exchange.add_field("ETag", file.tag);
  exchange.add_field("Vary", "Accept-Encoding");
  exchange.add_field("Content-Security-Policy", kPolicy);
  exchange.add_field("Referrer-Policy", "no-referrer");
  if (exchange.request().field(Field::kIfNoneMatch).find(file.tag) != std::string_view::npos)
    return exchange.answer_text(304, file.type, "");
  const std::string_view codings = exchange.request().field(Field::kAcceptEncoding);
  if (codings.find("gzip") == std::string_view::npos)
    return exchange.answer_text(200, file.type, file.plain);
  exchange.add_field("Content-Encoding", "gzip");
  exchange.answer_text(200, file.type, file.gzip);
}

}  // namespace

void get_page(Exchange& exchange) {
  // It names the other files, so a browser asks each time whether it is still the same.
  answer_file(exchange, *page::find(page::kIndex), "no-cache");
}

void get_page_file(Exchange& exchange) {
  const page::File* const file = page::find(exchange.path_value(0));
  if (file == nullptr || file->name == page::kIndex)
    return exchange.refuse({ProblemCode::kNotFound, "the page has no such file"});
  // Their names change with their content.
  answer_file(exchange, *file, "public, max-age=31536000, immutable");
}

}  // namespace holdfast::gateway
