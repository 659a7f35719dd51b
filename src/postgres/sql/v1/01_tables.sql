-- SPDX-License-Identifier: Apache-2.0
-- The tables of version 1. They belong to the role that installs them, which is also the role of
-- the bridge. Other roles read and write them only through the grants of holdfast.grant_usage and
-- under row-level security.

CREATE SCHEMA holdfast;
REVOKE ALL ON SCHEMA holdfast FROM PUBLIC;

-- One row. `source` names this installation inside the ids of the events that the bridge sends.
CREATE TABLE holdfast.installation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  source uuid NOT NULL DEFAULT gen_random_uuid(),
  version integer NOT NULL,
  installed timestamptz NOT NULL DEFAULT now(),
  upgraded timestamptz NOT NULL DEFAULT now()
);

-- The worlds that serve this schema. A bridge holds the row of its world by a lease; `epoch` grows
-- with every new holder, and a bridge whose epoch is not the present one writes nothing.
CREATE TABLE holdfast.worlds (
  world uuid PRIMARY KEY,
  attached timestamptz NOT NULL DEFAULT now(),
  holder uuid,
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  holder_pid integer,  -- the backend of the holder, with the time it began; null: it has none of its own
  holder_began timestamptz,
  catalogue jsonb NOT NULL DEFAULT '{}'
);

-- The published catalogue. Callers read it, so that mistakes raise in their own statement.
CREATE TABLE holdfast.workflows (
  world uuid NOT NULL REFERENCES holdfast.worlds ON DELETE CASCADE,
  workflow text NOT NULL,
  key_type text,  -- null: the workflow has one instance and no key
  PRIMARY KEY (workflow, world)
);
CREATE TABLE holdfast.routes (
  world uuid NOT NULL,
  workflow text NOT NULL,
  event text NOT NULL,
  place integer NOT NULL,
  key_path text[],  -- where the event holds the key; null: nowhere
  starts boolean NOT NULL,
  PRIMARY KEY (world, workflow, event),
  FOREIGN KEY (workflow, world) REFERENCES holdfast.workflows ON DELETE CASCADE
);
CREATE INDEX routes_by_event ON holdfast.routes (event, world);
CREATE TABLE holdfast.schemas (
  world uuid NOT NULL REFERENCES holdfast.worlds ON DELETE CASCADE,
  schema text NOT NULL,
  type jsonb NOT NULL,
  PRIMARY KEY (schema, world)
);

-- Requests, one row each, written in the transaction of the caller. A row without an outcome is
-- still to be taken by the bridge. The trigger of 03_requests.sql fills and checks every column, so
-- a row that was inserted directly is as good as one from a function.
CREATE TABLE holdfast.inbox (
  id uuid PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,  -- orders requests; it is no cursor and no identity
  world uuid NOT NULL,
  verb text NOT NULL CHECK (verb IN ('start', 'send', 'signal', 'cancel')),
  workflow text,
  key text,
  event text,
  body jsonb,
  target uuid,  -- signal, cancel: the id of the start
  reason text,  -- cancel
  due timestamptz NOT NULL,
  submitter regrole NOT NULL,  -- which pg_dump writes as a name, and the table keeps as an oid
  created timestamptz NOT NULL,
  xact xid8 NOT NULL,
  outcome text CHECK (outcome IN ('accepted', 'refused', 'cancelled', 'ignored')),
  detail text,  -- why it was refused
  decided timestamptz
);
CREATE INDEX inbox_open ON holdfast.inbox (world, due, seq) WHERE outcome IS NULL;
CREATE INDEX inbox_open_of_target ON holdfast.inbox (target, seq)
  WHERE outcome IS NULL AND target IS NOT NULL;
CREATE INDEX inbox_decided ON holdfast.inbox (decided) WHERE outcome IS NOT NULL;
CREATE INDEX inbox_of_submitter ON holdfast.inbox (submitter, created, id) WHERE verb = 'start';

-- What became of the starts. Only the bridge writes here. A row whose `ended` is set never changes.
CREATE TABLE holdfast.instances (
  id uuid PRIMARY KEY,
  world uuid NOT NULL,
  workflow text NOT NULL,
  key text,
  submitter regrole NOT NULL,
  status text NOT NULL
    CHECK (status IN ('running', 'completed', 'failed', 'cancelled', 'refused')),
  result json,
  error json,
  created timestamptz NOT NULL,
  started timestamptz NOT NULL DEFAULT now(),
  ended timestamptz,
  CHECK ((status = 'running') = (ended IS NULL))
);
CREATE INDEX instances_live ON holdfast.instances (world, id) WHERE ended IS NULL;
CREATE INDEX instances_ended ON holdfast.instances (ended) WHERE ended IS NOT NULL;
CREATE INDEX instances_of_submitter ON holdfast.instances (submitter, created, id);

ALTER TABLE holdfast.inbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE holdfast.instances ENABLE ROW LEVEL SECURITY;
