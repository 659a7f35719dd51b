// SPDX-License-Identifier: Apache-2.0
// The definitions of the world, and proposals for others with what their trials showed.
import { useMemo, useState } from "preact/hooks";
import { get, post } from "./api";
import { may } from "./me";
import { isTrial, Trial } from "./trial";
import { changed, useFresh } from "./use";
import { Empty, Loading, ProblemBox, tell, tellProblem, Value } from "./widgets";

const kActions: Record<string, string[]> = { proposed: ["shadow", "reject"], shadowed: ["approve", "reject"], approved: ["apply"] };

function Proposal({ proposal }: { proposal: any }) {
  const [busy, setBusy] = useState(false);
  async function act(action: string) {
    setBusy(true);
    try {
      await post(`v1/proposals/${proposal.proposal}/${action}`, {});
      tell(`${action}: done`);
      changed();
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  }
  return (
    <li class="card tall">
      <div>
        <b>Proposal {String(proposal.proposal)}</b> <span class={`badge ${proposal.stage}`}>{proposal.stage}</span>
        <p>{proposal.description}</p>
      </div>
      <div class="actions">
        {(kActions[proposal.stage] ?? []).filter((action) => may(action === "shadow" ? "operator" : "admin")).map((action) => <button key={action} type="button" disabled={busy} onClick={() => act(action)}>{action}</button>)}
      </div>
      <div class="wide">
        {isTrial(proposal.report) && <Trial report={proposal.report} />}
        <details><summary class="quiet">everything that is recorded</summary><Value value={proposal} depth={2} /></details>
      </div>
    </li>
  );
}

export function Definitions() {
  const manifest = useFresh<any>((abort) => get("v1/manifest", {}, abort), "manifest", 30000);
  const proposals = useFresh<any>((abort) => get("v1/proposals", {}, abort), "proposals", 10000);
  const [words, setWords] = useState("");
  const all: any[] = manifest.data?.definitions ?? [];
  const shown = useMemo(() => all.filter((each) => `${each.$kind} ${each.name ?? ""}`.toLowerCase().includes(words.toLowerCase())), [all, words]);
  return (
    <main>
      <header class="title"><h1>Definitions</h1></header>
      <ProblemBox problem={manifest.problem ?? proposals.problem} />
      <Loading of={manifest} />
      {(proposals.data?.proposals ?? []).length > 0 && <><h2>Proposals</h2><ul class="cards">{proposals.data.proposals.map((each: any) => <Proposal key={String(each.proposal)} proposal={each} />)}</ul></>}
      <label for="find-definition" class="find">Find<input id="find-definition" type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></label>
      {manifest.data && shown.length === 0 && <Empty>No definition matches.</Empty>}
      <ul class="definitions">
        {shown.map((each) => (
          <li key={`${each.$kind} ${each.name}`}><details><summary><span class="kind">{each.$kind.replace(/^def/, "")}</span> <code>{each.name ?? "the manifest"}</code></summary><Value value={each} /></details></li>
        ))}
      </ul>
    </main>
  );
}
