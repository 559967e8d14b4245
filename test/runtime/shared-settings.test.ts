import { describe, expect, test } from 'vitest';
import { sharedFiles, withKbuild, withoutKbuild } from '../../src/runtime/settings-file.value.ts';
import type { JsonObject } from '../../src/shell/decode.ts';

const own = (there: JsonObject): JsonObject => ({
  opts: [
    ...(Array.isArray(there['opts']) ? there['opts'].map(String).filter((one) => !one.startsWith('k=')) : []),
    'k=1',
  ],
  keep: true,
});
const operators = '{ "opts": ["a=b", "k=0"],\n "log": "json" }';
const fresh = { text: undefined, record: undefined };

describe('settings beside those of the operator', () => {
  test('are merged over them', () =>
    expect(JSON.parse(withKbuild({ text: operators, record: undefined }, own).text)).toEqual({
      ...{ opts: ['a=b', 'k=1'], log: 'json', keep: true },
    }));
  test('are written once: a second run has nothing to change', () => {
    for (const text of [operators, undefined, '']) {
      const first = withKbuild({ text, record: undefined }, own);
      expect(withKbuild(first, own)).toEqual(first);
    }
  });
  test('leave a file alone that says the same in another form', () => {
    const text = '{"keep":true,"opts":["k=1"]}';
    expect(withKbuild({ text, record: undefined }, own).text).toBe(text);
  });
  test('that kbuild no longer needs go', () => {
    const first = withKbuild({ text: operators, record: undefined }, own);
    const next = withKbuild(first, () => ({ keep: true }));
    expect(JSON.parse(next.text)).toEqual({ opts: ['a=b', 'k=0'], log: 'json', keep: true });
  });
  test.each(['[1]', '{', '"text"'])('cannot be merged into %s', (text) =>
    expect(() => withKbuild({ text, record: undefined }, own)).toThrow(SyntaxError),
  );
});

describe('taken out again', () => {
  const undone = (files: { readonly text: string | undefined; readonly record: string | undefined }) =>
    withoutKbuild(files);
  test('the file is as it was, to the letter', () =>
    expect(undone(withKbuild({ text: operators, record: undefined }, own))).toBe(operators));
  test('a file that kbuild made is gone', () => expect(undone(withKbuild(fresh, own))).toBeUndefined());
  test('a file without a record is not of kbuild', () =>
    expect(undone({ text: operators, record: undefined })).toBe(operators));
  test('what the operator has changed since stays', () => {
    const { text, record } = withKbuild({ text: operators, record: undefined }, own);
    const edited = { ...(JSON.parse(text) as JsonObject), opts: ['a=b', 'k=1', 'new=1'], log: 'local', more: 1 };
    expect(JSON.parse(undone({ text: JSON.stringify(edited), record })!)).toEqual({
      ...{ opts: ['a=b', 'new=1'], log: 'local', more: 1 },
    });
  });
  test('a file that kbuild made, and the operator has added to, keeps that', () => {
    const { text, record } = withKbuild(fresh, own);
    const edited = JSON.stringify({ ...(JSON.parse(text) as JsonObject), log: 'local' });
    expect(JSON.parse(undone({ text: edited, record })!)).toEqual({ log: 'local' });
  });
  test('a run that was cut off after its record leaves the file as it is', () => {
    const { record } = withKbuild({ text: operators, record: undefined }, own);
    expect(undone({ text: operators, record })).toBe(operators);
    expect(undone({ text: undefined, record })).toBeUndefined();
  });
  test.each(['{', '{"before":1,"wrote":{}}', '[]'])('a record that is none of kbuild changes nothing: %s', (record) =>
    expect(undone({ text: operators, record })).toBe(operators),
  );
});

test('the probe tells an empty file from none', () => {
  const { parse } = sharedFiles(undefined);
  const base64 = Buffer.from('{"ä":1}').toString('base64');
  expect(parse(`present ${base64}\nabsent\n`, { middleMs: 0 })).toEqual({ text: '{"ä":1}', record: undefined });
  expect(parse('present \nabsent\n', { middleMs: 0 })).toEqual({ text: '', record: undefined });
  expect(parse('', { middleMs: 0 })).toEqual({ text: undefined, record: undefined });
});
