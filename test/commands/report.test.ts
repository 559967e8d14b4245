import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runReport } from '../../src/commands/report.ts';
import type { ReportOptions } from '../../src/commands/tools.command.ts';
import { REPORT_BEGINS } from '../../src/report/page/page.ts';
import type { Context } from '../../src/session/context.ts';
import { FAILED_RUN, killedRunText, recordHeadOf, recordText } from '../fakes/record.ts';

let folder: string;
let out: string;
let err: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-report-'));
  out = '';
  err = '';
});
afterEach(() => rmSync(folder, { recursive: true }));

const context = (): Context => ({
  version: '0.1.0',
  out: (text) => (out += text),
  err: (text) => (err += text),
  terminal: undefined,
  env: { XDG_STATE_HOME: join(folder, 'state') },
  cwd: folder,
  canAsk: false,
  ask: () => Promise.resolve(''),
  askHidden: () => Promise.resolve(''),
  onInterrupt: () => () => undefined,
  exit: () => undefined,
  nowMs: () => 0,
  sleep: () => Promise.resolve(),
});

const report = (flags: ReportOptions, ...operands: readonly string[]): Promise<number> =>
  runReport(context(), flags, operands);

const FIRST = '20261121t165045z-0a1b2c3d';
const SECOND = '20261121t165145z-1a1b2c3d';
const SAVE = '20261122t080000z-2a1b2c3d';

function recorded(run: string, command: string, text?: string, cluster = 'demo'): string {
  const runs = join(folder, 'state/kbuild', cluster, 'runs');
  mkdirSync(runs, { recursive: true });
  const path = join(runs, `${run}-${command.replaceAll(' ', '-')}.ndjson`);
  writeFileSync(path, text ?? recordText(FAILED_RUN, recordHeadOf({ run, command, cluster })));
  return path;
}

const inFolder = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('kbuild report', () => {
  test('writes the newest run of the inventory, which only its owner can read', async () => {
    recorded(FIRST, 'up');
    recorded(SECOND, 'check');
    // What else the inventory says need not be right, and its secrets need not be there.
    writeFileSync(
      join(folder, 'inventory.yaml'),
      'name: demo\nhosts: [{ name: cp1, password: env:NOT_SET, rool: x }]\n',
    );
    expect(await report({})).toBe(0);
    const name = `demo-${SECOND}.html`;
    expect(inFolder(name).startsWith(REPORT_BEGINS)).toBe(true);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(err).toBe(`wrote ${join(folder, name)}: kbuild check of 2026-11-21 16:50:45 UTC\n`);
    expect(out).toBe('');
  });

  test('takes an id, its beginning, a command or a path', async () => {
    recorded(FIRST, 'up');
    const path = recorded(SAVE, 'etcd snapshot save');
    for (const [name, run] of [
      [FIRST, FIRST],
      ['20261122', SAVE],
      ['20261121T1650', FIRST],
      ['up', FIRST],
      ['etcd snapshot save', SAVE],
      ['etcd-snapshot-save', SAVE],
    ] as const) {
      await report({ cluster: 'demo', output: 'page.html' }, name);
      expect(inFolder('page.html'), name).toContain(run);
    }
    await report({ output: 'page.html' }, path);
    expect(inFolder('page.html')).toContain(SAVE);
  });

  test('writes to standard output, and a trace', async () => {
    recorded(FIRST, 'up');
    await report({ cluster: 'demo', output: '-' });
    expect(out.startsWith(REPORT_BEGINS)).toBe(true);
    await report({ cluster: 'demo', trace: 'trace.json' });
    expect(JSON.parse(inFolder('trace.json'))).toMatchObject({ otherData: { run: FIRST } });
    // Again, over its own file.
    await report({ cluster: 'demo', trace: 'trace.json', json: true });
    expect(() => inFolder(`demo-${FIRST}.html`)).toThrow(/ENOENT/);
  });

  test('lists runs, the newest first, also those that cannot be read', async () => {
    recorded(FIRST, 'up');
    recorded(SECOND, 'up', killedRunText());
    recorded(SAVE, 'etcd snapshot save', '{"kind":"run","format":9}\n');
    expect(await report({ cluster: 'demo', list: true })).toBe(0);
    const [head, save, killed, first] = out.trimEnd().split('\n');
    expect(head).toMatch(/^ {2}RUN +TIME \(UTC\) +COMMAND +RESULT +TOOK$/);
    expect(save).toMatch(/2a1b2c3d +etcd-snapshot-save +.*format 9/);
    expect(killed).toMatch(/2026-11-21 16:50:45 +up +no end: killed, or still running$/);
    expect(first).toMatch(/0a1b2c3d +2026-11-21 16:50:45 +up +not finished: .* +1 min 24 s$/);
    out = '';
    await report({ cluster: 'demo', list: true, json: true });
    expect(JSON.parse(out)).toMatchObject({
      cluster: 'demo',
      runs: [
        { run: SAVE, unreadable: expect.stringContaining('format 9') as string },
        { command: 'up' },
        { run: FIRST, exitCode: 4, durationMs: 84_200 },
      ],
    });
  });

  test('shows a run that was killed', async () => {
    recorded(FIRST, 'up', killedRunText());
    await report({ cluster: 'demo', output: '-' });
    expect(out).toContain('without a result');
    expect(out).toContain('The record has no end');
  });
});

