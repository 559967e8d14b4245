import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checks } from '../../src/commands/every.checks.ts';
import { commands } from '../../src/commands/commands.ts';
import { runExplain } from '../../src/commands/explain.ts';
import * as errors from '../../src/errors.ts';
import { EXIT, EXIT_CODES, SERIOUSNESS } from '../../src/exit-codes.ts';
import { inventorySettings, withInner } from '../../src/inventory/file/settings.ts';
import {
  checkExplained,
  exitExplained,
  type Explanation,
  explanationText,
  refusalExplained,
  settingExplained,
} from '../../src/report/explain.ts';
import { refusals } from '../../src/refusals/refusals.ts';
import { docsPage } from '../../src/versions.ts';
import { quietContext } from '../commands/quiet-context.ts';
import { load } from '../inventory/load.ts';
import { faultsIn, faultsOf } from '../tools/documents.ts';

const settings = withInner(inventorySettings()).slice(1);
const all: readonly Explanation[] = [
  ...settings.map(settingExplained),
  ...checks.map(checkExplained),
  ...EXIT_CODES.map(exitExplained),
];

const root = new URL('../../', import.meta.url);

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...readFileSync(new URL(page, root), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('explain', () => {
  test('every setting, check and exit code says what it is for', () => {
    expect(all.filter(({ why }) => why.trim() === '').map(({ name }) => name)).toEqual([]);
    expect(EXIT_CODES.map(({ code }) => code)).toEqual(Object.values(EXIT).toSorted((a, b) => a - b));
    expect(all.filter(({ kind, title }) => kind !== 'setting' && title.trim() === '')).toEqual([]);
    expect(EXIT_CODES.filter(({ remedy }) => remedy.trim() === '')).toEqual([]);
  });

  test('every class of errors has an exit code of the table', () => {
    const text = readFileSync(new URL('src/errors.ts', root), 'utf8');
    expect(text).not.toMatch(/exitCode(?:: \d+)? = \d/);
    expect(SERIOUSNESS.filter((code) => errors.mostSerious([code]) !== code)).toEqual([]);
  });

  test('every page that it names is there, with the section', () => {
    const pages = new Set(all.flatMap(({ more }) => more.map((address) => address.replace(docsPage(''), 'docs/'))));
    const missing = [...pages].filter((page) => {
      const [file, anchor] = page.split('#');
      return !existsSync(new URL(file!, root)) || (anchor !== undefined && !anchorsOf(file!).includes(anchor));
    });
    expect(missing).toEqual([]);
    expect(all.filter(({ more }) => more.length === 0)).toEqual([]);
  });

  test('shows links of its texts as addresses: a terminal follows no other', () => {
    const text = (name: string): string =>
      explanationText(refusalExplained(refusals.find((one) => one.name === name)!)).replaceAll(/\s+/g, ' ');
    expect(text('removed-api')).toContain(`know what they are for (${docsPage('upgrade-removed.md')}).`);
    const shown = [...all, ...refusals.map(refusalExplained)].map(explanationText).join('\n');
    expect(shown.match(/\]\(|\(docs\/|[^/]\bdocs\/[a-z-]+\.md/g)).toBeNull();
    expect(shown.replaceAll(/\s+/g, ' ')).toContain('(https://github.com/kubernetes/kubernetes/issues/136786)');
  });

  test('is wrapped once, to the width of a narrow terminal', () => {
    const widest = (text: string): number =>
      Math.max(
        ...text
          .split('\n')
          .filter((line) => !line.includes('https:'))
          .map((line) => line.length),
      );
    const explained = checkExplained(checks.find(({ name }) => name === 'address-on-host')!);
    expect(widest(explanationText(explained, 46))).toBeLessThanOrEqual(46);
    expect(widest(explanationText(explained, 300))).toBeGreaterThan(80);
    expect(widest(explanationText(explained, 300))).toBeLessThanOrEqual(100);
  });

  test('the example of the network plugin is one that validate accepts (D23)', () => {
    const { example } = settings.map(settingExplained).find(({ name }) => name === 'network.plugin')!;
    expect(example).toBe('network:\n  plugin: none\n');
  });

  test('the example of a setting is YAML with the setting at its place', () => {
    for (const { name, example } of settings.map(settingExplained)) {
      if (example === undefined) continue;
      const value = name.split('.').reduce<unknown>((at, part) => {
        const key = part.replace('[]', '');
        const inner = (at as Record<string, unknown>)[key === 'NAME' ? 'gpu' : key];
        return part.endsWith('[]') ? (inner as unknown[])[0] : inner;
      }, parse(example));
      expect(value, name).not.toBeUndefined();
    }
  });

  test.each([
    'kubeadm.cluster',
    'kubeadm.init',
    'kubeadm.join',
    'kubeadm.kubeProxy',
    'kubeadm.reset',
    'kubelet.config',
  ])('an inventory with the example of %s is valid', async (name) => {
    const { example } = settingExplained(settings.find(({ path }) => path === name)!);
    await expect(load(`${GOOD}${example!}`)).resolves.toBeDefined();
  });

  test('no line is longer than a terminal is wide, but for words and lists of values', () => {
    const long = all
      .flatMap((one) => explanationText({ ...one, type: '', inside: [] }).split('\n'))
      .filter((line) => line.length > 100 && /^ {2}\S+ \S/.test(line) && !/^ {2}(?:default|required)/.test(line));
    expect(long).toEqual([]);
  });
});

const GOOD = `name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
hosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]
`;

/** What `kbuild explain` prints; it exits 0. */
async function printed(...operands: readonly string[]): Promise<string> {
  const { context, out } = quietContext();
  expect(await runExplain(context, {}, operands)).toBe(0);
  return out();
}

describe('kbuild explain', () => {
  test('lists what there is', async () => {
    const lists = await printed();
    for (const name of ['loadBalancer', 'clock-skew', '130']) expect(lists).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(await printed('check')).not.toContain('loadBalancer');
    // A pipe takes whole lines (D26).
    expect(lists).not.toMatch(/…$/m);
    expect(await printed('exit')).toMatch(/^ {2}7 +refused/m);
  });

  test('explains a setting by any way to write its path', async () => {
    const text = await printed('hosts[].labels');
    expect(text).toBe(await printed('hosts.labels'));
    expect(text).toBe(await printed('hosts[2].labels'));
    expect(text).toContain('hosts:\n    - labels:\n        disk: ssd');
  });

  test('says which value is the default', async () => {
    expect(await printed('network.plugin')).toMatch(/flannel: the default/);
  });

  test('a check and an exit code need no word before them where no setting has the name', async () => {
    expect(await printed('clock-skew')).toBe(await printed('check', 'clock-skew'));
    expect(await printed('7')).toBe(await printed('exit', '7'));
    expect(await printed('firewall')).not.toBe(await printed('check', 'firewall'));
  });

  test('ends with a next command, which explains what it names', async () => {
    for (const name of ['network', 'hosts', 'network.podSubnet', 'clock-skew', 'other-cluster', '7', '']) {
      const { context, err } = quietContext();
      await runExplain(context, {}, name === '' ? [] : [name]);
      const [, command = '', topic] = /^next: kbuild (\w+)(?: (\S+))?\n$/.exec(err())!;
      expect(commands.some((one) => one.name === command)).toBe(true);
      if (topic !== undefined) await printed(topic);
    }
    const { context, err } = quietContext();
    await runExplain(context, { json: true }, ['network']);
    expect(err()).toBe('');
  });

  test('--json is one document, which docs/schemas describes', async () => {
    for (const one of all) expect(faultsIn('explain', one)).toEqual([]);
    const lists = quietContext();
    await runExplain(lists.context, { json: true }, []);
    expect(faultsOf('topics', JSON.parse(lists.out()))).toEqual([]);
    const { context, out } = quietContext();
    await runExplain(context, { json: true }, ['network.podSubnet']);
    expect(JSON.parse(out())).toMatchObject({ schemaVersion: 1, kind: 'setting', default: '10.244.0.0/16' });
  });

  test.each([
    [['network.podsubnet'], 'did you mean "network.podSubnet"'],
    [['check', 'clock-sked'], 'did you mean "clock-skew"'],
    [['exit', '13'], 'is no exit code of kbuild'],
    [['hots[].labels'], 'did you mean "hosts[].labels"'],
    [['a', 'b'], 'one thing at a time'],
    [['check', 'swap', 'mtu'], 'one thing at a time'],
    [['__proto__'], 'is no setting'],
  ])('%j is refused, with the nearest name', (operands, message) => {
    const { context } = quietContext();
    expect(() => runExplain(context, {}, operands)).toThrow(errors.UsageError);
    expect(() => runExplain(context, {}, operands)).toThrow(message);
  });
});
