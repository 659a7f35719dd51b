-- SPDX-License-Identifier: Apache-2.0
-- Nodes that workers run, and their permission.

ALTER TABLE holdfast.roles ADD may_task boolean NOT NULL DEFAULT false;

-- `spec` is that of a task document: {"taskType": "python", ...}. Its texts are filled when the node begins.
CREATE FUNCTION holdfast.task(spec jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF jsonb_typeof(spec) IS DISTINCT FROM 'object' OR jsonb_typeof(spec->'taskType') IS DISTINCT FROM 'string' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a task is an object with a taskType', DETAIL = left(spec::text, 200);
  END IF;
  IF spec ?| '{stages,graph,foreach,condition}' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a task of a flow is one task, without stages, graph, foreach or condition',
      HINT = 'join, each and if compose several.';
  END IF;
  RETURN jsonb_build_object('kind', 'task', 'value', spec)::text;
END $$;

-- Part of fill_flow, and of functions that explain; they have a search_path.
CREATE OR REPLACE FUNCTION holdfast.flatten(tree jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
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
    IF NOT node->>'kind' = ANY ('{sql,seq,named,join,race,if,if_rows,loop,break,sleep,schedule,signal,http,task,retry,timeout,on_error,each}') THEN
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

-- Part of fill_start, whose search_path it has.
CREATE OR REPLACE FUNCTION holdfast.fill_flow(INOUT request holdfast.inbox)
LANGUAGE plpgsql
AS $$
DECLARE
  nodes jsonb := holdfast.flatten(request.body->'flow');
  kinds jsonb := jsonb_path_query_array(nodes, '$[*].kind');
  missing text;
BEGIN
  request.event := 'sys/FlowStarted@1';
  request.key := request.id::text;
  request.body := jsonb_build_object('nodes', nodes,
    'path', coalesce(request.body->>'path', ''), 'vars', coalesce(request.body->'vars', '{}'));
  IF octet_length(request.body::text) > 524288 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the flow has more than 512 KiB';
  END IF;
  IF kinds ?| '{sql,schedule}'
     AND to_regprocedure(format('holdfast_%s.run(uuid, text, text, text, text)', request.submitter::oid)) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I is not enrolled for SQL steps', current_user),
      HINT = 'The owner of the schema calls holdfast.grant_usage(role, may_run_sql => true), then the role calls holdfast.enroll().';
  END IF;
  IF kinds ?| '{http,task}' THEN
    SELECT w.kind INTO missing FROM unnest('{http,task}'::text[]) w(kind)
      WHERE kinds ? w.kind AND NOT EXISTS (SELECT FROM holdfast.roles r
        WHERE r.role = request.submitter AND CASE w.kind WHEN 'http' THEN r.may_http ELSE r.may_task END) LIMIT 1;
    IF missing IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I may not use %s', current_user, missing),
        HINT = format('holdfast.grant_usage(role, may_%s => true) permits it.', missing);
    END IF;
  END IF;
END $$;

DROP FUNCTION holdfast.grant_usage(name, boolean, boolean, boolean);
CREATE FUNCTION holdfast.grant_usage(
  grantee name, may_send boolean DEFAULT false, may_run_sql boolean DEFAULT false, may_http boolean DEFAULT false,
  may_task boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wanted regrole := to_regrole(quote_ident(grantee));
  place text := 'holdfast_' || wanted::oid;
  callable regprocedure;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA holdfast TO %I', grantee);
  EXECUTE format('GRANT SELECT ON holdfast.workflows, holdfast.routes, holdfast.schemas,
    holdfast.inbox, holdfast.instances, holdfast.executor, holdfast.roles TO %I', grantee);
  EXECUTE format('GRANT INSERT (verb, workflow, key, event, body, target, reason, due, world)
    ON holdfast.inbox TO %I', grantee);
  EXECUTE format('GRANT SELECT (world, lease_until) ON holdfast.worlds TO %I', grantee);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.variables TO %I', grantee);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE ON holdfast.receipts TO %I', grantee);
  FOR callable IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'holdfast'::regnamespace AND p.proname = ANY (ARRAY[
    'misfit', 'fits', 'check_body', 'fill_other', 'fill_start', 'fill_send', 'fill_target', 'fill_flow', 'flatten', 'start', 'start_many',
    'signal', 'cancel', 'status', 'result', 'error', 'await', 'list', 'start_on_insert', 'start_for_row',
    'sql_problem', 'node', 'nodes', 'check_name', 'milliseconds', 'chain', 'sql', 'seq', 'join', 'race', 'named', 'if', 'if_then',
    'if_else', 'if_rows', 'loop', 'break', 'sleep', 'wait_for_signal', 'cron_field', 'next_schedule', 'wait_for_schedule', 'http', 'task',
    'retry', 'timeout', 'on_error', 'each', 'start_flow', 'refuse_in_flow', 'setvar', 'getvar', 'unsetvar', 'clearvars',
    'draw', 'explain', 'why', 'row_text', 'run_node', 'enroll'])
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', callable, grantee);
  END LOOP;
  IF may_send THEN
    EXECUTE format('GRANT EXECUTE ON FUNCTION holdfast.send(text, jsonb, uuid) TO %I', grantee);
  END IF;
  IF may_run_sql THEN
    -- A schema of the role's own: no other role can put a function there.
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', place);
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', place, grantee);
  END IF;
  IF may_run_sql OR may_http OR may_task THEN
    INSERT INTO holdfast.roles AS r (role, secret, may_http, may_task)
      VALUES (wanted, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), may_http, may_task)
      ON CONFLICT (role) DO UPDATE SET may_http = r.may_http OR excluded.may_http, may_task = r.may_task OR excluded.may_task;
  END IF;
  IF may_run_sql THEN PERFORM holdfast.permit_executor(wanted); END IF;
END $$;
