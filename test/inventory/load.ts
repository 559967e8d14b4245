import { checkNames } from '../../src/commands/every.checks.ts';
import { InventoryError, type Problem } from '../../src/errors.ts';
import { type Loaded, loadInventory } from '../../src/inventory/file/load.ts';
import { localSources, type Sources } from '../../src/inventory/file/sources.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';

/** A good inventory, which tests of mistakes change in one place. */
export const GOOD = `name: prod
kubernetes:
  version: "1.36.3"
  endpoint: k8s.example.com:6443
network:
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
hosts:
  - name: cp1
    address: 10.0.0.11
    role: control-plane
  - name: w1
    address: 10.0.0.21
    role: worker
`;

/** A world of files in memory, below /work. Nothing else can be read, run or fetched unless a test says so. */
export function memorySources(
  files: Readonly<Record<string, string | Uint8Array>>,
  more: Partial<Sources> = {},
): Sources {
  const { locate } = localSources({ env: { HOME: '/home/user' }, cwd: '/work', reach: 'local' });
  return {
    env: {},
    locate,
    read: (path, limit) => {
      const content = files[path.replace(/^\/work\//, '')];
      if (content === undefined) return Promise.reject(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }));
      return Promise.resolve(Buffer.from(content as string).subarray(0, limit));
    },
    list: (path) => {
      const folder = `${path.replace(/^\/work\//, '')}/`;
      const names = Object.keys(files).filter((name) => name.startsWith(folder));
      if (names.length === 0) return Promise.reject(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }));
      return Promise.resolve(names.map((name) => name.slice(folder.length)).sort());
    },
    ...more,
  };
}

/** Loads a text as `inventory.yaml`, with other files beside it. */
export const load = (
  text: string | Uint8Array,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  more: Partial<Sources> = {},
): Promise<Loaded> =>
  loadInventory({
    file: 'inventory.yaml',
    env: {},
    cwd: '/work',
    checks: checkNames,
    sources: memorySources({ 'inventory.yaml': text, ...files }, more),
  });

/** The inventory that a text makes. */
export const inventoryOf = async (...args: Parameters<typeof load>): Promise<Inventory> =>
  (await load(...args)).inventory;

/** The problems of a text, as users see them; empty for a good one. */
export async function problemsOf(...args: Parameters<typeof load>): Promise<readonly string[]> {
  try {
    await load(...args);
    return [];
  } catch (error) {
    if (error instanceof InventoryError) return error.problems.map(shown);
    throw error;
  }
}

/** `line:column path: message`. */
export const shown = ({ at, path, message }: Problem): string =>
  `${at.replace(/^inventory\.yaml:?/, '')} ${path}: ${message}`;
