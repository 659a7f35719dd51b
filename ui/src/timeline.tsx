// SPDX-License-Identifier: Apache-2.0
// Effects and waits of an instance as bars over time. What is open has no right end.
import { useMemo, useState } from "preact/hooks";
import { get } from "./api";
import { clock, duration } from "./format";
import { Axis, Mark, Span, spansOf } from "./records";
import { now, useFresh } from "./use";
import { Dialog, Due, Empty, Loading, ProblemBox, Value } from "./widgets";

const kMost = 400;

function useRecords(path: string, record: number) {
  return useFresh<any>((abort) => get(`${path}/timeline`, { limit: kMost }, abort), `${path} timeline ${record}`, 0);
}

function Detail({ span, close }: { span: Span; close: () => void }) {
  return (
    <Dialog title={span.label} close={close}>
      <dl>
        <dt>Effect</dt><dd><code>{span.effect}</code></dd>
        <dt>Opened</dt><dd>record {span.beginRecord}</dd>
        <dt>{span.endMs === undefined ? "Open for" : "Took"}</dt><dd>{duration((span.endMs ?? now.value) - span.beginMs)}</dd>
        {span.status && <><dt>Ended</dt><dd><span class={`badge ${span.status}`}>{span.status}</span> record {span.endRecord}</dd></>}
        {span.error && <><dt>Error</dt><dd class="bad"><code>{span.error.code}</code> {span.error.message}</dd></>}
        {span.dueNs && <><dt>Due</dt><dd>{clock(span.dueNs)}</dd></>}
        <dt>Params</dt><dd><Value value={span.params} /></dd>
        {span.payload !== undefined && <><dt>Receipt</dt><dd><Value value={span.payload} /></dd></>}
        <dt>Intent</dt><dd><code class="hash">{span.intent}</code></dd>
      </dl>
    </Dialog>
  );
}

export function Timeline({ path, record }: { path: string; record: number }) {
  const fresh = useRecords(path, record);
  const [chosen, setChosen] = useState<Span>();
  const records = useMemo(() => [...(fresh.data?.records ?? [])].reverse(), [fresh.data]);
  const [workflow, key] = useMemo(() => {
    const parts = path.split("/");
    const own = records[0]?.instances.find((each: any) => `${parts[2]}/${parts[3]}` === encodeURIComponent(each.workflow).replace("%2F", "/"));
    return [own?.workflow, own?.key];
  }, [records]);
  const { spans, marks } = useMemo(() => spansOf(records, workflow, key), [records, workflow, key]);
  const isOpen = spans.some((span) => span.endMs === undefined);
  const end = isOpen ? now.value : undefined;
  const axis = useMemo(() => {
    const moments = [...spans.flatMap((span) => [span.beginMs, span.endMs ?? span.beginMs]), ...marks.map((mark) => mark.ms)];
    if (end !== undefined) moments.push(Math.max(end, ...moments));
    return new Axis(moments);
  }, [spans, marks, end]);
  // In the order in which they began.
  const lanes = useMemo(() => [...marks, ...spans].sort((a, b) => ("intent" in a ? a.beginMs : a.ms) - ("intent" in b ? b.beginMs : b.ms)), [spans, marks]);
  const percent = (part: number) => `${(part * 100).toFixed(3)}%`;
  const markLane = (mark: Mark) => (
    <div class="lane" key={`m${mark.record}`}>
      <span class="lane-name" title={clock(BigInt(Math.round(mark.ms * 1e6)))}>{mark.label.replace(/^[^/]*\//, "").replace(/@\d+$/, "")}</span>
      <span class="track"><span class={`mark ${mark.kind}`} style={{ left: percent(axis.at(mark.ms)) }} title={`record ${mark.record}`} /></span>
      <span class="lane-time">record {mark.record}</span>
    </div>
  );
  const spanLane = (span: Span) => {
    const left = axis.at(span.beginMs);
    const right = span.endMs === undefined ? 1 : axis.at(span.endMs);
    const failed = span.status === "error" || span.status === "timeout";
    return (
      <button type="button" class="lane" key={span.intent} onClick={() => setChosen(span)}>
        <span class="lane-name">{span.label}</span>
        <span class="track">
          <span class={`bar-span ${span.status ?? "open"} ${span.effect.startsWith("sys/timer") ? "timer" : ""}`}
            style={{ left: percent(left), width: `max(4px, ${percent(right - left)})` }} />
        </span>
        <span class={failed ? "lane-time bad" : "lane-time"}>
          {span.error && <code>{span.error.code} </code>}
          {span.endMs === undefined && span.dueNs ? <Due ns={span.dueNs} /> : duration((span.endMs ?? now.value) - span.beginMs)}
        </span>
      </button>
    );
  };
  return (
    <section class="timeline" aria-label="Timeline">
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && records.length === 0 && <Empty>The journal does not have the records of this instance any more.</Empty>}
      {fresh.data?.records.length === kMost && <p class="quiet">The last {kMost} records are shown.</p>}
      {records.length > 0 && (
        <div class="waterfall">
          {lanes.map((lane) => ("intent" in lane ? spanLane(lane) : markLane(lane)))}
          <div class="lane axis" aria-hidden="true">
            <span class="lane-name" />
            <span class="track">
              <span>0</span><span class="end">{duration(axis.span)}</span>
              {axis.gaps.filter((gap) => gap.x / axis.width > 0.08 && gap.x / axis.width < 0.92).map((gap) => <span class="gap" key={gap.x} style={{ left: percent(gap.x / axis.width) }}>{duration(gap.ms)}</span>)}
            </span>
            <span class="lane-time" />
          </div>
        </div>
      )}
      {chosen && <Detail span={chosen} close={() => setChosen(undefined)} />}
    </section>
  );
}
