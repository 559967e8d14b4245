import { expect, test } from 'vitest';
import { tableOf, verdictsOf } from '../lab/verdicts.ts';

const spec = (containers: readonly string[], text: string, more: object = {}) => ({
  ContainerHierarchyTexts: containers,
  LeafNodeText: text,
  LeafNodeType: 'It',
  State: 'passed',
  NumAttempts: 1,
  RunTime: 2e9,
  ...more,
});

const REPORT = [
  {
    SpecReports: [
      { ...spec([], ''), ContainerHierarchyTexts: null, LeafNodeType: 'SynchronizedBeforeSuite' },
      spec(['[sig-network] Services'], 'should serve endpoints [Conformance]'),
      spec(['[sig-network] DNS'], 'should answer [Conformance]', { NumAttempts: 2 }),
      spec(['[sig-apps] Daemon set [Serial]'], 'should run [Conformance]', {
        State: 'failed',
        Failure: { Message: 'timed out' },
      }),
      spec(['[sig-apps] Job'], 'was not chosen', { State: 'skipped' }),
    ],
  },
];

test('the verdict of each specification that ran: name, group, whether it passed, and at which attempt', () => {
  const common = { passed: true, again: false, seconds: 2, message: '' };
  expect(verdictsOf(REPORT)).toEqual([
    { ...common, name: '[sig-network] Services should serve endpoints', group: 'network' },
    { ...common, name: '[sig-network] DNS should answer', group: 'network', again: true },
    { ...common, name: '[sig-apps] Daemon set should run', group: 'apps', passed: false, message: 'timed out' },
  ]);
});

test('the table has a row for each group: specifications, passed, of them at the second attempt, seconds', () => {
  expect(tableOf(verdictsOf(REPORT))).toBe(
    ['| sig-apps | 1 | 0 | 0 | 2 |', '| sig-network | 2 | 2 | 1 | 4 |', '| all | 3 | 2 | 1 | 6 |'].join('\n'),
  );
});
