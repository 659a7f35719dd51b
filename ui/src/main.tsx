// SPDX-License-Identifier: Apache-2.0
// The frame of the page: navigation, keys, and the screen that the address names.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isConnected, needsToken, setToken, token } from "./api";
import { Batches } from "./batches";
import { Definitions } from "./definitions";
import { Effects } from "./effects";
import { EngineView } from "./engine";
import { isUtc, setUtc } from "./format";
import { Graphs } from "./graphs";
import { Icon } from "./icons";
import { Instance } from "./instance";
import { Instances } from "./instances";
import { Journal } from "./journal";
import { KillButton, KillReport } from "./kill";
import { isLive, watch } from "./live";
import { loadMe, me } from "./me";
import { Overview } from "./overview";
import { kScreens, Palette } from "./palette";
import { Questions } from "./questions";
import { link, place } from "./route";
import { Schedules } from "./schedules";
import { changed } from "./use";
import { Dialog, Empty, Toasts } from "./widgets";
import { Workers } from "./workers";
import { Workflows } from "./workflows";

function Screen() {
  const [name, second] = place.value.parts;
  switch (name) {
    case undefined: return <Overview />;
    case "instances": return second ? <Instance key={place.value.parts.slice(0, 3).join("/")} /> : <Instances />;
    case "questions": return <Questions />;
    case "schedules": return <Schedules />;
    case "graphs": return <Graphs />;
    case "batches": return <Batches />;
    case "workers": return <Workers />;
    case "effects": return <Effects />;
    case "workflows": return <Workflows />;
    case "definitions": return <Definitions />;
    case "journal": return <Journal />;
    case "engine": return <EngineView />;
    default: return <main><Empty>There is no screen of this name. <a href={link([])}>Overview</a></Empty></main>;
  }
}

function TokenDialog() {
  const [value, setValue] = useState("");
  return (
    <Dialog title="Token" close={() => (needsToken.value = false)}>
      <form onSubmit={(event) => { event.preventDefault(); setToken(value.trim()); void loadMe(); changed(); }}>
        <p>{token.value ? "The server does not know this token." : "This server asks for a token."} <code>holdfast token add</code> makes one. It is kept until the tab is closed.</p>
        <label for="token">API token<input id="token" type="password" autocomplete="off" value={value} onInput={(event) => setValue(event.currentTarget.value)} /></label>
        <footer><button type="submit" class="primary">Use it</button></footer>
      </form>
    </Dialog>
  );
}

const kKeys: [string, string][] = [["Ctrl K", "go to a screen or an instance"], ["j / k", "next or previous row"], ["Enter", "open the row"], ["g, then a letter", kScreens.map((each) => `${each.key} ${each.label}`).join(", ")], ["?", "this help"]];

// j and k move through the rows of a table; Enter opens the one that has the focus.
function moveFocus(by: number) {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.max(0, Math.min(rows.length - 1, here + by))];
  next?.querySelector<HTMLElement>("a, button")?.focus();
}

function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem("holdfast.theme") ?? "");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("holdfast.theme", theme);
  }, [theme]);
  return (
    <select aria-label="Colours" value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
      <option value="">system colours</option><option value="light">light</option><option value="dark">dark</option>
    </select>
  );
}

function App() {
  const [shows, setShows] = useState("");
  // On a narrow screen the navigation is behind a button.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value]);
  useEffect(() => {
    let afterG = false;
    function key(event: KeyboardEvent) {
      const target = event.target as HTMLElement;
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        return setShows("palette");
      }
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog")) return;
      if (afterG) {
        afterG = false;
        const screen = kScreens.find((each) => each.key === event.key);
        if (screen) location.hash = link(screen.name ? [screen.name] : []);
        return;
      }
      if (event.key === "g") afterG = true;
      if (event.key === "j") moveFocus(1);
      if (event.key === "k") moveFocus(-1);
      if (event.key === "?") setShows("help");
    }
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const here = place.value.parts[0] ?? "";
  useEffect(() => {
    const screen = kScreens.find((each) => each.name === here);
    document.title = `${place.value.parts[2] ?? screen?.label ?? "Holdfast"} · Holdfast`;
  }, [place.value]);
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("#content")?.focus(); }}>Skip to the content</a>
      <aside class={isOpen ? "open" : ""}>
        <a class="brand" href={link([])}><img src="ui/icon.svg" alt="" width="24" height="24" />Holdfast</a>
        <button type="button" class="menu small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{isOpen ? "Close" : "Menu"}</button>
        <nav aria-label="Screens">
          {["Work", "Run", "Define", "System"].map((group) => (
            <div key={group} class="group">
              <span class="group-name">{group}</span>
              {kScreens.filter((each) => each.group === group).map(({ name, label }) => (
                <a key={name} href={link(name ? [name] : [])} aria-current={name === here ? "page" : undefined}><Icon name={name} />{label}</a>
              ))}
            </div>
          ))}
        </nav>
        <div class="settings">
          <p class={!isConnected.value ? "state bad" : isLive.value ? "state live" : "state quiet"}>{!isConnected.value ? "no connection" : isLive.value ? "live" : "asks every few seconds"}{me.value && !me.value.open ? ` · ${me.value.name || "token"}, ${me.value.role}` : ""}</p>
          <KillButton />
          <button type="button" class="small" onClick={() => setShows("palette")}>Go to… <kbd>Ctrl K</kbd></button>
          <Theme />
          <label class="check"><input type="checkbox" checked={isUtc.value} onChange={(event) => setUtc(event.currentTarget.checked)} /> UTC</label>
        </div>
      </aside>
      <div id="content" tabIndex={-1}>
        {!isConnected.value && <div class="problem offline" role="alert"><strong>No connection.</strong> The page tries again by itself.</div>}
        <KillReport />
        <Screen />
      </div>
      <Toasts />
      {needsToken.value && <TokenDialog />}
      {shows === "palette" && <Palette close={() => setShows("")} />}
      {shows === "help" && <Dialog title="Keys" close={() => setShows("")}><dl class="facts">{kKeys.map(([keys, what]) => <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>)}</dl></Dialog>}
    </>
  );
}

void loadMe();
void watch();
render(<App />, document.getElementById("app")!);
