import { expect, test } from 'vitest';
import type { CheckedFinding } from '../../src/engine/check.ts';
import { checkVerdict, failedText } from '../../src/report/findings.ts';

const finding = (severity: CheckedFinding['severity'], check: string, host?: string): CheckedFinding => ({
  severity,
  check,
  page: '',
  message: 'm',
  ...(host === undefined ? {} : { host }),
});

test('checks that failed are counted by check and host, and their findings beside them', () => {
  const bad = [finding('error', 'ports', 'w1'), finding('error', 'ports', 'w2'), finding('unknown', 'swap', 'w1')];
  expect(failedText(bad)).toBe('2 checks failed on w1, w2 (3 findings)');
  expect(failedText([finding('error', 'ports', 'w1')])).toBe('1 check failed on w1');
  expect(failedText([finding('error', 'machine-ids')])).toBe('1 check failed');
});

test('the verdict says whether up may start, and what else was found', () => {
  expect(checkVerdict(3, [])).toBe('✔ 3 hosts: nothing found');
  expect(checkVerdict(3, [finding('warning', 'swap', 'w1'), finding('due', 'sysctls', 'w1')])).toBe(
    '✔ 3 hosts: no check failed; 1 check with warnings on w1; 1 check that `kbuild up` mends',
  );
  expect(checkVerdict(3, [finding('error', 'ports', 'w1'), finding('warning', 'swap', 'w2')])).toBe(
    '✖ 1 check failed on w1; 1 check with warnings on w2',
  );
  expect(checkVerdict(1, [{ ...finding('warning', 'ports', 'w1'), ignored: true }])).toBe('✔ 1 host: nothing found');
});
