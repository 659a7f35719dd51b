-- SPDX-License-Identifier: Apache-2.0
-- The catalogue: published by the bridge, read by every request.

-- Replaces the catalogue of a world by a document {"workflows": [...], "schemas": {...}} as
-- GET /v1/workflows gives it. Nothing is written if it is the published one already.
CREATE FUNCTION holdfast.publish(of_world uuid, document jsonb) RETURNS boolean
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
  INSERT INTO holdfast.routes (world, workflow, event, place, key_path, starts)
    SELECT of_world, w->>'workflow', e.value->>'schema', e.ordinality,
           string_to_array(e.value->>'key_field', '.'), (e.value->>'starts')::boolean
    FROM jsonb_array_elements(document->'workflows') w,
         jsonb_array_elements(w->'events') WITH ORDINALITY e
    ON CONFLICT DO NOTHING;  -- an event that two subscriptions bring to one workflow
  RETURN true;
END $$;

-- Why a value cannot be of a type, with its place; null: nothing speaks against it. This finds
-- mistakes early. What it lets pass is still checked, in full, by the engine. It is called for every
-- field, by holdfast.check_body, whose search_path it has.
CREATE FUNCTION holdfast.misfit(
  of_world uuid, wanted jsonb, value jsonb, place text, depth integer DEFAULT 0)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
  kind text;
  inner_type jsonb;
  got text := jsonb_typeof(value);
  name text;
  part jsonb;
  problem text;
  digits text;
BEGIN
  IF depth > 64 THEN RETURN place || ': nested too deep'; END IF;
  SELECT k INTO kind FROM jsonb_object_keys(wanted) k WHERE k <> '$comment' LIMIT 1;
  inner_type := wanted->kind;
  CASE kind
    WHEN 'ref' THEN
      SELECT s.type INTO inner_type FROM holdfast.schemas s
        WHERE s.schema = wanted->>'ref' AND s.world = of_world;
      IF inner_type IS NULL THEN RETURN NULL; END IF;
      RETURN holdfast.misfit(of_world, inner_type, value, place, depth + 1);
    WHEN 'record' THEN
      IF got <> 'object' THEN RETURN format('%s: expected record, got %s', place, got); END IF;
      FOR name IN SELECT k FROM jsonb_object_keys(value) k LOOP
        IF NOT inner_type ? name THEN
          RETURN format('%s: unknown field %s', place, to_jsonb(left(name, 64)));
        END IF;
      END LOOP;
      FOR name, part IN SELECT e.key, e.value FROM jsonb_each(inner_type) e LOOP
        IF value ? name THEN
          problem := holdfast.misfit(of_world, part, value->name, place || '.' || name, depth + 1);
          IF problem IS NOT NULL THEN RETURN problem; END IF;
        ELSIF NOT part ? 'option' AND NOT part ? 'ref' AND NOT part ? 'unit' THEN
          RETURN format('%s.%s: the field is missing', place, name);
        END IF;
      END LOOP;
    WHEN 'list', 'set' THEN
      IF got <> 'array' THEN RETURN format('%s: expected %s, got %s', place, kind, got); END IF;
      FOR part, name IN SELECT e.value, (e.ordinality - 1)::text
                        FROM jsonb_array_elements(value) WITH ORDINALITY e LOOP
        problem := holdfast.misfit(of_world, inner_type, part, format('%s[%s]', place, name), depth + 1);
        IF problem IS NOT NULL THEN RETURN problem; END IF;
      END LOOP;
    WHEN 'map' THEN
      IF got <> 'object' THEN RETURN format('%s: expected map, got %s', place, got); END IF;
      FOR name, part IN SELECT e.key, e.value FROM jsonb_each(value) e LOOP
        problem := holdfast.misfit(of_world, inner_type->'value', part, place || '.' || left(name, 64), depth + 1);
        IF problem IS NOT NULL THEN RETURN problem; END IF;
      END LOOP;
    WHEN 'option' THEN
      IF got = 'null' THEN RETURN NULL; END IF;
      RETURN holdfast.misfit(of_world, inner_type, value, place, depth + 1);
    WHEN 'variant' THEN
      IF got <> 'object' THEN RETURN format('%s: expected variant, got %s', place, got); END IF;
    WHEN 'text' THEN
      IF got <> 'string' THEN RETURN format('%s: expected text, got %s', place, got); END IF;
    WHEN 'bool' THEN
      IF got <> 'boolean' THEN RETURN format('%s: expected bool, got %s', place, got); END IF;
    WHEN 'int', 'nat' THEN
      IF got <> 'number' THEN RETURN format('%s: expected %s, got %s', place, kind, got); END IF;
      digits := value #>> '{}';
      IF digits ~ '[.]' THEN RETURN format('%s: expected %s, got a fraction', place, kind); END IF;
      IF kind = 'int' AND digits::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807
         OR kind = 'nat' AND digits::numeric NOT BETWEEN 0 AND 18446744073709551615 THEN
        RETURN format('%s: %s is out of the range of %s', place, left(digits, 64), kind);
      END IF;
    WHEN 'uuid', 'hash' THEN
      IF got <> 'string' THEN RETURN format('%s: expected %s, got %s', place, kind, got); END IF;
    WHEN 'float' THEN
      IF got NOT IN ('number', 'string') THEN RETURN format('%s: expected float, got %s', place, got); END IF;
    ELSE NULL;  -- the engine knows more types
  END CASE;
  RETURN NULL;
END $$;
