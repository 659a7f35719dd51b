-- SPDX-License-Identifier: Apache-2.0
-- SQL steps, as far as version 3 differs: a statement that surely gives no rows is not tried as a cursor first.

CREATE OR REPLACE FUNCTION holdfast.run_node(flow uuid, node text, path text, query text, proof text) RETURNS json
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
  own regrole := to_regrole(quote_ident(current_user));
  known text := (SELECT r.secret FROM holdfast.roles r WHERE r.role = own);
  item record;
  count bigint := 0;
  bytes bigint := 0;
  columns text := '[]';
  lines text[] := '{}';
  line text;
  message text;
  made json;
BEGIN
  IF known IS NULL OR proof IS DISTINCT FROM encode(sha256(convert_to(known || encode(sha256(convert_to(
      concat_ws(E'\n', flow, node, path, query), 'UTF8')), 'hex'), 'UTF8')), 'hex') THEN
    RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = 'the proof is wrong';
  END IF;
  INSERT INTO holdfast.receipts (submitter, node, flow) VALUES (own, $2, $1) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN (SELECT r.result FROM holdfast.receipts r WHERE r.submitter = own AND r.node = $2);
  END IF;
  PERFORM set_config('holdfast.flow', flow::text, true), set_config('search_path', path, true);
  IF query OPERATOR(pg_catalog.~*) '^\s*(insert|update|delete)\M' AND query OPERATOR(pg_catalog.!~*) 'returning' THEN
    EXECUTE query;
    GET DIAGNOSTICS count = ROW_COUNT;
  ELSE
    BEGIN
      FOR item IN EXECUTE query LOOP
        count := count OPERATOR(pg_catalog.+) 1;
        line := holdfast.row_text(pg_catalog.row_to_json(item));
        IF count OPERATOR(pg_catalog.=) 1 THEN
          columns := (SELECT pg_catalog.json_agg(k)::pg_catalog.text FROM pg_catalog.json_object_keys(pg_catalog.row_to_json(item)) k);
        END IF;
        bytes := bytes OPERATOR(pg_catalog.+) pg_catalog.octet_length(line);
        IF bytes OPERATOR(pg_catalog.>) 524288 OR count OPERATOR(pg_catalog.>) 10000 THEN
          RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the result of the step has more than 10000 rows or 512 KiB';
        END IF;
        lines := pg_catalog.array_append(lines, line);
      END LOOP;
    EXCEPTION WHEN invalid_cursor_definition THEN
      -- The statement gives no rows, or there are several. What failed has changed nothing.
      GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
      IF message OPERATOR(pg_catalog.!~) '^cannot open ' THEN RAISE; END IF;
      EXECUTE query;
      GET DIAGNOSTICS count = ROW_COUNT;
    END;
  END IF;
  -- Deferred triggers and cursors that are left over would run at COMMIT, as another role.
  SET CONSTRAINTS ALL IMMEDIATE;
  EXECUTE 'CLOSE ALL';
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('holdfast.flow', '', true);
  made := ('{"columns":' || coalesce(columns, '[]') || ',"rows":[' || array_to_string(lines, ',') || '],"row_count":' || count || '}')::json;
  UPDATE holdfast.receipts r SET result = made WHERE r.submitter = own AND r.node = $2;
  RETURN made;
END $$;

-- The function that a role makes is of PL/pgSQL now, which keeps its plan. Roles that are enrolled already keep theirs, which does
-- the same.
CREATE OR REPLACE FUNCTION holdfast.enroll() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  place text := 'holdfast_' || to_regrole(quote_ident(current_user))::oid;
  asks regrole := (SELECT e.role FROM holdfast.executor e);
BEGIN
  IF asks IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'no executor role is set',
      HINT = 'holdfast pg install CONN --exec-role ROLE sets it.';
  END IF;
  IF (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'a superuser cannot be enrolled';
  END IF;
  IF NOT EXISTS (SELECT FROM holdfast.roles r) OR to_regnamespace(place) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I may not run SQL steps', current_user),
      HINT = 'holdfast.grant_usage(role, may_run_sql => true) permits it.';
  END IF;
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.run(flow uuid, node text, path text, query text, proof text) RETURNS json
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS ''BEGIN RETURN holdfast.run_node($1, $2, $3, $4, $5); END''', place);
  EXECUTE format('REVOKE ALL ON FUNCTION %I.run(uuid, text, text, text, text) FROM PUBLIC', place);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %I.run(uuid, text, text, text, text) TO %s', place, asks);
END $$;
