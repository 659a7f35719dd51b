-- SPDX-License-Identifier: Apache-2.0
-- Version 2: flows, which are workflows composed in SQL. Their SQL runs as the role that submitted them.

-- The login role that asks for SQL steps. It owns nothing and may only call the functions that roles
-- have made for it with holdfast.enroll().
CREATE TABLE holdfast.executor (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  role regrole NOT NULL
);

-- Roles that may submit SQL steps. The secret is known to the role, to the owner and to the server.
-- It proves that a call comes from the server.
CREATE TABLE holdfast.roles (
  role regrole PRIMARY KEY,
  secret text NOT NULL,
  may_http boolean NOT NULL DEFAULT false
);

-- SQL steps that have committed, with what they came to: a step that is asked for again gets its result.
CREATE TABLE holdfast.receipts (
  submitter regrole NOT NULL,
  node text NOT NULL,
  flow uuid NOT NULL,
  result json,
  created timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (submitter, node)
);
CREATE INDEX receipts_of_flow ON holdfast.receipts (flow);

CREATE TABLE holdfast.variables (
  submitter regrole NOT NULL,
  name text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (submitter, name)
);

ALTER TABLE holdfast.roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE holdfast.receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE holdfast.variables ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON holdfast.roles FOR SELECT
  USING (role = (SELECT to_regrole(quote_ident(current_user))));
CREATE POLICY own_rows ON holdfast.receipts
  USING (submitter = (SELECT to_regrole(quote_ident(current_user))))
  WITH CHECK (submitter = (SELECT to_regrole(quote_ident(current_user))));
CREATE POLICY own_rows ON holdfast.variables
  USING (submitter = (SELECT to_regrole(quote_ident(current_user))))
  WITH CHECK (submitter = (SELECT to_regrole(quote_ident(current_user))));
