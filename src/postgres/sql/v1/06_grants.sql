-- SPDX-License-Identifier: Apache-2.0
-- Who may use the schema. Nobody but its owner, until grant_usage says so.

-- Gives a role the right to start workflows, and to signal, cancel and see what it started.
-- `may_send`: also events that go to every instance which their routes lead to, of any role.
-- The grants are made by the caller, who must be allowed to make them.
CREATE FUNCTION holdfast.grant_usage(grantee name, may_send boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA holdfast TO %I', grantee);
  EXECUTE format('GRANT SELECT ON holdfast.workflows, holdfast.routes, holdfast.schemas,
    holdfast.inbox, holdfast.instances TO %I', grantee);
  EXECUTE format('GRANT INSERT (verb, workflow, key, event, body, target, reason, due, world)
    ON holdfast.inbox TO %I', grantee);
  EXECUTE format('GRANT EXECUTE ON FUNCTION holdfast.misfit(uuid, jsonb, jsonb, text, integer),
    holdfast.check_body(holdfast.inbox), holdfast.fill_start(holdfast.inbox), holdfast.fill_send(holdfast.inbox), holdfast.fill_target(holdfast.inbox),
    holdfast.start(text, jsonb, text, text, timestamptz, uuid),
    holdfast.start_many(text, jsonb[], text, timestamptz, uuid),
    holdfast.signal(uuid, text, jsonb), holdfast.cancel(uuid, text),
    holdfast.status(uuid), holdfast.result(uuid), holdfast.error(uuid), holdfast.await(uuid, interval),
    holdfast.list(text, text, integer, timestamptz, uuid),
    holdfast.start_on_insert(regclass, text, text[]), holdfast.start_for_row() TO %I', grantee);
  IF may_send THEN
    EXECUTE format('GRANT EXECUTE ON FUNCTION holdfast.send(text, jsonb, uuid) TO %I', grantee);
  END IF;
END $$;

CREATE FUNCTION holdfast.revoke_usage(grantee name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM %I', grantee);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA holdfast FROM %I', grantee);
  EXECUTE format('REVOKE INSERT (verb, workflow, key, event, body, target, reason, due, world)
    ON holdfast.inbox FROM %I', grantee);
  EXECUTE format('REVOKE ALL ON SCHEMA holdfast FROM %I', grantee);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA holdfast FROM PUBLIC;
