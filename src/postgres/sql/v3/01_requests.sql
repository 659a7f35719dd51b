-- SPDX-License-Identifier: Apache-2.0
-- Version 3: requests cost less. PL/pgSQL sets up every expression and statement again in every transaction, and a function
-- that sets search_path costs as much as a statement. So what most requests need is in few expressions, in functions that name
-- everything in full; what other requests need is in functions that only they call.

ALTER TABLE holdfast.inbox ALTER id SET DEFAULT gen_random_uuid(), ALTER created SET DEFAULT clock_timestamp(),
  ALTER due SET DEFAULT clock_timestamp(), ALTER xact SET DEFAULT pg_current_xact_id();

-- holdfast.list reads only open requests.
DROP INDEX holdfast.inbox_of_submitter;
CREATE INDEX inbox_of_submitter ON holdfast.inbox (submitter, created, id) WHERE verb = 'start' AND outcome IS NULL;

-- Whether a value (`given`) is a record of texts, booleans and whole numbers, as a type wants it. False: holdfast.misfit decides.
CREATE FUNCTION holdfast.fits(wanted pg_catalog.jsonb, given pg_catalog.jsonb) RETURNS pg_catalog.bool
LANGUAGE plpgsql STABLE  -- which keeps its plan, as SQL functions do not
AS $$
BEGIN
  RETURN coalesce(wanted OPERATOR(pg_catalog.?) 'record' AND pg_catalog.jsonb_typeof(given) OPERATOR(pg_catalog.=) 'object'
    AND (SELECT pg_catalog.count(*) FROM pg_catalog.jsonb_object_keys(given))
      OPERATOR(pg_catalog.=) (SELECT pg_catalog.count(*) FROM pg_catalog.jsonb_object_keys(wanted OPERATOR(pg_catalog.->) 'record'))
    AND NOT EXISTS (
      SELECT FROM pg_catalog.jsonb_each(wanted OPERATOR(pg_catalog.->) 'record') f
      WHERE NOT coalesce(CASE
        WHEN f.value OPERATOR(pg_catalog.?) 'text'
          THEN pg_catalog.jsonb_typeof(given OPERATOR(pg_catalog.->) f.key) OPERATOR(pg_catalog.=) 'string'
        WHEN f.value OPERATOR(pg_catalog.?) 'bool'
          THEN pg_catalog.jsonb_typeof(given OPERATOR(pg_catalog.->) f.key) OPERATOR(pg_catalog.=) 'boolean'
        WHEN f.value OPERATOR(pg_catalog.?) 'int' OR f.value OPERATOR(pg_catalog.?) 'nat'
          THEN pg_catalog.jsonb_typeof(given OPERATOR(pg_catalog.->) f.key) OPERATOR(pg_catalog.=) 'number'
            AND (given OPERATOR(pg_catalog.->>) f.key) OPERATOR(pg_catalog.~) '^[0-9]{1,18}$'
        END, false)), false);
END $$;

-- Fills and checks every request, whichever way it is inserted. Of the columns with defaults, callers can name only `due`.
CREATE OR REPLACE FUNCTION holdfast.fill_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
  start_world pg_catalog.uuid;
  start_event pg_catalog.text;
  start_key pg_catalog.text;
