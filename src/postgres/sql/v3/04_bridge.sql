-- SPDX-License-Identifier: Apache-2.0
-- What the bridge calls, as far as version 3 differs.

CREATE OR REPLACE FUNCTION holdfast.decide(of_world uuid, of_epoch bigint, ids uuid[], outcomes text[], details text[])
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
  IF 'accepted' <> ANY (outcomes) THEN
    PERFORM pg_notify('holdfast_ended', d.id::text)
    FROM unnest(ids, outcomes) d(id, outcome) JOIN holdfast.instances n ON n.id = d.id
    WHERE d.outcome <> 'accepted';
  END IF;
END $$;

-- Of instances that have ended, only the newest ones are kept. Some rows at a time: true if there may be more. Receipts of steps, and
-- requests, stay for a day whatever the number is: until then a step may be asked for again, or a mark be lost.
CREATE FUNCTION holdfast.prune_to(of_world uuid, of_epoch bigint, keep_rows bigint, most integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  oldest timestamptz;
  removed integer;
BEGIN
  PERFORM holdfast.check_epoch(of_world, of_epoch);
  -- An estimate that costs nothing: most of the time there are far fewer.
  IF (SELECT c.reltuples < keep_rows FROM pg_class c WHERE c.oid = 'holdfast.instances'::regclass) THEN RETURN false; END IF;
  SELECT o.ended INTO oldest FROM holdfast.instances o WHERE o.ended IS NOT NULL AND o.world = of_world
    ORDER BY o.ended DESC OFFSET keep_rows LIMIT 1;
  IF oldest IS NULL THEN RETURN false; END IF;
  DELETE FROM holdfast.instances n WHERE n.id IN (
    SELECT o.id FROM holdfast.instances o WHERE o.ended <= oldest AND o.world = of_world
      AND (o.workflow <> 'sys/Flow@1' OR o.ended < now() - interval '1 day')
      AND NOT EXISTS (SELECT FROM holdfast.receipts r WHERE r.flow = o.id) ORDER BY o.ended LIMIT most);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed = most;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA holdfast FROM PUBLIC;
