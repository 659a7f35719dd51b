-- SPDX-License-Identifier: Apache-2.0
-- Starts a workflow for every row that is inserted into a table of the application.

-- Arguments of the trigger: the workflow, and the columns that make the body as a JSON list, or
-- 'null' for all of them.
CREATE FUNCTION holdfast.start_for_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  body jsonb := to_jsonb(NEW);
  columns jsonb := TG_ARGV[1]::jsonb;
BEGIN
  IF jsonb_typeof(columns) = 'array' THEN
    SELECT jsonb_object_agg(c, body->c) INTO body FROM jsonb_array_elements_text(columns) c;
  END IF;
  PERFORM holdfast.start(TG_ARGV[0], body);
  RETURN NULL;
END $$;

-- The caller must be allowed to make triggers on the table. The submitter is the role that inserts.
CREATE FUNCTION holdfast.start_on_insert(on_table regclass, workflow text, columns text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  missing text;
BEGIN
  IF NOT EXISTS (SELECT FROM holdfast.workflows w WHERE w.workflow = $2) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001',
      MESSAGE = format('unknown workflow %s', coalesce(quote_literal(left($2, 255)), 'NULL'));
  END IF;
  SELECT c INTO missing FROM unnest(columns) c WHERE NOT EXISTS (
    SELECT FROM pg_attribute a
    WHERE a.attrelid = on_table AND a.attname = c AND a.attnum > 0 AND NOT a.attisdropped) LIMIT 1;
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = format('table %s has no column %I', on_table, missing);
  END IF;
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s FOR EACH ROW EXECUTE FUNCTION holdfast.start_for_row(%L, %L)',
                 'holdfast ' || left(workflow, 54), on_table, workflow, coalesce(to_jsonb(columns), 'null'));
END $$;
