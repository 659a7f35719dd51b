-- SPDX-License-Identifier: Apache-2.0
-- Starting flows. A flow is an instance of sys/Flow@1 whose key is the id of its request.

-- The nodes of a flow as a list, each after its parent, the first one is the root. Values of the engine may be
-- nested 64 levels deep, and flows 256. HF004: a limit.
CREATE FUNCTION holdfast.flatten(tree jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  waiting jsonb[] := ARRAY[tree];
  depths integer[] := ARRAY[1];
  made jsonb[] := '{}';
  node jsonb;
  child jsonb;
  children integer[];
  at integer := 1;
  problem text;
BEGIN
  WHILE at <= cardinality(waiting) LOOP
    node := waiting[at];
    IF jsonb_typeof(node) IS DISTINCT FROM 'object' OR jsonb_typeof(node->'kind') IS DISTINCT FROM 'string' THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('node %s of the flow has no kind', at - 1);
    END IF;
    IF NOT node->>'kind' = ANY ('{sql,seq,named,join,race,if,if_rows,loop,break,sleep,schedule,signal,http,retry,timeout,on_error,each}') THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('unknown kind %L of node %s', left(node->>'kind', 64), at - 1);
    END IF;
    IF node->>'kind' = 'sql' THEN
      problem := holdfast.sql_problem(node->>'text');
      IF problem IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = problem, DETAIL = left(node->>'text', 200);
      END IF;
    END IF;
    IF node ? 'children' THEN
      children := '{}';
      FOR child IN SELECT c FROM jsonb_array_elements(node->'children') c LOOP
        IF depths[at] >= 256 THEN
          RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the flow is more than 256 levels deep';
        END IF;
        IF cardinality(waiting) >= 10000 THEN
          RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the flow has more than 10000 nodes';
        END IF;
        children := children || cardinality(waiting);
        waiting := waiting || child;
        depths := depths || depths[at] + 1;
      END LOOP;
      node := jsonb_set(node, '{children}', to_jsonb(children));
    END IF;
    made := made || node;
    waiting[at] := NULL;
    at := at + 1;
  END LOOP;
  RETURN to_jsonb(made);
END $$;

-- Part of fill_start.
CREATE FUNCTION holdfast.fill_flow(INOUT request holdfast.inbox)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  nodes jsonb := holdfast.flatten(request.body->'flow');
  permitted boolean;
BEGIN
  request.event := 'sys/FlowStarted@1';
  request.key := request.id::text;
  request.body := jsonb_build_object('nodes', nodes,
    'path', coalesce(request.body->>'path', ''), 'vars', coalesce(request.body->'vars', '{}'));
  IF octet_length(request.body::text) > 524288 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the flow has more than 512 KiB';
  END IF;
  IF jsonb_path_exists(nodes, '$[*] ? (@.kind == "sql" || @.kind == "schedule")')
     AND to_regprocedure(format('holdfast_%s.run(uuid, text, text, text, text)', request.submitter::oid)) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I is not enrolled for SQL steps', current_user),
      HINT = 'The owner of the schema calls holdfast.grant_usage(role, may_run_sql => true), then the role calls holdfast.enroll().';
  END IF;
  IF jsonb_path_exists(nodes, '$[*] ? (@.kind == "http")') THEN
    SELECT r.may_http INTO permitted FROM holdfast.roles r WHERE r.role = request.submitter;
    IF permitted IS NOT TRUE THEN
      RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I may not use http', current_user),
        HINT = 'holdfast.grant_usage(role, may_http => true) permits it.';
    END IF;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION holdfast.fill_start(INOUT request holdfast.inbox)
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
      HINT = CASE WHEN request.workflow = 'sys/Flow@1' THEN 'No server with --postgres-exec serves this database.'
        ELSE 'SELECT workflow FROM holdfast.workflows lists the published ones.' END;
  END IF;
  IF cardinality(worlds) > 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('workflow %L is published by %s worlds', request.workflow, cardinality(worlds)),
      HINT = 'Name one with world => ...';
  END IF;
  request.world := worlds[1];
  IF request.workflow = 'sys/Flow@1' THEN
    request := holdfast.fill_flow(request);
    RETURN;
  END IF;
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

CREATE OR REPLACE FUNCTION holdfast.fill_target(INOUT request holdfast.inbox)
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
  IF request.workflow = 'sys/Flow@1' THEN
    IF coalesce(request.event, '') = '' OR octet_length(request.event) > 255 THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'the name of a signal has 1 to 255 bytes';
    END IF;
    request.body := coalesce(request.body, 'null');
    IF octet_length(request.body::text) > 262144 THEN
      RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the data of a signal has more than 256 KiB';
    END IF;
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM holdfast.routes r WHERE r.world = request.world
                 AND r.workflow = request.workflow AND r.event = request.event) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = format('workflow %L does not take event %s',
      request.workflow, coalesce(quote_literal(left(request.event, 255)), 'NULL'));
  END IF;
  PERFORM holdfast.check_body(request);
