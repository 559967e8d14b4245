import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkNames } from '../../src/commands/every.checks.ts';
import { up } from '../../src/commands/up.phases.ts';
import { UsageError } from '../../src/errors.ts';
import { loadInventory } from '../../src/inventory/file/load.ts';
import { selects } from '../../src/inventory/hosts.ts';
import { UP_PHASES } from '../../src/session/command.ts';
import { filledList } from '../../src/session/options.ts';
import { checkSelection, withoutGroups } from '../../src/session/selection.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';
import { filesIn } from '../tools/files-in.ts';

const refusal = (flags: Parameters<typeof checkSelection>[1]): string => {
  try {
    checkSelection(inventory(), flags);
  } catch (error) {
    if (error instanceof UsageError) return `${error.message} → ${error.remedy ?? ''}`;
    throw error;
  }
  return '';
};

describe('--hosts', () => {
  test('accepts names and patterns of hosts in the inventory', () => {
    expect(refusal({ hosts: ['cp1', 'w*'] })).toBe('');
    expect(refusal({})).toBe('');
  });

  test('refuses a name that no host has, and proposes the nearest one, also beside names that match', () => {
    expect(refusal({ hosts: ['cp1', 'pc1'] })).toBe(
      '--hosts: "pc1" matches no host or group of the inventory; nothing was done, and no host was contacted → did you mean "cp1"?',
    );
    expect(refusal({ hosts: ['nosuch'] })).toContain('→ there are cp1, w1, w2');
    expect(refusal({ hosts: ['x*'] })).toContain('"x*" matches no host or group of the inventory');
  });

  test('refuses an empty list, which selects no host', () => {
    expect(refusal({ hosts: [] })).toContain('--hosts: the list is empty');
    expect(() => filledList('')).toThrow('the list is empty');
    expect(() => filledList(' , ')).toThrow('the list is empty');
    expect(filledList('a,b')).toEqual(['a', 'b']);
    expect(selects([], 'cp1')).toBe(false);
    expect(selects(undefined, 'cp1')).toBe(true);
  });
});

describe('--hosts with groups', () => {
  const grouped = inventory({
    hosts: [
      linuxHost('cp1', { role: 'control-plane' }),
      linuxHost('w1', { groups: ['gpu'] }),
      linuxHost('w2', { groups: ['fast', 'gpu'] }),
    ],
  });

  test('accepts the name of a group, and means its hosts', () => {
    expect(() => {
      checkSelection(grouped, { hosts: ['gpu', 'cp1'] });
    }).not.toThrow();
    expect(withoutGroups(grouped, { hosts: ['gpu', 'fast', 'cp*'], quiet: true })).toEqual({
      hosts: ['w1', 'w2', 'cp*'],
      quiet: true,
    });
    expect(withoutGroups(grouped, { hosts: ['gp*'] })).toEqual({ hosts: ['w1', 'w2'] });
    expect(withoutGroups(grouped, {})).toEqual({});
  });

  test('refuses a group that no host is in, and proposes the nearest one', () => {
    expect(() => {
      checkSelection(grouped, { hosts: ['gpus'] });
    }).toThrow('"gpus" matches no host or group of the inventory');
    expect(refusal({ hosts: ['gpu'] })).toContain('"gpu" matches no host or group');
  });

  test('reaches a command as names of hosts: no command reads the flags that came before', () => {
    const folder = new URL('../../src/commands/', import.meta.url);
    const works = filesIn('src/commands', '.ts').flatMap((name) => {
      const work = /outer: Context, flags\b[\s\S]*/.exec(readFileSync(new URL(name, folder), 'utf8'))?.[0];
      return work === undefined ? [] : [{ name, work }];
    });
    expect(works.length).toBeGreaterThan(5);
    expect(works.filter(({ work }) => /(?<!run\.)flags\.hosts/.test(work)).map(({ name }) => name)).toEqual([]);
  });
});

describe('--phase', () => {
  test('refuses a phase that `up` does not have, and proposes the nearest one', () => {
    expect(refusal({ phase: ['prepare', 'setings'] })).toContain('"setings" matches no phase');
    expect(refusal({ phase: ['setings'] })).toContain('did you mean "settings"?');
    expect(refusal({ phase: ['etcd-members', 'windows-*'] })).toBe('');
  });

  test('knows all phases of `up`, and no others', async () => {
    const folder = new URL('../../inventories/', import.meta.url).pathname;
    const found = new Set<string>();
    // One of them names files that only its user has, one a chart, for which this machine would need Helm.
    const own = ['external-etcd-own.yaml', 'cilium.yaml'];
    const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && !own.includes(name));
    for (const file of files) {
      const { inventory: one } = await loadInventory({
        file: join(folder, file),
        env: {},
        cwd: folder,
        checks: checkNames,
      });
      const names = up(one).map(({ name }) => name);
      expect(names.filter((name) => !(UP_PHASES as readonly string[]).includes(name))).toEqual([]);
      for (const name of names) found.add(name);
    }
    // Hosts of role load-balancer and serving certificates of kubelets are in none of them: test/commands/up-phases.test.ts has them.
    expect([...UP_PHASES].filter((name) => !found.has(name))).toEqual([
      'prepare-balancers',
      'kubelet-serving',
      'kubelet-authority',
    ]);
  });
});

test('--ignore-check refuses the name of an unknown check before any host is contacted', () => {
  expect(refusal({ ignoreCheck: ['time-synk'] })).toContain('did you mean "time-sync"?');
});
