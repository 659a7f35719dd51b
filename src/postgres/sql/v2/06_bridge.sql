-- SPDX-License-Identifier: Apache-2.0
-- What the bridge calls, as far as version 2 differs.

-- A world whose server can run SQL steps publishes sys/Flow@1 beside its workflows.
CREATE OR REPLACE FUNCTION holdfast.publish(of_world uuid, document jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM holdfast.worlds w WHERE w.world = of_world AND w.catalogue = document) THEN
    RETURN false;
  END IF;
  INSERT INTO holdfast.worlds (world, catalogue) VALUES (of_world, document)
    ON CONFLICT (world) DO UPDATE SET catalogue = excluded.catalogue;
  DELETE FROM holdfast.workflows w WHERE w.world = of_world;
  DELETE FROM holdfast.schemas s WHERE s.world = of_world;
  INSERT INTO holdfast.schemas (world, schema, type)
    SELECT of_world, s.key, s.value FROM jsonb_each(document->'schemas') s;
  INSERT INTO holdfast.workflows (world, workflow, key_type)
    SELECT of_world, w->>'workflow', w->>'key' FROM jsonb_array_elements(document->'workflows') w;
  IF (document->>'flows')::boolean THEN
    INSERT INTO holdfast.workflows (world, workflow, key_type) VALUES (of_world, 'sys/Flow@1', 'sys/FlowKey@1')
      ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO holdfast.routes (world, workflow, event, place, key_path, starts)
    SELECT of_world, w->>'workflow', e.value->>'schema', e.ordinality,
           string_to_array(e.value->>'key_field', '.'), (e.value->>'starts')::boolean
    FROM jsonb_array_elements(document->'workflows') w,
         jsonb_array_elements(w->'events') WITH ORDINALITY e
    ON CONFLICT DO NOTHING;  -- an event that two subscriptions bring to one workflow
  RETURN true;
END $$;

DROP FUNCTION holdfast.read_requests(uuid, timestamptz, bigint, integer, boolean);
CREATE FUNCTION holdfast.read_requests(
  of_world uuid, from_due timestamptz, from_seq bigint, most integer, stay_awake boolean)
RETURNS TABLE (
  id uuid, seq bigint, due timestamptz, verb text, workflow text, key text, event text, body text,
  target uuid, reason text, submitter text, is_cancelled boolean, target_state text, is_awake boolean,
  submitter_oid oid)
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
      awake, i.submitter::oid
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

-- Receipts of steps go with their flow, a day after it has ended: until then a step may be asked for again.
CREATE OR REPLACE FUNCTION holdfast.prune(of_world uuid, of_epoch bigint, keep interval, most integer) RETURNS boolean
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
  DELETE FROM holdfast.receipts r WHERE r.flow IN (
    SELECT o.id FROM holdfast.instances o WHERE o.ended IS NOT NULL AND o.world = of_world AND o.workflow = 'sys/Flow@1'
      AND o.ended < now() - greatest(keep, interval '1 day') ORDER BY o.ended LIMIT most);
  DELETE FROM holdfast.instances n WHERE n.id IN (
    SELECT o.id FROM holdfast.instances o WHERE o.ended IS NOT NULL AND o.world = of_world
      AND o.ended < now() - CASE WHEN o.workflow = 'sys/Flow@1' THEN greatest(keep, interval '1 day') ELSE keep END
      AND NOT EXISTS (SELECT FROM holdfast.receipts r WHERE r.flow = o.id) ORDER BY o.ended LIMIT most);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN more OR removed = most;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA holdfast FROM PUBLIC;
