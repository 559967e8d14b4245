import { acting, liveCluster } from '../cluster/live.ts';
import { Refused, UsageError } from '../errors.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { withRun } from '../session/with-run.ts';
import { benchOf, defaultOutside, outsideOf } from '../windows/selftest/bench.ts';
import { type Row, selftestPlan } from '../windows/selftest/plan.ts';
import { selftest } from '../windows/selftest/selftest.ts';
import type { WindowsSelftestOptions } from './tools.command.ts';

const WORDS: Readonly<Record<Row['result'], string>> = {
  pass: 'pass',
  fail: 'FAIL',
  limit: 'limit',
  'not-tried': 'not tried',
};

/** The table of a selftest: each flow, its result and the reason. */
export function selftestText(rows: readonly Row[]): string {
  const lines = rows.map((row) => [row.about, WORDS[row.result], row.flow, row.result === 'pass' ? '' : row.why]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]!.length), 0));
  const count = (result: Row['result']): string =>
    `${String(rows.filter((row) => row.result === result).length)} ${WORDS[result]}`;
  return [
    ...lines.map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
    (['pass', 'fail', 'limit', 'not-tried'] as const).map(count).join(', '),
    '',
  ].join('\n');
}

/** Windows images have several gigabytes. */
const START_MS = 20 * 60_000;
const FLOW_MS = 30_000;
const PATIENCE_MS = 5_000;

/** The exit code of a flow that fails: that of a host that does not match the inventory in time. */
const FAILED = 5;

async function asked(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`${url}: ${String(response.status)}`);
  return response.text();
}

/** `kbuild windows selftest`: every connectivity flow of Windows pods, as a table. Makes and removes one namespace. */
export const runSelftest = (outer: Context, flags: WindowsSelftestOptions): Promise<number> =>
  withRun(outer, flags, { command: 'windows selftest', json: 'document', hasOwnTimeout: true }, async (run) => {
    const { context } = run;
    const { connected, inventory } = run;
    const { os = 'windows' } = flags;
    if (os !== 'windows' && os !== 'linux') throw new UsageError(`--os is windows or linux, not "${os}"`);
    const fleet = connected.observations.fleet();
    const cluster = liveCluster(fleet);
    refuseForeign(run, [cluster.via]);
    const plan = selftestPlan(cluster, os, inventory.hosts);
    if (plan.groups.length === 0)
      throw new Refused(
        'no-ready-node',
        inventory.name,
        `it has no ${os === 'windows' ? 'Windows' : 'Linux'} node that is Ready and takes pods`,
        os === 'windows' ? '`--os linux` tries the same flows on Linux nodes' : 'kbuild status shows the nodes',
      );
    const host = acting(fleet);
    const bench = benchOf({
      inventory,
      host,
      remote: connected.on(host),
      namespace: `kbuild-selftest-${run.runId.slice(-8)}`,
      fetch: asked,
    });
    const outside = await outsideOf(inventory, flags.outside ?? defaultOutside(inventory), (name) =>
      bench.resolve(name),
    );
    const rows = await selftest(bench, plan, cluster.nodes, {
      image: inventory.network.testImage,
      dnsDomain: inventory.kubernetes.dnsDomain,
      nodeLimit: networkPlugin(inventory).windows?.nodeLimit?.(inventory.network),
      outside,
      startMs: flags.timeout ?? START_MS,
      flowMs: FLOW_MS,
      nowMs: context.nowMs,
      sleep: context.sleep,
      say: (text) => {
        if (flags.quiet !== true) context.err(`${text}\n`);
      },
      signal: run.signal,
    });
    context.out(
      flags.json === true ? jsonDocument<'selftest'>({ cluster: inventory.name, os, rows }) : selftestText(rows),
    );
    return rows.some(({ result }) => result === 'fail') ? FAILED : 0;
  });