BEGIN
  NEW.id := pg_catalog.gen_random_uuid();
  -- By oid: a role that is dropped and made again under the same name is another one.
  NEW.submitter := pg_catalog.to_regrole(pg_catalog.quote_ident(current_user));
  IF NEW.verb OPERATOR(pg_catalog.=) 'start' AND NEW.workflow OPERATOR(pg_catalog.<>) 'sys/Flow@1' THEN
    -- A row: the request is in order. Otherwise holdfast.fill_other says why it is not.
    SELECT x.world, x.event, x.key INTO start_world, start_event, start_key
    FROM (
      SELECT w.world, r.event, coalesce(NEW.key, NEW.body OPERATOR(pg_catalog.#>>) r.key_path) AS key, w.key_type IS NULL AS has_no_key,
        pg_catalog.count(*) OVER () AS worlds, holdfast.fits(s.type, NEW.body)
          AND coalesce(NEW.key OPERATOR(pg_catalog.=) (NEW.body OPERATOR(pg_catalog.#>>) r.key_path), true) AS fits
      FROM holdfast.workflows w
        LEFT JOIN LATERAL (
          SELECT o.event, o.key_path FROM holdfast.routes o
          WHERE o.world OPERATOR(pg_catalog.=) w.world AND o.workflow OPERATOR(pg_catalog.=) w.workflow AND o.starts
            AND (NEW.event IS NULL OR o.event OPERATOR(pg_catalog.=) NEW.event)
          ORDER BY o.place LIMIT 1) r ON true
        LEFT JOIN holdfast.schemas s ON s.schema OPERATOR(pg_catalog.=) r.event AND s.world OPERATOR(pg_catalog.=) w.world
      WHERE w.workflow OPERATOR(pg_catalog.=) NEW.workflow AND (NEW.world IS NULL OR w.world OPERATOR(pg_catalog.=) NEW.world)) x
    WHERE x.worlds OPERATOR(pg_catalog.=) 1 AND x.fits AND x.has_no_key OPERATOR(pg_catalog.=) (x.key IS NULL)
      AND pg_catalog.isfinite(NEW.due) AND coalesce(pg_catalog.octet_length(x.key) OPERATOR(pg_catalog.<=) 1000, true)
      AND pg_catalog.octet_length(NEW.body::pg_catalog.text) OPERATOR(pg_catalog.<=) 1048576;
    IF start_world IS NOT NULL THEN
      NEW.world := start_world;
      NEW.event := start_event;
      NEW.key := start_key;
      NEW.due := greatest(NEW.due, NEW.created);
      NEW.target := NULL;
      NEW.reason := NULL;
      RETURN NEW;
    END IF;
  END IF;
  NEW := holdfast.fill_other(NEW);
  RETURN NEW;
END $$;

-- The rest of fill_request.
CREATE FUNCTION holdfast.fill_other(INOUT request holdfast.inbox)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  request.created := clock_timestamp();
  request.xact := pg_current_xact_id();
  IF NOT isfinite(request.due) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'run_at must be finite';
  END IF;
  request.due := greatest(request.due, request.created);
  IF octet_length(request.key) > 1000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the key has more than 1000 bytes';
  END IF;
  IF request.verb = 'start' THEN request := holdfast.fill_start(request);
  ELSIF request.verb = 'send' THEN request := holdfast.fill_send(request);
  ELSIF request.verb IN ('signal', 'cancel') THEN request := holdfast.fill_target(request);
  END IF;
  IF request.verb IN ('start', 'send') THEN request.target := NULL; END IF;
  IF request.verb <> 'cancel' THEN request.reason := NULL; END IF;
  request.outcome := NULL;
  request.detail := NULL;
  request.decided := NULL;
END $$;

-- As before (v1/03_requests.sql says how it works), in two expressions. The parts of a CASE are computed in their order, and only
-- as far as it comes.
CREATE OR REPLACE FUNCTION holdfast.wake_bridge() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
  notifies pg_catalog.bool;
BEGIN
  notifies := CASE
    WHEN pg_catalog.current_setting('holdfast.woken', true) OPERATOR(pg_catalog.=) pg_catalog.pg_current_xact_id()::pg_catalog.text THEN false
    WHEN pg_catalog.current_setting('holdfast.wake', true) OPERATOR(pg_catalog.=) 'off' THEN false
    -- NOTIFY would make it fail. The sweep finds the row after COMMIT PREPARED.
    WHEN pg_catalog.current_query() OPERATOR(pg_catalog.~*) '^\s*prepare\s+transaction' THEN false
    WHEN pg_catalog.set_config('holdfast.woken', pg_catalog.pg_current_xact_id()::pg_catalog.text, true) IS NULL THEN false
    WHEN NOT pg_catalog.pg_try_advisory_xact_lock_shared(pg_catalog.hashtextextended(pg_catalog.concat('holdfast commit ', NEW.world), 0))
      THEN true
    WHEN NOT pg_catalog.pg_try_advisory_lock_shared(pg_catalog.hashtextextended(pg_catalog.concat('holdfast awake ', NEW.world), 0))
      THEN false
    ELSE pg_catalog.pg_advisory_unlock_shared(pg_catalog.hashtextextended(pg_catalog.concat('holdfast awake ', NEW.world), 0)) END;
  IF notifies THEN
    PERFORM pg_catalog.pg_notify(pg_catalog.concat('holdfast_', pg_catalog.replace(NEW.world::pg_catalog.text, '-', '')), '');
  END IF;
  RETURN NULL;
END $$;

-- As before, but for the type of `made`: a type in front of the search_path cannot take its place.
CREATE OR REPLACE FUNCTION holdfast.start(
  workflow text, body jsonb, key text DEFAULT NULL, event text DEFAULT NULL,
  run_at timestamptz DEFAULT now(), world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made pg_catalog.uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, workflow, body, key, event, due, world)
  VALUES ('start', $1, $2, $3, $4, $5, $6) RETURNING id INTO made;
  RETURN made;
END $$;
CREATE OR REPLACE FUNCTION holdfast.send(event text, body jsonb, world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made pg_catalog.uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, event, body, world) VALUES ('send', $1, $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;
CREATE OR REPLACE FUNCTION holdfast.signal(instance uuid, event text, body jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made pg_catalog.uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, target, event, body) VALUES ('signal', $1, $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;
CREATE OR REPLACE FUNCTION holdfast.cancel(instance uuid, reason text DEFAULT '') RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made pg_catalog.uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, target, reason) VALUES ('cancel', $1, $2)
  RETURNING id INTO made;
  RETURN made;
END $$;
CREATE OR REPLACE FUNCTION holdfast.start_flow(flow text, run_at timestamptz DEFAULT now(), world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made pg_catalog.uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, workflow, body, due, world)
  VALUES ('start', 'sys/Flow@1', pg_catalog.jsonb_build_object('flow', holdfast.node($1),
    'path', pg_catalog.current_setting('search_path'),
    'vars', (SELECT coalesce(pg_catalog.jsonb_object_agg(v.name, v.value), '{}') FROM holdfast.variables v)), $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;
