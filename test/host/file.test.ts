import { describe, expect, test } from 'vitest';
import { Refused } from '../../src/errors.ts';
import { file, files } from '../../src/host/file.step.ts';
import { Secret } from '../../src/shell/secret.ts';
import { sh } from '../../src/shell/sh.ts';
import { filesWith, fileWith } from '../fakes/files.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const path = '/etc/modules-load.d/kbuild.conf';
const step = file('modules', { path, content: () => 'overlay\n' });
const summaries = (state: Parameters<typeof filesWith>[0], one = step) =>
  one.diff(target({ files: filesWith(state) })).map(({ summary }) => summary);

describe('a file', () => {
  test('is written when there is none', () => expect(summaries({})).toEqual([`write ${path} (found none)`]));
  test('needs nothing in its desired state', () => expect(summaries({ [path]: 'overlay\n' })).toEqual([]));
  test('is written when its content differs', () =>
    expect(summaries({ [path]: 'x' })).toEqual([`write ${path} (content differs)`]));
  test('is written when its mode differs', () =>
    expect(summaries({ [path]: fileWith('overlay\n', 0o666) })).toEqual([`write ${path} (mode 666)`]));
  test('is written when its owner is not root', () =>
    expect(summaries({ [path]: { ...fileWith('overlay\n'), owner: 'bob:bob' } as never })).toEqual([
      `write ${path} (owner bob:bob)`,
    ]));
  test('of secret content has mode 600', () => {
    const secret = file('s', { path, content: () => Secret.of('overlay\n') });
    expect(summaries({ [path]: 'overlay\n' }, secret)).toEqual([`write ${path} (mode 644)`]);
    expect(summaries({ [path]: fileWith('overlay\n', 0o600) }, secret)).toEqual([]);
  });
  test('fails for a path that no step of the run watches', () => {
    expect(() => file('x', { path: '/nowhere', content: () => '' }).diff(target())).toThrow('/nowhere is not observed');
  });
  test('is not written over a folder', async () => {
    const [change] = step.diff(target({ files: new Map([[path, { kind: 'folder', mtimeMs: 1 }]]) }));
    await expect(change!.apply!(recordingOn().on)).rejects.toThrow(Refused);
  });
  test('is removed when it should not be there', () => {
    const gone = files('gone', () => [{ path, content: undefined }]);
    expect(summaries({ [path]: 'x' }, gone)).toEqual([`remove ${path}`]);
    expect(summaries({}, gone)).toEqual([]);
  });
});

test('a candidate is validated beside the file before it is written, and removed', async () => {
  const checked = file('checked', { path, content: () => 'a\n', validate: (one) => sh`check ${one}` });
  const { on, sent } = recordingOn();
  await checked.diff(target())[0]!.apply!(on);
  expect(
    sent.map((one) => ('path' in one ? `${one.kind} ${one.path}` : 'script' in one ? one.script : one.kind)),
  ).toEqual([
    `write ${path}.kbuild-candidate`,
    `check ${path}.kbuild-candidate`,
    `rm -f -- ${path}.kbuild-candidate`,
    `write ${path}`,
  ]);
});

test('a file that fails its validation stays as it was', async () => {
  const checked = file('checked', { path, content: () => 'a\n', validate: (one) => sh`check ${one}` });
  const { on, sent } = recordingOn({
    run: ({ title }) => {
      if (title.startsWith('check')) throw new Error('bad');
      return '';
    },
  });
  await expect(checked.diff(target())[0]!.apply!(on)).rejects.toThrow('bad');
  expect(sent.filter((one) => one.kind === 'write' && one.path === path)).toEqual([]);
});

describe('a preview', () => {
  const preview = async (state: Parameters<typeof filesWith>[0], one = step) =>
    one.diff(target({ files: filesWith(state) }))[0]!.preview!(recordingOn({ read: () => 'overlay\nold\n' }).on);
  test('shows what differs', async () =>
    expect(await preview({ [path]: 'overlay\nold\n' })).toBe(`${path}\n  overlay\n- old`));
  test('of a new file shows all of it', async () => expect(await preview({})).toBe(`${path}\n+ overlay`));
  test('never shows a secret', async () => {
    const secret = file('s', { path, content: () => Secret.of('token') });
    expect(await preview({}, secret)).toBe(`${path}\n(secret differs)`);
    expect(await preview({ [path]: fileWith('token', 0o600) })).toBe(`${path}\n(secret differs)`);
  });
  test.each([
    ['only root can read', fileWith('x', 0o640)],
    ['belongs to another user', { ...fileWith('x'), owner: 'root:shadow' } as const],
  ])('never shows a file that %s', async (_, state) =>
    expect(await preview({ [path]: state })).toBe(`${path}\n(secret differs)`),
  );
});

describe('a file whose path another user than root can lead elsewhere', () => {
  const unsafe = { kind: 'unsafe', why: '/home/app belongs to app (uid 1000)' } as const;
  const changeOf = (one = step) => one.diff(target({ files: filesWith({ [path]: unsafe }) }))[0]!;
  test.each([
    ['written', step],
    ['removed', files('gone', () => [{ path, content: undefined }])],
  ])('is not %s: the folder or link and its owner are named', async (_, one) => {
    const { on, sent } = recordingOn();
    await expect(changeOf(one).apply!(on)).rejects.toThrow(Refused);
    await expect(changeOf(one).apply!(on)).rejects.toThrow(`${path}: /home/app belongs to app (uid 1000)`);
    expect(sent).toEqual([]);
  });
  test('is not shown', async () => {
    const { on, sent } = recordingOn();
    expect(changeOf().summary).toBe(`write ${path} (/home/app belongs to app (uid 1000))`);
    expect(await changeOf().preview!(on)).toBe(`${path}\n(not shown: /home/app belongs to app (uid 1000))`);
    expect(sent).toEqual([]);
  });
});
