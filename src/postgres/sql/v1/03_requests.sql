-- SPDX-License-Identifier: Apache-2.0
-- Requests: start, send, signal, cancel. Each inserts one row into holdfast.inbox in the
-- transaction of the caller. The functions run with the rights of the caller (SECURITY INVOKER):
-- `current_user` is the submitter, also under SET ROLE and inside a SECURITY DEFINER function of
-- the application.
--
-- SQLSTATEs: HF001 unknown workflow, event or world; HF002 the body or the key does not fit;
-- HF003 no such instance; HF004 a limit; HF005 not permitted.

-- The next four are parts of fill_request below, and have its search_path: to set it again costs more
-- than what they do.
CREATE FUNCTION holdfast.check_body(request holdfast.inbox) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
DECLARE
  problem text;
BEGIN
  IF request.body IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'the body is NULL';
  END IF;
  IF octet_length(request.body::text) > 1048576 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the body has more than 1 MiB';
  END IF;
  SELECT holdfast.misfit(request.world, s.type, request.body, '$') INTO problem
    FROM holdfast.schemas s WHERE s.schema = request.event AND s.world = request.world;
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002',
      MESSAGE = format('the body does not fit %s: %s', request.event, problem);
  END IF;
END $$;

CREATE FUNCTION holdfast.fill_start(INOUT request holdfast.inbox)
LANGUAGE plpgsql
AS $$
DECLARE
  worlds uuid[];
  key_type text;
  route holdfast.routes;
  found_key text;
BEGIN
  SELECT array_agg(w.world), min(w.key_type) INTO worlds, key_type FROM holdfast.workflows w
    WHERE w.workflow = request.workflow AND (request.world IS NULL OR w.world = request.world);
  IF worlds IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('unknown workflow %s', coalesce(quote_literal(left(request.workflow, 255)), 'NULL')),
      HINT = 'SELECT workflow FROM holdfast.workflows lists the published ones.';
  END IF;
  IF cardinality(worlds) > 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('workflow %L is published by %s worlds', request.workflow, cardinality(worlds)),
      HINT = 'Name one with world => ...';
  END IF;
  request.world := worlds[1];
  SELECT r.* INTO route FROM holdfast.routes r
    WHERE r.world = request.world AND r.workflow = request.workflow AND r.starts
      AND (request.event IS NULL OR r.event = request.event)
    ORDER BY r.place LIMIT 1;
  IF route.event IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = format('workflow %L is not started by event %s',
      request.workflow, coalesce(quote_literal(left(request.event, 255)), '(it has none)'));
  END IF;
  request.event := route.event;
  PERFORM holdfast.check_body(request);
  IF key_type IS NULL THEN
    IF request.key IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('workflow %L has no key', request.workflow);
    END IF;
    RETURN;
  END IF;
  found_key := request.body #>> route.key_path;
  IF request.key IS NOT NULL AND found_key IS NOT NULL AND request.key <> found_key THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format(
      'the key is %L, but the body has %L in $.%s', left(request.key, 64), left(found_key, 64),
      array_to_string(route.key_path, '.'));
  END IF;
  request.key := coalesce(request.key, found_key);
  IF request.key IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('workflow %L needs a key', request.workflow);
  END IF;
END $$;

CREATE FUNCTION holdfast.fill_send(INOUT request holdfast.inbox)
LANGUAGE plpgsql
AS $$
DECLARE
  worlds uuid[];
BEGIN
  -- An event reaches every instance that its routes lead to, whoever started it.
  IF NOT has_function_privilege(current_user, 'holdfast.send(text, jsonb, uuid)', 'EXECUTE') THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I may not send events', current_user),
      HINT = 'holdfast.grant_usage(role, may_send => true) permits it.';
  END IF;
  SELECT array_agg(DISTINCT r.world) INTO worlds FROM holdfast.routes r
    WHERE r.event = request.event AND (request.world IS NULL OR r.world = request.world);
  IF worlds IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('no workflow takes event %s', coalesce(quote_literal(left(request.event, 255)), 'NULL'));
  END IF;
  IF cardinality(worlds) > 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('event %L is published by %s worlds', request.event, cardinality(worlds)),
      HINT = 'Name one with world => ...';
  END IF;
  request.world := worlds[1];
  request.workflow := NULL;
  request.key := NULL;
  PERFORM holdfast.check_body(request);
END $$;

-- Signal and cancel: for an instance that the caller started. Row-level security hides all others,
-- so an id of another role is the same as one that does not exist.
CREATE FUNCTION holdfast.fill_target(INOUT request holdfast.inbox)
LANGUAGE plpgsql
AS $$
DECLARE
  start_due timestamptz;
BEGIN
  SELECT i.world, i.workflow, i.key, i.due INTO request.world, request.workflow, request.key, start_due
    FROM holdfast.inbox i WHERE i.id = request.target AND i.verb = 'start';
  IF NOT FOUND THEN
    SELECT n.world, n.workflow, n.key INTO request.world, request.workflow, request.key
      FROM holdfast.instances n WHERE n.id = request.target;
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = format('no instance %s',
        coalesce(request.target::text, 'NULL'));
    END IF;
  END IF;
  IF request.verb = 'cancel' THEN
    IF octet_length(request.reason) > 4096 THEN
      RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the reason has more than 4096 bytes';
    END IF;
    request.event := NULL;
    request.body := NULL;
    RETURN;
  END IF;
  -- A signal for a start that is not due yet waits for it.
  request.due := greatest(request.due, start_due);
  IF NOT EXISTS (SELECT FROM holdfast.routes r WHERE r.world = request.world
                 AND r.workflow = request.workflow AND r.event = request.event) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = format('workflow %L does not take event %s',
      request.workflow, coalesce(quote_literal(left(request.event, 255)), 'NULL'));
  END IF;
  PERFORM holdfast.check_body(request);
