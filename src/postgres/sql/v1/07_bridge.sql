-- SPDX-License-Identifier: Apache-2.0
-- What the bridge calls. It runs as the owner of the schema and calls nothing else, so that neither
-- search_path nor anything that other roles made has a say in what it does. It works without state
-- of the session, and so behind a pooler, but for the locks of the wake-up.

-- Takes or keeps the lease of a world. No row: another bridge has it. `with_backend`: the holder is
-- gone as soon as this connection is, which lets the next one follow at once.
CREATE FUNCTION holdfast.hold_world(of_world uuid, by_holder uuid, lease interval, with_backend boolean)
RETURNS TABLE (epoch bigint, source uuid, version integer, wal text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO holdfast.worlds (world) VALUES (of_world) ON CONFLICT DO NOTHING;
  UPDATE holdfast.worlds w
    SET holder = by_holder, lease_until = clock_timestamp() + lease,
        epoch = w.epoch + (w.holder IS DISTINCT FROM by_holder)::integer,
        holder_pid = CASE WHEN with_backend THEN pg_backend_pid() END,
        holder_began = CASE WHEN with_backend THEN
          (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()) END
    WHERE w.world = of_world AND (
      w.holder IS NULL OR w.holder = by_holder OR w.lease_until < clock_timestamp()
      OR w.holder_pid IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_stat_activity a WHERE a.pid = w.holder_pid
          AND coalesce(a.backend_start = w.holder_began, true)));
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT w.epoch, i.source, i.version,
      CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_walfile_name(pg_current_wal_lsn()) || ' ' || pg_current_wal_lsn() END
    FROM holdfast.worlds w, holdfast.installation i WHERE w.world = of_world;
END $$;

