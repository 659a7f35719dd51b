-- SPDX-License-Identifier: Apache-2.0
-- Functions and operators that compose flows. They are pure: a flow is a text with a JSON object in
-- it, and a text that is no JSON object is a SQL statement. PostgreSQL gives all these operators one
-- precedence, left-associative; a prefix operator binds more tightly.

-- Why a statement cannot be a step; null: it may be one.
CREATE FUNCTION holdfast.sql_problem(statement text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  bare text := regexp_replace(statement, '^(\s|--[^\n]*(\n|$)|/\*([^*]|\*[^/])*\*/)+', '');
BEGIN
  IF bare IS NULL OR bare = '' THEN RETURN 'the statement is empty'; END IF;
  IF bare = 'OK' THEN RETURN 'the answer of setvar is no statement'; END IF;
  IF bare ~* '^(begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\M' THEN
    RETURN 'a step is a transaction of its own, and cannot control it';
  END IF;
  IF bare ~* '^(vacuum|cluster|(create|drop)\s+(database|tablespace)|alter\s+system|checkpoint|load)\M'
     OR bare ~* '^(create|drop|reindex|refresh|alter|detach)\M.*\mconcurrently\M' THEN
    RETURN format('%s cannot run inside of a transaction', upper(substring(bare FROM '^\w+')));
  END IF;
  IF bare ~* '^copy\M.*\m(stdin|stdout)\M' THEN RETURN 'COPY with a client is not possible in a step'; END IF;
  RETURN NULL;
END $$;

-- An operand as a node.
CREATE FUNCTION holdfast.node(operand text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  made jsonb;
  problem text;
BEGIN
  IF operand IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a part of the flow is NULL';
  END IF;
  IF operand ~ '^\s*\{' THEN
    BEGIN
      made := operand::jsonb;
    EXCEPTION WHEN invalid_text_representation THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a part of the flow is neither a flow nor SQL', DETAIL = left(operand, 200);
    END;
    IF jsonb_typeof(made->'kind') IS DISTINCT FROM 'string' THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a part of the flow has no kind', DETAIL = left(operand, 200);
    END IF;
    RETURN made;
  END IF;
  problem := holdfast.sql_problem(operand);
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = problem, DETAIL = left(operand, 200);
  END IF;
  RETURN jsonb_build_object('kind', 'sql', 'text', operand);
END $$;

CREATE FUNCTION holdfast.nodes(VARIADIC operands text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF coalesce(cardinality(operands), 0) = 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'a flow needs at least one part';
  END IF;
  RETURN (SELECT jsonb_agg(holdfast.node(o.part) ORDER BY o.place) FROM unnest(operands) WITH ORDINALITY o(part, place));
END $$;

CREATE FUNCTION holdfast.check_name(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF name IS NULL OR name !~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('expected a name of letters, digits and "_", got %s',
      coalesce(quote_literal(left(name, 64)), 'NULL'));
  END IF;
  RETURN name;
END $$;

CREATE FUNCTION holdfast.milliseconds(seconds numeric, lowest numeric) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF seconds IS NULL OR seconds = 'NaN' OR seconds < lowest OR seconds > 3153600000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('expected seconds from %s to 3153600000, got %s', lowest, coalesce(seconds::text, 'NULL'));
  END IF;
  RETURN ceil(seconds * 1000);
END $$;

CREATE FUNCTION holdfast.sql(statement text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem text := holdfast.sql_problem(statement);
BEGIN
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = problem, DETAIL = left(statement, 200);
  END IF;
  RETURN jsonb_build_object('kind', 'sql', 'text', statement)::text;
END $$;

-- Of two parts whose first is of the same kind already, one node: the chain is no nesting.
CREATE FUNCTION holdfast.chain(of_kind text, a text, b text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first jsonb := holdfast.node(a);
BEGIN
  IF first->>'kind' = of_kind THEN
    RETURN jsonb_set(first, '{children}', (first->'children') || jsonb_build_array(holdfast.node(b)))::text;
  END IF;
  RETURN jsonb_build_object('kind', of_kind, 'children', jsonb_build_array(first, holdfast.node(b)))::text;
END $$;

CREATE FUNCTION holdfast.seq(a text, b text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT holdfast.chain('seq', a, b) $$;
CREATE FUNCTION holdfast.seq(VARIADIC parts text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'seq', 'children', holdfast.nodes(VARIADIC parts))::text $$;
-- Branches of a chain of & or | are branches of one join or race.
CREATE FUNCTION holdfast.join(a text, b text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT holdfast.chain('join', a, b) $$;
CREATE FUNCTION holdfast.join(VARIADIC parts text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'join', 'children', holdfast.nodes(VARIADIC parts))::text $$;
CREATE FUNCTION holdfast.race(a text, b text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT holdfast.chain('race', a, b) $$;
CREATE FUNCTION holdfast.race(VARIADIC parts text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'race', 'children', holdfast.nodes(VARIADIC parts))::text $$;

CREATE FUNCTION holdfast.named(part text, name text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('kind', 'named', 'name', holdfast.check_name(name), 'children', holdfast.nodes(part))::text
$$;

CREATE FUNCTION holdfast.if(condition text, yes text, no text DEFAULT NULL) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('kind', 'if', 'children',
    CASE WHEN no IS NULL THEN holdfast.nodes(condition, yes) ELSE holdfast.nodes(condition, yes, no) END)::text
$$;
CREATE FUNCTION holdfast.if_then(condition text, yes text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT holdfast.if(condition, yes) $$;
CREATE FUNCTION holdfast.if_else(conditional text, no text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first jsonb := holdfast.node(conditional);
BEGIN
  IF first->>'kind' <> 'if' OR jsonb_array_length(first->'children') <> 2 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = '!> needs a condition ?> part on its left',
      HINT = 'All these operators have one precedence: put parentheses around a part that is made of several.';
  END IF;
  RETURN jsonb_set(first, '{children}', (first->'children') || jsonb_build_array(holdfast.node(no)))::text;
END $$;
CREATE FUNCTION holdfast.if_rows(result_name text, yes text, no text DEFAULT NULL) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('kind', 'if_rows', 'name', holdfast.check_name(result_name), 'children',
    CASE WHEN no IS NULL THEN holdfast.nodes(yes) ELSE holdfast.nodes(yes, no) END)::text
$$;

CREATE FUNCTION holdfast.loop(body text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'loop', 'children', holdfast.nodes(body))::text $$;
CREATE FUNCTION holdfast.loop(body text, while text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'loop', 'children', holdfast.nodes(body, while))::text $$;
-- The value is JSON if it can be read as that, otherwise a text.
CREATE FUNCTION holdfast.break(value text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  literal jsonb;
BEGIN
  BEGIN
    literal := value::jsonb;
  EXCEPTION WHEN invalid_text_representation THEN literal := to_jsonb(value);
  END;
  RETURN jsonb_build_object('kind', 'break', 'value', literal)::text;
END $$;

CREATE FUNCTION holdfast.sleep(seconds numeric) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'sleep', 'ms', holdfast.milliseconds(seconds, 0))::text $$;

CREATE FUNCTION holdfast.wait_for_signal(name text, timeout numeric DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF coalesce(name, '') = '' OR octet_length(name) > 255 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'the name of a signal has 1 to 255 bytes';
  END IF;
  RETURN jsonb_strip_nulls(jsonb_build_object('kind', 'signal', 'name', name, 'ms',
    CASE WHEN timeout IS NOT NULL THEN holdfast.milliseconds(timeout, 0.001) END))::text;
END $$;

-- The values of one field of cron, or an error.
CREATE FUNCTION holdfast.cron_field(field text, lowest integer, highest integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  part text;
  found text[];
  first integer;
  last integer;
  step integer;
  allowed integer[] := '{}';
BEGIN
  FOREACH part IN ARRAY string_to_array(field, ',') LOOP
    found := regexp_match(part, '^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,3}))?$');
    IF found IS NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('%L is no field of cron', left(field, 64));
    END IF;
    step := coalesce(found[4]::integer, 1);
    first := coalesce(found[2]::integer, lowest);
    last := CASE WHEN found[1] IS NOT NULL THEN highest WHEN found[3] IS NOT NULL THEN found[3]::integer
                 WHEN found[4] IS NOT NULL THEN highest ELSE first END;
    IF first < lowest OR last > highest OR first > last OR step = 0 THEN
      RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('%L is not within %s and %s', left(field, 64), lowest, highest);
    END IF;
    allowed := allowed || ARRAY(SELECT generate_series(first, last, step));
  END LOOP;
  RETURN ARRAY(SELECT DISTINCT a FROM unnest(allowed) a ORDER BY a);
END $$;

-- The next minute after a time (milliseconds of Unix) that a schedule names in a time zone. Times that the zone
-- leaves out, as when clocks go forward, are skipped. As in cron, a day fits if its day of the month or its day
-- of the week does, where both are restricted.
CREATE FUNCTION holdfast.next_schedule(cron text, zone text, after_ms bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  fields text[] := regexp_split_to_array(btrim(cron), '\s+');
  minutes integer[];
  hours integer[];
  days integer[];
  months integer[];
  weekdays integer[];
  after timestamptz := to_timestamp(after_ms / 1000.0);
  day date;
  h integer;
  m integer;
  at_local timestamp;
  at timestamptz;
  day_fits boolean;
BEGIN
  IF cardinality(fields) IS DISTINCT FROM 5 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('a schedule has five fields: minute hour day month weekday; got %s',
      coalesce(quote_literal(left(cron, 64)), 'NULL'));
  END IF;
  minutes := holdfast.cron_field(fields[1], 0, 59);
  hours := holdfast.cron_field(fields[2], 0, 23);
  days := holdfast.cron_field(fields[3], 1, 31);
  months := holdfast.cron_field(fields[4], 1, 12);
  weekdays := holdfast.cron_field(fields[5], 0, 7);
  day := (after AT TIME ZONE zone)::date;
  FOR n IN 0 .. 3000 LOOP
    IF extract(month FROM day)::integer = ANY (months) THEN
      day_fits := CASE
        WHEN fields[3] = '*' AND fields[5] = '*' THEN true
        WHEN fields[3] = '*' THEN extract(dow FROM day)::integer = ANY (weekdays) OR extract(isodow FROM day)::integer = ANY (weekdays)
        WHEN fields[5] = '*' THEN extract(day FROM day)::integer = ANY (days)
        ELSE extract(day FROM day)::integer = ANY (days) OR extract(dow FROM day)::integer = ANY (weekdays)
          OR extract(isodow FROM day)::integer = ANY (weekdays) END;
      IF day_fits THEN
        FOREACH h IN ARRAY hours LOOP
          FOREACH m IN ARRAY minutes LOOP
            at_local := day + make_interval(hours => h, mins => m);
            at := at_local AT TIME ZONE zone;
            IF at > after AND at AT TIME ZONE zone = at_local THEN
              RETURN (extract(epoch FROM at) * 1000)::bigint;
            END IF;
          END LOOP;
        END LOOP;
      END IF;
    END IF;
    day := day + 1;
  END LOOP;
  RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('the schedule %L has no time within eight years', left(cron, 64));
END $$;

CREATE FUNCTION holdfast.wait_for_schedule(cron text, zone text DEFAULT 'UTC') RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM holdfast.next_schedule(cron, zone, 0);
  RETURN jsonb_build_object('kind', 'schedule', 'text', cron, 'zone', zone)::text;
END $$;

CREATE FUNCTION holdfast.http(
  url text, method text DEFAULT 'GET', body text DEFAULT NULL, headers jsonb DEFAULT '{}', timeout numeric DEFAULT 30) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF url IS NULL OR url !~ '^https?://' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'an address begins with http:// or https://';
  END IF;
  IF method IS NULL OR method NOT IN ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE') THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('unknown method %s', coalesce(quote_literal(left(method, 64)), 'NULL'));
  END IF;
  IF jsonb_typeof(headers) <> 'object' OR EXISTS (SELECT FROM jsonb_each(headers) h WHERE jsonb_typeof(h.value) <> 'string') THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'headers are an object of texts';
  END IF;
  RETURN jsonb_build_object('kind', 'http', 'ms', holdfast.milliseconds(timeout, 0.001), 'value',
    jsonb_build_object('url', url, 'method', method, 'body', coalesce(body, ''), 'headers', headers))::text;
END $$;

CREATE FUNCTION holdfast.retry(part text, attempts integer DEFAULT 3, backoff numeric DEFAULT 1) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF attempts IS NULL OR attempts NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'attempts must be 1 to 1000';
  END IF;
  RETURN jsonb_build_object('kind', 'retry', 'count', attempts, 'ms', holdfast.milliseconds(backoff, 0), 'children', holdfast.nodes(part))::text;
END $$;

CREATE FUNCTION holdfast.timeout(part text, seconds numeric) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('kind', 'timeout', 'ms', holdfast.milliseconds(seconds, 0.001), 'children', holdfast.nodes(part))::text
$$;

-- The handler finds $error.code and $error.message.
CREATE FUNCTION holdfast.on_error(part text, handler text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT jsonb_build_object('kind', 'on_error', 'children', holdfast.nodes(part, handler))::text $$;

CREATE FUNCTION holdfast.each(result_name text, body text, item text DEFAULT 'item', at_once integer DEFAULT 16) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF at_once IS NULL OR at_once NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'at_once must be 1 to 1000';
  END IF;
  RETURN jsonb_build_object('kind', 'each', 'name', holdfast.check_name(result_name), 'item', holdfast.check_name(item),
    'count', at_once, 'children', holdfast.nodes(body))::text;
END $$;

CREATE OPERATOR holdfast.~> (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.seq);
CREATE OPERATOR holdfast.|=> (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.named);
CREATE OPERATOR holdfast.& (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.join);
CREATE OPERATOR holdfast.| (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.race);
CREATE OPERATOR holdfast.?> (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.if_then);
CREATE OPERATOR holdfast.!> (LEFTARG = text, RIGHTARG = text, FUNCTION = holdfast.if_else);
CREATE OPERATOR holdfast.@> (RIGHTARG = text, FUNCTION = holdfast.loop);
