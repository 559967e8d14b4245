/**
 * kube-proxy's mode, edited on a live cluster: node by node; how long the API's Service is away from each is told. Services answer in the new
 * mode, its maps have their addresses, no rule of the old one is left, and the way back is the same. flannel follows with its own
 * rules. `KBUILD_LAB_SWITCHES=20` changes the mode so often.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { areBothAway, type Gap, longestMs, watchService } from '../service-watch.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['kpmcp1', 'kpmw1'];
type Mode = 'nftables' | 'iptables';
/** How often the mode changes; an even number, so that the last one is that of the beginning. */
const SWITCHES = Number(process.env['KBUILD_LAB_SWITCHES'] ?? 2);
const MODES = Array.from({ length: SWITCHES }, (_, i): Mode => (i % 2 === 0 ? 'nftables' : 'iptables'));
const PATIENCE_MS = 300_000;
let args: readonly string[];
let file: string;

beforeAll(async () => {
  ({ up: args, file } = await fresh('kube-proxy-mode', HOSTS));
  ok(await kbuild(...args));
});

afterAll(() => lab.down(HOSTS));

const edit = (mode: Mode): void => {
  const plain = parse(readFileSync(file, 'utf8')) as { readonly network?: object };
  const edited = { ...plain, network: { ...plain.network, kubeProxy: mode } };
  writeFileSync(file, stringify(edited, { aliasDuplicateObjects: false }));
};

interface Rules extends Readonly<Record<Mode, number>> {
  /** Elements of nftables' map `service-ips`: a table with an empty one serves nothing. */
  readonly addresses: number;
}

/** How many rules lead to Services on a host, in each mode. The kubelet's own chains have no Services. */
async function rulesOn(host: string): Promise<Rules> {
  const { stdout } = await lab.inside(
    host,
    `{ iptables-save; ip6tables-save; iptables-legacy-save 2>/dev/null; } | grep -cE 'KUBE-(SVC|SEP|SERVICES|NODEPORTS)'
     nft list tables | grep -c ' kube-proxy$'
     nft list map ip kube-proxy service-ips 2>/dev/null | grep -oF ' : goto ' | wc -l`,
  );
  const [iptables, nftables, addresses] = stdout.split('\n').map(Number);
  return { iptables: iptables!, nftables: nftables!, addresses: addresses! };
}

/** How many rules of flannel masquerade packets of pods on a host, in each mode. */
async function flannelsOn(host: string): Promise<Readonly<Record<Mode, number>>> {
  const { stdout } = await lab.inside(
    host,
    `iptables -t nat -S FLANNEL-POSTRTG 2>/dev/null | grep -c MASQUERADE
     nft list table ip flannel-ipv4 2>/dev/null | grep -c masquerade`,
  );
  const [iptables, nftables] = stdout.split('\n').map(Number);
  return { iptables: iptables!, nftables: nftables! };
}

/** When the pods of kube-proxy were made and ran, in s since the epoch; the one that was made first stands first. */
async function restarted(): Promise<readonly { readonly made: number; readonly ran: number }[]> {
  const times = `{range .items[*]}{.metadata.creationTimestamp} {.status.containerStatuses[0].state.running.startedAt}{"\\n"}{end}`;
  const shown = await kubectl(HOSTS[0]!, `-n kube-system get pods -l k8s-app=kube-proxy -o 'jsonpath=${times}'`);
  const pods = shown
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map((time) => Date.parse(time) / 1000));
  return pods.map(([made, ran]) => ({ made: made!, ran: ran! })).toSorted((a, b) => a.made - b.made);
}

const answers = async (host: string): Promise<boolean> =>
  (
    await lab.inside(host, 'curl -sk --max-time 3 -o /dev/null -w "%{http_code}" https://10.96.0.1/livez')
  ).stdout.startsWith('200');

describe.each(MODES.map((mode, i) => [i + 1, mode] as const))('change %i, to %s', (_, mode) => {
  const other: Mode = mode === 'nftables' ? 'iptables' : 'nftables';

  test('up changes it, Services answer everywhere, and no rule of the other mode is left', async () => {
    edit(mode);
    const { stdout: plan } = ok(await kbuild('plan', file));
    expect(plan).toContain('kube-proxy');
    expect(plan).toMatch(mode === 'nftables' ? /apply flannel \S+ with nftables/ : /apply flannel \S+ \(/);
    const watch = watchService(HOSTS, '10.96.0.1', 443);
    ok(await kbuild(...args));
    for (const host of HOSTS) {
      await waitUntil(`${host} has rules of ${mode} only`, PATIENCE_MS, async () => {
        const rules = await rulesOn(host);
        return rules[mode] > 0 && rules[other] === 0 && rules.addresses > 0 === (mode === 'nftables');
      });
      await waitUntil(`${host} has rules of flannel of ${mode} only`, PATIENCE_MS, async () => {
        const rules = await flannelsOn(host);
        return rules[mode] > 0 && rules[other] === 0;
      });
      await waitUntil(`the API's Service answers on ${host}`, PATIENCE_MS, () => answers(host));
    }
    const [first, second] = Object.values(await watch.stop()) as [readonly Gap[], readonly Gap[]];
    console.log(
      `to ${mode}: the Service was away ${String(longestMs(first))} ms from one host, ${String(longestMs(second))} ms from the ` +
        `other${areBothAway(first, second) ? ', in part from both at once' : ''}`,
    );
    const [earlier, later] = await restarted();
    expect(later!.made).toBeGreaterThanOrEqual(earlier!.ran);
  });

  test('then there is nothing to do', async () => {
    unchanged(await kbuild(...args));
  });
});

test('reset leaves no rule of either mode', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'kube-proxy-mode'));
  for (const host of HOSTS) {
    expect(await rulesOn(host)).toEqual({ iptables: 0, nftables: 0, addresses: 0 });
    expect(await flannelsOn(host)).toEqual({ iptables: 0, nftables: 0 });
  }
});
