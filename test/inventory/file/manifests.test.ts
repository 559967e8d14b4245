import { expect, test } from 'vitest';
import { manifestObjects } from '../../../src/inventory/file/manifests.ts';

const object = (rest = ''): string => `apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n${rest}`;
const read = (rest: string): unknown => manifestObjects(object(rest), 'a.yaml')[0];

test('values are parsed as kubectl parses them', () => {
  expect(read('a: 0644\nb: yes\nc: "no"\nd: y\ne: 1.30\nf: 2001-12-14\ng: 12:30:45\nh: off')).toMatchObject({
    a: 420,
    b: true,
    c: 'no',
    d: 'y',
    e: 1.3,
    f: '2001-12-14',
    g: '12:30:45',
    h: false,
  });
});

test('anchors and merge keys work', () => {
  expect(read('a: &x { b: 1 }\nc: { <<: *x, d: 2 }')).toMatchObject({ c: { b: 1, d: 2 } });
});

test('empty documents are ignored, a List becomes its items', () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n  - { apiVersion: v1, kind: A, metadata: { name: x } }\n`;
  expect(manifestObjects(`---\n# nothing\n---\n${object()}---\n${list}`, 'a.yaml')).toHaveLength(2);
  expect(manifestObjects('', 'a.yaml')).toEqual([]);
  expect(manifestObjects('{"apiVersion":"v1","kind":"A","metadata":{"name":"x"}}', 'a.json')).toHaveLength(1);
});

test.each([
  ['kind: A\nmetadata: { name: a }', /^a\.yaml:1:1: an object needs apiVersion/],
  [`${object()}---\napiVersion: v1\nkind: A\nmetadata: { generateName: a }`, /^a\.yaml:5:1: .*metadata\.name/],
  ['hello', /^a\.yaml:1:1: is no Kubernetes object/],
  [`${object()}a: [`, /^a\.yaml:4:5: is not valid YAML/],
  [`${object()}a: !x 1`, /^a\.yaml:4:4: .*Unresolved tag/],
  [`${object()}a: *gone`, /^a\.yaml:/],
  [`kind: List\nitems: [1]`, /is no Kubernetes object/],
])('%j is refused with its place', (text, message) => {
  expect(() => manifestObjects(text, 'a.yaml')).toThrow(message);
});