END $$;

-- Fills and checks every request, whichever way it is inserted.
CREATE FUNCTION holdfast.fill_request() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.id := gen_random_uuid();
  -- By oid: a role that is dropped and made again under the same name is another one.
  NEW.submitter := to_regrole(quote_ident(current_user));
  NEW.created := clock_timestamp();
  NEW.xact := pg_current_xact_id();
  NEW.outcome := NULL;
  NEW.detail := NULL;
  NEW.decided := NULL;
  IF NOT isfinite(NEW.due) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'run_at must be finite';
  END IF;
  NEW.due := greatest(NEW.due, NEW.created);
  IF octet_length(NEW.key) > 1000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the key has more than 1000 bytes';
  END IF;
  IF NEW.verb = 'start' THEN NEW := holdfast.fill_start(NEW);
  ELSIF NEW.verb = 'send' THEN NEW := holdfast.fill_send(NEW);
  ELSIF NEW.verb IN ('signal', 'cancel') THEN NEW := holdfast.fill_target(NEW);
  END IF;
  IF NEW.verb IN ('start', 'send') THEN NEW.target := NULL; END IF;
  IF NEW.verb <> 'cancel' THEN NEW.reason := NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER fill_request BEFORE INSERT ON holdfast.inbox
  FOR EACH ROW EXECUTE FUNCTION holdfast.fill_request();

-- Wakes the bridge at COMMIT. NOTIFY takes a lock of the whole cluster until the commit is done, so
-- it is sent only if the bridge may be asleep:
--   awake lock    held by the bridge, exclusively, while it reads the inbox again and again;
--   commit lock   held by this transaction, shared, from here until its rows are visible.
-- A bridge that goes to sleep gives up the awake lock, and then takes the commit lock for a moment:
-- if it gets it, all who found it awake are visible to its last read. Locks are only tried, so no
-- role can hold up a commit. A role that holds these locks on purpose delays starts until the next
-- sweep.
--
-- This runs as the role of the COMMIT, which may be another one than the submitter and may lack
-- rights to this schema. It uses only the row and pg_catalog.
CREATE FUNCTION holdfast.wake_bridge() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  awake bigint := hashtextextended('holdfast awake ' || NEW.world, 0);
BEGIN
  IF current_setting('holdfast.woken', true) = pg_current_xact_id()::text
     OR current_setting('holdfast.wake', true) = 'off'
     -- NOTIFY would make it fail. The sweep finds the row after COMMIT PREPARED.
     OR current_query() ~* '^\s*prepare\s+transaction' THEN
    RETURN NULL;
  END IF;
  PERFORM set_config('holdfast.woken', pg_current_xact_id()::text, true);
  IF pg_try_advisory_xact_lock_shared(hashtextextended('holdfast commit ' || NEW.world, 0)) THEN
    IF NOT pg_try_advisory_lock_shared(awake) THEN RETURN NULL; END IF;
    PERFORM pg_advisory_unlock_shared(awake);
  END IF;
  PERFORM pg_notify('holdfast_' || replace(NEW.world::text, '-', ''), '');
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER wake_bridge AFTER INSERT ON holdfast.inbox
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION holdfast.wake_bridge();

-- These name nothing that depends on search_path. In PL/pgSQL their statement is planned once.
CREATE FUNCTION holdfast.start(
  workflow text, body jsonb, key text DEFAULT NULL, event text DEFAULT NULL,
  run_at timestamptz DEFAULT now(), world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, workflow, body, key, event, due, world)
  VALUES ('start', $1, $2, $3, $4, $5, $6) RETURNING id INTO made;
  RETURN made;
END $$;

-- One instance for each body, in their order; the key of each is in its body.
CREATE FUNCTION holdfast.start_many(
  workflow text, bodies jsonb[], event text DEFAULT NULL,
  run_at timestamptz DEFAULT now(), world uuid DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF cardinality(bodies) > 10000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'start_many takes at most 10000 bodies';
  END IF;
  RETURN QUERY
    INSERT INTO holdfast.inbox (verb, workflow, body, event, due, world)
    SELECT 'start', $1, b.body, $3, $4, $5 FROM unnest(bodies) WITH ORDINALITY b(body, place)
    ORDER BY b.place RETURNING id;
END $$;

CREATE FUNCTION holdfast.send(event text, body jsonb, world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, event, body, world) VALUES ('send', $1, $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;

CREATE FUNCTION holdfast.signal(instance uuid, event text, body jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, target, event, body) VALUES ('signal', $1, $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;

CREATE FUNCTION holdfast.cancel(instance uuid, reason text DEFAULT '') RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, target, reason) VALUES ('cancel', $1, $2)
  RETURNING id INTO made;
  RETURN made;
END $$;
