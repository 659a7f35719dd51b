-- SPDX-License-Identifier: Apache-2.0
-- Permissions of version 2. What a role has already stays: to take something back, revoke everything.

DROP FUNCTION holdfast.grant_usage(name, boolean);
CREATE FUNCTION holdfast.grant_usage(
  grantee name, may_send boolean DEFAULT false, may_run_sql boolean DEFAULT false, may_http boolean DEFAULT false) RETURNS void
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
    'misfit', 'check_body', 'fill_start', 'fill_send', 'fill_target', 'fill_flow', 'flatten', 'start', 'start_many', 'signal', 'cancel',
    'status', 'result', 'error', 'await', 'list', 'start_on_insert', 'start_for_row',
    'sql_problem', 'node', 'nodes', 'check_name', 'milliseconds', 'chain', 'sql', 'seq', 'join', 'race', 'named', 'if', 'if_then',
    'if_else', 'if_rows', 'loop', 'break', 'sleep', 'wait_for_signal', 'cron_field', 'next_schedule', 'wait_for_schedule', 'http',
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
  IF may_run_sql OR may_http THEN
    INSERT INTO holdfast.roles AS r (role, secret, may_http)
      VALUES (wanted, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), may_http)
      ON CONFLICT (role) DO UPDATE SET may_http = r.may_http OR excluded.may_http;
  END IF;
  IF may_run_sql THEN PERFORM holdfast.permit_executor(wanted); END IF;
END $$;

CREATE OR REPLACE FUNCTION holdfast.revoke_usage(grantee name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wanted regrole := to_regrole(quote_ident(grantee));
BEGIN
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM %I', grantee);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA holdfast FROM %I', grantee);
  EXECUTE format('REVOKE INSERT (verb, workflow, key, event, body, target, reason, due, world)
    ON holdfast.inbox FROM %I', grantee);
  EXECUTE format('REVOKE SELECT (world, lease_until) ON holdfast.worlds FROM %I', grantee);
  EXECUTE format('REVOKE ALL ON SCHEMA holdfast FROM %I', grantee);
  DELETE FROM holdfast.roles r WHERE r.role = wanted;
  DELETE FROM holdfast.variables v WHERE v.submitter = wanted;
  EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', 'holdfast_' || wanted::oid);
END $$;
