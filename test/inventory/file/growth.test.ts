import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkNames } from '../../../src/commands/every.checks.ts';
import { skeleton } from '../../../src/commands/init-skeleton.ts';
import { InventoryError } from '../../../src/errors.ts';
import { loadInventory } from '../../../src/inventory/file/load.ts';
import { localSources } from '../../../src/inventory/file/sources.ts';
import { balancers } from '../../../src/inventory/hosts.ts';
import type { Inventory } from '../../../src/inventory/inventory.ts';

const folder = mkdtempSync(`${tmpdir()}/kbuild-growth-`);
afterAll(() => rmSync(folder, { recursive: true }));

async function load(text: string): Promise<{ readonly inventory: Inventory; readonly warnings: number }> {
  const sources = {
    ...localSources({ env: {}, cwd: folder, reach: 'local' }),
    read: () => Promise.resolve(Buffer.from(text)),
  };
  const { inventory, warnings } = await loadInventory({
    file: 'inventory.yaml',
    env: {},
    cwd: folder,
    checks: checkNames,
    sources,
  });
  return { inventory, warnings: warnings.length };
}

interface Text {
  readonly hosts: readonly { readonly name: string; readonly address: string }[];
}

/** The same inventory with two control planes more. */
function grown(text: string, changes: object = {}): string {
  const before = parse(text) as Text;
  const added = ['192.0.2.12', '192.0.2.13'].map((address, i) => ({
    name: `more${String(i + 1)}`,
    address,
    role: 'control-plane',
  }));
  return stringify({ ...before, hosts: [...before.hosts, ...added], ...changes });
}

const single = readFileSync(new URL('../../../inventories/single.yaml', import.meta.url), 'utf8');
const answers = {
  name: 'demo',
  version: '1.36.3',
  user: 'root',
  hosts: [{ name: 'cp1', address: '192.0.2.11', role: 'control-plane' as const }],
};
const VIRTUAL = '192.0.2.100';
const KEEPALIVED = { loadBalancer: { kind: 'keepalived', address: VIRTUAL } };
/** What `kbuild init` proposes in its comment, without the comment sign. */
const uncommented = (text: string): string => text.replace(/^# (loadBalancer: \{ kind: keepalived.*\})/m, '$1');

describe('one control plane grows to three with keepalived on themselves', () => {
  test.each([
    ['inventories/single.yaml', single],
    ['kbuild init --virtual-address', skeleton({ ...answers, virtualAddress: VIRTUAL })],
    ['the proposal in the comment of kbuild init', uncommented(skeleton(answers))],
  ])('%s: the endpoint stays the same, and the inventory is valid before and after', async (_, text) => {
    const before = await load(text);
    const after = await load(grown(text));
    expect(before.warnings + after.warnings).toBe(0);
    expect(before.inventory.endpoint).toBe(`${VIRTUAL}:8443`);
    expect(after.inventory.endpoint).toBe(before.inventory.endpoint);
    expect(balancers(before.inventory)).toHaveLength(1);
    expect(balancers(after.inventory)).toHaveLength(3);
  });

  test('a cluster with a name at port 6443 cannot: it grows behind hosts of role load-balancer or an external load balancer', async () => {
    const text = skeleton({ ...answers, endpoint: 'k8s.example.com:6443' });
    expect((await load(text)).inventory.endpoint).toBe('k8s.example.com:6443');
    await expect(load(grown(text, KEEPALIVED))).rejects.toThrow(InventoryError);
    await expect(load(grown(text, KEEPALIVED))).rejects.toThrow(/the API servers listen at 6443 on the same hosts/);
    expect((await load(grown(text, { loadBalancer: { kind: 'external' } }))).inventory.endpoint).toBe(
      'k8s.example.com:6443',
    );
    expect(text).toContain('For keepalived on the\n# control planes themselves, take this instead of the endpoint');
  });
});
