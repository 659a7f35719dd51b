// SPDX-License-Identifier: Apache-2.0
// The graph of a step workflow, as the server draws it, and what each step has done.
import { get, getText } from "./api";
import { useFresh } from "./use";
import { Loading, ProblemBox } from "./widgets";

function imageOf(svg: string): string {
  const bytes = new TextEncoder().encode(svg);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:image/svg+xml;base64,${btoa(text)}`;
}

export function GraphView({ path, record }: { path: string; record: number | string }) {
  const picture = useFresh<string>(() => getText(path, "image/svg+xml"), `${path} svg ${record}`, 0);
  const document = useFresh<any>((abort) => get(path, {}, abort), `${path} graph ${record}`, 0);
  const steps: any[] = document.data?.execution?.steps ?? [];
  return (
    <section aria-label="Graph">
      <ProblemBox problem={picture.problem} />
      <Loading of={picture} />
      {picture.data && <div class="picture" tabIndex={0}><img src={imageOf(picture.data)} alt="The steps of this workflow and the events between them" /></div>}
      {steps.length > 0 && (
        <div class="scroll" tabIndex={0}>
          <table class="rows">
            <thead><tr><th>Step</th><th class="number">Runs</th><th class="number">Completed</th><th class="number">Failed</th><th class="number">Running</th><th class="number">Queued</th><th>Last error</th></tr></thead>
            <tbody>
              {steps.map((step) => (
                <tr key={step.step}>
                  <td><b>{step.step}</b>{step.waiting.length > 0 && <span class="quiet"> waits for {step.waiting.map((each: any) => each.schema).join(", ")}</span>}</td>
                  <td class="number">{step.runs}</td><td class="number">{step.completed}</td>
                  <td class={step.failed ? "number bad" : "number"}>{step.failed}</td><td class="number">{step.running}</td><td class="number">{step.queued}</td>
                  <td>{step.error && <span class="reason bad"><code>{step.error.code}</code> {step.error.message}</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