END $$;

-- Starts a flow and returns its id. Variables and search_path are those of now.
CREATE FUNCTION holdfast.start_flow(flow text, run_at timestamptz DEFAULT now(), world uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  made uuid;
BEGIN
  INSERT INTO holdfast.inbox (verb, workflow, body, due, world)
  VALUES ('start', 'sys/Flow@1', pg_catalog.jsonb_build_object('flow', holdfast.node($1),
    'path', pg_catalog.current_setting('search_path'),
    'vars', (SELECT coalesce(pg_catalog.jsonb_object_agg(v.name, v.value), '{}') FROM holdfast.variables v)), $2, $3)
  RETURNING id INTO made;
  RETURN made;
END $$;

-- Variables of the caller, which {name} stands for in the texts of flows.
CREATE FUNCTION holdfast.refuse_in_flow() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF coalesce(current_setting('holdfast.flow', true), '') <> '' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'a step of a flow cannot do this';
  END IF;
END $$;
CREATE FUNCTION holdfast.setvar(name text, value text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.refuse_in_flow();
  IF value IS NULL OR octet_length(value) > 65536 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the value of a variable has 0 to 65536 bytes';
  END IF;
  INSERT INTO holdfast.variables AS v (submitter, name, value)
    VALUES (to_regrole(quote_ident(current_user)), holdfast.check_name($1), $2)
    ON CONFLICT ON CONSTRAINT variables_pkey DO UPDATE SET value = excluded.value;
  RETURN 'OK';
END $$;
CREATE FUNCTION holdfast.getvar(name text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT v.value FROM holdfast.variables v WHERE v.name = $1 $$;
CREATE FUNCTION holdfast.unsetvar(name text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.refuse_in_flow();
  DELETE FROM holdfast.variables v WHERE v.name = $1;
  RETURN 'OK';
END $$;
CREATE FUNCTION holdfast.clearvars() RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.refuse_in_flow();
  DELETE FROM holdfast.variables;
  RETURN 'OK';
END $$;

-- A flow as a tree, one node a line.
CREATE FUNCTION holdfast.draw(nodes jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  WITH RECURSIVE tree(at, depth, place) AS (
    SELECT 0, 0, ARRAY[0]
    UNION ALL
    SELECT c.child::integer, t.depth + 1, t.place || c.number::integer
    FROM tree t, jsonb_array_elements_text($1->t.at->'children') WITH ORDINALITY c(child, number))
  SELECT string_agg(repeat('  ', t.depth) || concat_ws(' ', n->>'kind', n->>'name',
    CASE n->>'kind' WHEN 'break' THEN n->>'value' WHEN 'http' THEN concat_ws(' ', n->'value'->>'method', n->'value'->>'url') END,
    CASE WHEN n ? 'ms' THEN trim_scale((n->>'ms')::numeric / 1000) || ' s' END, CASE WHEN n->>'kind' = 'retry' THEN n->>'count' || ' attempts' END,
    regexp_replace(left(n->>'text', 200), '\s+', ' ', 'g'), n->>'zone'), E'\n' ORDER BY t.place)
  FROM tree t, LATERAL (SELECT $1->t.at) x(n)
$$;
CREATE FUNCTION holdfast.explain(flow text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT holdfast.draw(holdfast.flatten(holdfast.node($1))) $$;
CREATE FUNCTION holdfast.explain(id uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce(holdfast.status(i.id), '') || coalesce(E'\n' || holdfast.draw(i.body->'nodes'), '')
  FROM holdfast.inbox i WHERE i.id = $1 AND i.verb = 'start'
$$;

-- Why a request or instance has not ended, in one sentence; null: there is no such one.
CREATE FUNCTION holdfast.why(id uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE
    WHEN n.ended IS NOT NULL THEN format('It has ended: %s.', n.status)
    WHEN n.id IS NOT NULL AND w.lease_until < clock_timestamp() THEN
      format('It was running when its server was last connected, until %s. No server serves its world now.', w.lease_until)
    WHEN n.id IS NOT NULL THEN
      format('It runs. On the server, holdfast why %s%s names what it waits for.', i.workflow, coalesce('/' || i.key, ''))
    WHEN i.outcome IS NOT NULL THEN format('It was decided: %s.', i.outcome)
    WHEN i.due > clock_timestamp() THEN format('It is to start at %s.', i.due)
    WHEN w.world IS NULL OR w.lease_until < clock_timestamp() THEN
      'No server serves its world: holdfast serve --postgres does.'
    WHEN i.target IS NOT NULL AND EXISTS (SELECT FROM holdfast.inbox s WHERE s.id = i.target AND s.outcome IS NULL) THEN
      'It waits for the start of its instance.'
    ELSE format('It is committed since %s or later, and the server has not decided it yet.', i.created)
  END
  FROM holdfast.inbox i
    LEFT JOIN holdfast.instances n ON n.id = i.id
    LEFT JOIN holdfast.worlds w ON w.world = i.world
  WHERE i.id = $1
$$;

-- Waits for the end of an instance and gives its result. HF006: it failed, was cancelled or was
-- refused. HF007: it has not ended in time.
CREATE OR REPLACE FUNCTION holdfast.await(id uuid, timeout interval DEFAULT '30 seconds') RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  deadline timestamptz := clock_timestamp() + timeout;
  pause double precision := 0.002;
  found_status text;
  made_by xid8;
BEGIN
  PERFORM holdfast.refuse_in_flow();
  IF timeout IS NULL OR timeout <= interval '0' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the timeout must be more than 0';
  END IF;
  LOOP
    found_status := holdfast.status($1);
    IF found_status IS NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = format('no instance %s', coalesce($1::text, 'NULL'));
    END IF;
    IF found_status = 'completed' THEN RETURN holdfast.result($1); END IF;
    IF found_status IN ('failed', 'cancelled', 'refused') THEN
      RAISE EXCEPTION USING ERRCODE = 'HF006', MESSAGE = format('instance %s: %s', $1, found_status),
        DETAIL = coalesce(holdfast.error($1)::text, '');
    END IF;
    IF found_status IN ('accepted', 'ignored') THEN RETURN NULL; END IF;
    SELECT i.xact INTO made_by FROM holdfast.inbox i WHERE i.id = $1;
    IF made_by = pg_current_xact_id_if_assigned() THEN
      RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the start is not committed yet',
        HINT = 'COMMIT first: nothing runs before that.';
    END IF;
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
      RAISE EXCEPTION USING ERRCODE = 'HF004',
        MESSAGE = format('await sees no change at isolation level %s', current_setting('transaction_isolation'));
    END IF;
    IF clock_timestamp() >= deadline THEN
      RAISE EXCEPTION USING ERRCODE = 'HF007', MESSAGE = format('instance %s is %s after %s', $1, found_status, timeout);
    END IF;
    PERFORM pg_sleep(least(pause, greatest(0, extract(epoch FROM deadline - clock_timestamp()))));
    pause := least(pause * 1.5, 0.1);
  END LOOP;
END $$;
