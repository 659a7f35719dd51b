// SPDX-License-Identifier: Apache-2.0
// Workflows of three SQL steps with DBOS, beside those of bench/postgres/run. A step inserts one row through a
// pool; DBOS records each step in the same database.
// usage: node dbos.mjs SOCKET_FOLDER IN_FLIGHT SECONDS
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";

const [folder, inFlight, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const pool = new pg.Pool({ host: folder, user: "owner", database: "shop", max: 16 });
const step = (n, name) => DBOS.runStep(() => pool.query("INSERT INTO peer_log (note) VALUES ($1)", [`${n} ${name}`]), { name });
const workflow = DBOS.registerWorkflow(async (n) => {
  for (const name of ["first", "second", "third"]) await step(n, name);
}, { name: "three" });

DBOS.setConfig({ name: "bench", applicationVersion: "1", logLevel: "error", runAdminServer: false,
  systemDatabaseUrl: `postgresql://owner@localhost/dbos?host=${encodeURIComponent(folder)}` });
await DBOS.launch();
let started = 0;
const times = [];
const until = Date.now() + seconds * 1000;
const begun = Date.now();
await Promise.all(Array.from({ length: inFlight }, async () => {
  while (Date.now() < until) {
    const at = performance.now();
    const handle = await DBOS.startWorkflow(workflow)(started++);
    await handle.getResult();
    times.push(performance.now() - at);
  }
}));
const took = (Date.now() - begun) / 1000;
times.sort((a, b) => a - b);
console.log(JSON.stringify({ rate: times.length / took, p50: times[times.length >> 1] }));
await DBOS.shutdown();
await pool.end();
