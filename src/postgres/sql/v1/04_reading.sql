-- SPDX-License-Identifier: Apache-2.0
-- What became of requests. Every role sees its own.

CREATE POLICY own_rows ON holdfast.inbox FOR SELECT
  USING (submitter = (SELECT to_regrole(quote_ident(current_user))));
CREATE POLICY own_new_rows ON holdfast.inbox FOR INSERT
  WITH CHECK (submitter = to_regrole(quote_ident(current_user)));
CREATE POLICY own_rows ON holdfast.instances FOR SELECT
  USING (submitter = (SELECT to_regrole(quote_ident(current_user))));

-- Of a start: pending, running, completed, failed, cancelled or refused. Of another request:
-- pending, accepted, refused or ignored (the instance had ended). Null: there is no such request.
CREATE FUNCTION holdfast.status(id uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce((SELECT n.status FROM holdfast.instances n WHERE n.id = $1),
                  (SELECT coalesce(i.outcome, 'pending') FROM holdfast.inbox i WHERE i.id = $1))
$$;

-- Of an instance that has completed; otherwise null.
CREATE FUNCTION holdfast.result(id uuid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT n.result::jsonb FROM holdfast.instances n WHERE n.id = $1 AND n.status = 'completed' $$;

-- Why an instance failed, or why a request was refused; otherwise null.
CREATE FUNCTION holdfast.error(id uuid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce((SELECT n.error::jsonb FROM holdfast.instances n WHERE n.id = $1),
                  (SELECT jsonb_build_object('message', i.detail) FROM holdfast.inbox i
                   WHERE i.id = $1 AND i.detail IS NOT NULL))
$$;

-- Waits for the end of an instance and gives its result. HF006: it failed, was cancelled or was
-- refused. HF007: it has not ended in time.
CREATE FUNCTION holdfast.await(id uuid, timeout interval DEFAULT '30 seconds') RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  deadline timestamptz := clock_timestamp() + timeout;
  pause double precision := 0.002;
  found_status text;
  made_by xid8;
BEGIN
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

-- The newest first. The next page begins after the `created` and `id` of the last row.
CREATE FUNCTION holdfast.list(
  with_status text DEFAULT NULL, of_workflow text DEFAULT NULL, page_size integer DEFAULT 100,
  before_created timestamptz DEFAULT NULL, before_id uuid DEFAULT NULL)
RETURNS TABLE (id uuid, workflow text, key text, status text, created timestamptz, ended timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  IF page_size IS NULL OR page_size NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'page_size must be 1 to 1000';
  END IF;
  IF (before_created IS NULL) <> (before_id IS NULL) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'before_created and before_id go together';
  END IF;
  RETURN QUERY
    SELECT u.id, u.workflow, u.key, u.status, u.created, u.ended FROM (
      SELECT n.id, n.workflow, n.key, n.status, n.created, n.ended FROM holdfast.instances n
      UNION ALL
      SELECT i.id, i.workflow, i.key, 'pending', i.created, NULL FROM holdfast.inbox i
        WHERE i.verb = 'start' AND i.outcome IS NULL
    ) u
    WHERE ($1 IS NULL OR u.status = $1) AND ($2 IS NULL OR u.workflow = $2)
      AND ($4 IS NULL OR (u.created, u.id) < ($4, $5))
    ORDER BY u.created DESC, u.id DESC LIMIT page_size;
END $$;