CREATE FUNCTION holdfast.release_world(of_world uuid, by_holder uuid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$ UPDATE holdfast.worlds SET holder = NULL, lease_until = '-infinity', holder_pid = NULL
      WHERE world = $1 AND holder = $2 $$;

-- A bridge that lost its lease writes nothing. The lock keeps the epoch as it is until the end of
-- the transaction.
CREATE FUNCTION holdfast.check_epoch(of_world uuid, of_epoch bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM holdfast.worlds w WHERE w.world = of_world AND w.epoch = of_epoch FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'HF010', MESSAGE = 'another bridge has taken over this world';
  END IF;
END $$;

-- Requests that are due, in their order, from a place on. The place only skips dead index entries:
-- rows that commit late lie before it, and are found by a read from the beginning. `stay_awake`
-- takes the awake lock, once.
CREATE FUNCTION holdfast.read_requests(
  of_world uuid, from_due timestamptz, from_seq bigint, most integer, stay_awake boolean)
RETURNS TABLE (
  id uuid, seq bigint, due timestamptz, verb text, workflow text, key text, event text, body text,
  target uuid, reason text, submitter text, is_cancelled boolean, target_state text, is_awake boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  awake boolean := stay_awake AND pg_try_advisory_lock(hashtextextended('holdfast awake ' || of_world, 0));
BEGIN
  RETURN QUERY
    SELECT i.id, i.seq, i.due, i.verb, i.workflow, i.key, i.event, i.text, i.target, i.reason,
      i.submitter::text,
      i.verb = 'start' AND EXISTS (SELECT FROM holdfast.inbox c
        WHERE c.target = i.id AND c.verb = 'cancel' AND c.outcome IS NULL),
      CASE WHEN i.target IS NOT NULL THEN coalesce(
        (SELECT n.status FROM holdfast.instances n WHERE n.id = i.target),
        (SELECT 'pending' FROM holdfast.inbox s WHERE s.id = i.target), 'gone') END,
      awake
    FROM (
      SELECT o.*, sum(octet_length(o.text)) OVER (ORDER BY o.due, o.seq ROWS UNBOUNDED PRECEDING)
          - octet_length(o.text) AS bytes_before
      FROM (
        SELECT r.*, coalesce(r.body::text, '') AS text FROM holdfast.inbox r
        WHERE r.world = of_world AND r.outcome IS NULL AND r.due <= clock_timestamp()
          AND (r.due, r.seq) > (from_due, from_seq)
        ORDER BY r.due, r.seq LIMIT most
      ) o
    ) i
    WHERE i.bytes_before < 8388608  -- so that a batch of large bodies fits in memory
    ORDER BY i.due, i.seq;
  IF NOT FOUND AND awake THEN
    PERFORM pg_advisory_unlock(hashtextextended('holdfast awake ' || of_world, 0));
  END IF;
END $$;

-- Gives up the awake lock. True: whoever found the bridge awake has committed, and the next read
-- from the beginning sees it.
CREATE FUNCTION holdfast.fall_asleep(of_world uuid, was_awake boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  committing bigint := hashtextextended('holdfast commit ' || of_world, 0);
BEGIN
  IF was_awake THEN
    PERFORM pg_advisory_unlock(hashtextextended('holdfast awake ' || of_world, 0));
  END IF;
  IF NOT pg_try_advisory_lock(committing) THEN RETURN false; END IF;
  PERFORM pg_advisory_unlock(committing);
  RETURN true;
END $$;

-- How long until the next request is due, in milliseconds; null: none waits.
CREATE FUNCTION holdfast.next_due(of_world uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT greatest(0, ceil(1000 * extract(epoch FROM i.due - clock_timestamp())))::bigint
  FROM holdfast.inbox i WHERE i.world = $1 AND i.outcome IS NULL ORDER BY i.due, i.seq LIMIT 1
$$;

-- Marks requests that the engine has decided, durably there. A mark that a crash of this database
-- loses is made again, so the commit need not wait for the disk.
CREATE FUNCTION holdfast.decide(of_world uuid, of_epoch bigint, ids uuid[], outcomes text[], details text[])
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM holdfast.check_epoch(of_world, of_epoch);
  WITH decided AS (
    UPDATE holdfast.inbox i SET outcome = d.outcome, detail = d.detail, decided = now()
    FROM unnest(ids, outcomes, details) d(id, outcome, detail)
    WHERE i.id = d.id AND i.world = of_world AND i.outcome IS NULL
    RETURNING i.*)
  INSERT INTO holdfast.instances (id, world, workflow, key, submitter, status, error, created, ended)
  SELECT d.id, d.world, d.workflow, d.key, d.submitter,
    CASE d.outcome WHEN 'accepted' THEN 'running' WHEN 'cancelled' THEN 'cancelled' ELSE 'refused' END,
    CASE WHEN d.outcome <> 'accepted' THEN json_build_object('message', d.detail) END, d.created,
    CASE WHEN d.outcome <> 'accepted' THEN now() END
  FROM decided d WHERE d.verb = 'start'
  ON CONFLICT DO NOTHING;
  PERFORM pg_notify('holdfast_ended', d.id::text)
  FROM unnest(ids, outcomes) d(id, outcome) JOIN holdfast.instances n ON n.id = d.id
  WHERE d.outcome <> 'accepted';
END $$;

-- How many of these requests have no outcome, or do not exist.
CREATE FUNCTION holdfast.count_unmarked(ids uuid[]) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT count(*) FROM unnest($1) r(id)
  WHERE NOT EXISTS (SELECT FROM holdfast.inbox i WHERE i.id = r.id AND i.outcome IS NOT NULL)
$$;

-- Writes how instances ended. A terminal status stays as it is.
CREATE FUNCTION holdfast.write_ends(
  of_world uuid, of_epoch bigint, ids uuid[], statuses text[], results text[], errors text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  written uuid;
BEGIN
  PERFORM holdfast.check_epoch(of_world, of_epoch);
  FOR written IN
    UPDATE holdfast.instances n SET status = e.status, result = e.result::json, error = e.error::json, ended = now()
    FROM unnest(ids, statuses, results, errors) e(id, status, result, error)
    WHERE n.id = e.id AND n.world = of_world AND n.ended IS NULL
    RETURNING n.id
  LOOP
    PERFORM pg_notify('holdfast_ended', written::text);
  END LOOP;
END $$;

-- Instances that have not ended, for a bridge that has begun or looks again.
CREATE FUNCTION holdfast.read_live(of_world uuid, after_id uuid, most integer)
RETURNS TABLE (id uuid, workflow text, key text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT n.id, n.workflow, n.key FROM holdfast.instances n
  WHERE n.world = $1 AND n.ended IS NULL AND n.id > $2 ORDER BY n.id LIMIT $3
$$;

-- Removes what ended long ago, some rows at a time: true if there may be more. A decided request
-- stays for a day at least, however short the retention is.
CREATE FUNCTION holdfast.prune(of_world uuid, of_epoch bigint, keep interval, most integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  removed integer;
  more boolean;
BEGIN
  PERFORM holdfast.check_epoch(of_world, of_epoch);
  DELETE FROM holdfast.inbox i WHERE i.id IN (
    SELECT o.id FROM holdfast.inbox o WHERE o.outcome IS NOT NULL AND o.world = of_world
      AND o.decided < now() - greatest(keep, interval '1 day') ORDER BY o.decided LIMIT most);
  GET DIAGNOSTICS removed = ROW_COUNT;
  more := removed = most;
  DELETE FROM holdfast.instances n WHERE n.id IN (
    SELECT o.id FROM holdfast.instances o WHERE o.ended IS NOT NULL AND o.world = of_world
      AND o.ended < now() - keep ORDER BY o.ended LIMIT most);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN more OR removed = most;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