describe('two clusters of one name (D29)', () => {
  const record = (run: string, inventory: string | undefined): string =>
    recorded(
      run,
      'up',
      recordText(FAILED_RUN, recordHeadOf({ run, ...(inventory === undefined ? {} : { inventory }) })),
    );
  beforeEach(() => {
    writeFileSync(join(folder, 'inventory.yaml'), 'name: demo\n');
    record(FIRST, join(folder, 'inventory.yaml'));
    record(SECOND, '/elsewhere/inventory.yaml');
  });

  test('an inventory means its own runs, though another cluster of its name ran later', async () => {
    await report({ output: '-' });
    expect(out).toContain(FIRST);
    out = '';
    await report({ list: true });
    expect(out).toContain(FIRST);
    expect(out).not.toContain(SECOND);
    await expect(report({}, SECOND.slice(0, 16))).rejects.toThrow(/no run begins with/);
  });

  test('--cluster means all of them, and the list says of which inventory each is', async () => {
    await report({ cluster: 'demo', list: true });
    expect(out).toMatch(/TOOK +INVENTORY\n/);
    expect(out).toMatch(/1a1b2c3d .* \/elsewhere\/inventory\.yaml\n/);
    out = '';
    await report({ cluster: 'demo', list: true, json: true });
    expect(JSON.parse(out)).toMatchObject({ runs: [{ inventory: '/elsewhere/inventory.yaml' }, {}] });
  });

  test('an inventory that has moved, and runs of an older kbuild, mean all of them', async () => {
    writeFileSync(join(folder, 'moved.yaml'), 'name: demo\n');
    await report({ inventory: 'moved.yaml', list: true });
    expect(out).toContain(SECOND);
    record(SAVE, undefined);
    out = '';
    await report({ list: true });
    expect(out).toContain(SAVE);
    expect(out).not.toContain(SECOND);
  });
});

describe('kbuild report says what is wrong', () => {
  test('there are no runs, or no inventory', async () => {
    recorded(FIRST, 'up');
    await expect(report({ cluster: 'other' })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(
        /^no run of other is recorded on this machine \(looked in .*\/other\/runs\)$/,
      ) as string,
      remedy: expect.stringContaining('(here: demo)') as string,
    });
    await expect(report({})).rejects.toMatchObject({
      message: 'there is no inventory.yaml here that names a cluster',
      remedy: 'name an inventory with -i, or a cluster with --cluster (here: demo)',
    });
    await expect(report({ cluster: '../x' })).rejects.toMatchObject({ exitCode: 2 });
  });

  test('a beginning is that of several runs, or of none', async () => {
    recorded(FIRST, 'up');
    recorded(SECOND, 'check');
    await expect(report({ cluster: 'demo' }, '2026')).rejects.toMatchObject({
      message: `"2026" is the beginning of 2 runs: ${SECOND} (check), ${FIRST} (up)`,
    });
    await expect(report({ cluster: 'demo' }, 'reset')).rejects.toMatchObject({
      message: 'no run begins with "reset", and no run of such a command is recorded',
    });
    await expect(report({ cluster: 'demo', list: true }, 'up')).rejects.toThrow(/--list takes no run/);
  });

  test('a record is of another format, no record, or cannot be read', async () => {
    writeFileSync(join(folder, 'new.ndjson'), '{"kind":"run","format":2}\n');
    writeFileSync(join(folder, 'other.ndjson'), 'hello\n');
    await expect(report({}, './new.ndjson')).rejects.toThrow(/new\.ndjson: a record of format 2/);
    await expect(report({}, 'other.ndjson')).rejects.toThrow(/not the record of a run/);
    await expect(report({}, 'nothing.ndjson')).rejects.toThrow(
      /^the record cannot be read: there is no such file or folder$/,
    );
    await expect(report({}, './')).rejects.toThrow(/^the record cannot be read: .*folder/);
  });

  test('another file has the name: it stays', async () => {
    recorded(FIRST, 'up');
    writeFileSync(join(folder, 'inventory.yaml'), 'name: demo\n');
    for (const flags of [{ output: 'inventory.yaml' }, { trace: 'inventory.yaml' }])
      await expect(report(flags)).rejects.toThrow(/inventory\.yaml is there already, and kbuild did not write it/);
    expect(inFolder('inventory.yaml')).toBe('name: demo\n');
    await expect(report({ output: '.' })).rejects.toMatchObject({ exitCode: 2 });
    await expect(report({ output: 'no/such/page.html' })).rejects.toThrow(
      /cannot be written: there is no such file or folder/,
    );
  });
});

test('a report replaces its own file behind a link, and not the link', async () => {
  recorded(FIRST, 'up');
  await report({ cluster: 'demo', output: 'page.html' });
  symlinkSync('page.html', join(folder, 'link.html'));
  await report({ cluster: 'demo', output: 'link.html' });
  expect(statSync(join(folder, 'page.html')).size).toBeGreaterThan(10_000);
});

test('the names in a record of another person make no path', async () => {
  const head = recordHeadOf({ cluster: '../../etc', run: '../cron' });
  writeFileSync(join(folder, 'x.ndjson'), recordText(FAILED_RUN, head));
  await report({}, 'x.ndjson');
  expect(inFolder('_.._etc-.._cron.html')).toContain('<h1>');
});

test('what looks like a secret in a record of another person is masked', async () => {
  const secret = 'abcdef.0123456789abcdef';
  writeFileSync(
    join(folder, 'x.ndjson'),
    recordText([[0, { kind: 'noted', host: 'w1', summary: `kubeadm join --token ${secret}` }]]),
  );
  await report({ output: '-' }, 'x.ndjson');
  expect(out).toContain('kubeadm join --token');
  expect(out).not.toContain(secret);
});
