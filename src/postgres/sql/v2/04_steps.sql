-- SPDX-License-Identifier: Apache-2.0
-- SQL steps. The server asks for them on connections of the executor role, which may only call functions that
-- roles have made by holdfast.enroll(). Such a function runs as its owner (SECURITY DEFINER), and so does everything
-- below it. Neither the role of the bridge nor a superuser ever runs a statement of another role.
--
-- SQLSTATE HF011: the call does not come from the server.

-- A row as JSON. Numbers that 64 bits do not hold exactly are texts with all their digits.
CREATE FUNCTION holdfast.row_text(item json) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT '{' || coalesce(string_agg(to_json(e.key)::text || ':' || CASE
    WHEN json_typeof(e.value) <> 'number' THEN e.value::text
    WHEN e.value::text ~ '^-?[0-9]{1,19}$' AND e.value::text::numeric BETWEEN -9223372036854775808 AND 9223372036854775807
      THEN e.value::text
    ELSE to_json(e.value::text)::text END, ',' ORDER BY e.place), '') || '}'
  FROM (SELECT DISTINCT ON (c.key) c.key, c.value, c.place
        FROM json_each($1) WITH ORDINALITY c(key, value, place) ORDER BY c.key, c.place) e
$$;

-- Runs a statement as the current role, once: statement, result and receipt commit together. Asked for again,
-- the receipt is the answer; while the first call is under way, it is waited for.
CREATE FUNCTION holdfast.run_node(flow uuid, node text, path text, query text, proof text) RETURNS json
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
  BEGIN
    FOR item IN EXECUTE query LOOP
      count := count + 1;
      line := holdfast.row_text(pg_catalog.row_to_json(item));
      IF count = 1 THEN
        columns := (SELECT pg_catalog.json_agg(k)::text FROM pg_catalog.json_object_keys(pg_catalog.row_to_json(item)) k);
      END IF;
      bytes := bytes + pg_catalog.octet_length(line);
      IF bytes > 524288 OR count > 10000 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the result of the step has more than 10000 rows or 512 KiB';
      END IF;
      lines := pg_catalog.array_append(lines, line);
    END LOOP;
  EXCEPTION WHEN invalid_cursor_definition THEN
    -- The statement gives no rows, or there are several. What failed has changed nothing.
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    IF message NOT LIKE 'cannot open %' THEN RAISE; END IF;
    EXECUTE query;
    GET DIAGNOSTICS count = ROW_COUNT;
  END;
  -- Deferred triggers and cursors that are left over would run at COMMIT, as another role.
  SET CONSTRAINTS ALL IMMEDIATE;
  EXECUTE 'CLOSE ALL';
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('holdfast.flow', '', true);
  made := ('{"columns":' || coalesce(columns, '[]') || ',"rows":[' || array_to_string(lines, ',') || '],"row_count":' || count || '}')::json;
  UPDATE holdfast.receipts r SET result = made WHERE r.submitter = own AND r.node = $2;
  RETURN made;
END $$;

-- Makes the function through which the server runs SQL steps as the caller.
CREATE FUNCTION holdfast.enroll() RETURNS void
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
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS ''SELECT holdfast.run_node($1, $2, $3, $4, $5)''', place);
  EXECUTE format('REVOKE ALL ON FUNCTION %I.run(uuid, text, text, text, text) FROM PUBLIC', place);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %I.run(uuid, text, text, text, text) TO %s', place, asks);
END $$;

-- Names the role that asks for SQL steps. For the owner of the schema.
CREATE FUNCTION holdfast.set_exec_role(exec_role name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wanted regrole := to_regrole(quote_ident(exec_role));
BEGIN
  IF wanted IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = format('there is no role %I', exec_role);
  END IF;
  IF (SELECT r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls OR r.rolreplication FROM pg_roles r WHERE r.oid = wanted)
     OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = wanted)
     OR wanted = (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'holdfast') THEN
    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = format('role %I has rights of its own', exec_role),
      HINT = 'The executor role must be a plain LOGIN role that is a member of no other role.';
  END IF;
  INSERT INTO holdfast.executor (role) VALUES (wanted) ON CONFLICT (only_row) DO UPDATE SET role = excluded.role;
  PERFORM holdfast.permit_executor(r.role) FROM holdfast.roles r;
END $$;
CREATE FUNCTION holdfast.permit_executor(of_role regrole) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  asks regrole := (SELECT e.role FROM holdfast.executor e);
BEGIN
  IF asks IS NOT NULL THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', 'holdfast_' || of_role::oid, asks);
  END IF;
END $$;

-- For the server.
CREATE FUNCTION holdfast.role_secret(of_role oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT r.secret FROM holdfast.roles r WHERE r.role = $1 $$;
